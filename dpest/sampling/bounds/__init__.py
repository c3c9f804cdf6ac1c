"""What counts of events prove."""
