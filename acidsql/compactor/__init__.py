"""Compaction as a service: initiator, workers, cleaner and housekeeper.

Begin with `service`; `worker` runs one compaction, and `acidsql.engines.compaction_engines` reads and writes its files.
"""
