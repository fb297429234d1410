"""A spread of requests and devices, made up from the contract alone: few, different, and the same every time."""
