"""A kernel rendered ahead of time, for hosts in other languages and for a browser."""
