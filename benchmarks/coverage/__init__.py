"""Published mechanisms in the code that their authors would write, each with an independent reference."""
