"""Privacy loss distributions and their composition: numbers only, nothing about programs."""
