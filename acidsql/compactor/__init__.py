"""Compaction as a service: initiator, workers, cleaner and housekeeper."""
