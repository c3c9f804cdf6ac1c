"""Lower bounds of the loss of any callable, with their confidence."""
