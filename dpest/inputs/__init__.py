"""The inputs that are compared, and the check of a question before any work."""
