"""Searches the variant and the tunables that are fastest on a device, and keeps them as a profile."""
