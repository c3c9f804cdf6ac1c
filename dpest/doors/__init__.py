"""The doors: one module for each question that a caller can ask."""
