"""Writes: the events of a statement as files, staged and then published."""
