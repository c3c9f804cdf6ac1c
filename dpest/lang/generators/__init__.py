"""Stand-ins for the generators of NumPy and of the standard library."""
