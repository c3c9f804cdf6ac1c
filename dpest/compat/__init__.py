"""The functions of the older door, thin over the newer ones."""
