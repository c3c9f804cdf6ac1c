"""What the author of a mechanism writes with: random values, noise, functions on them, and what they are made of."""
