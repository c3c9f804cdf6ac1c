"""Generators of NumPy and the standard library, stood in for while a mechanism is traced: their methods make draws."""
