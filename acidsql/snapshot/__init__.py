"""What a statement reads: its read view, the directories and files that it selects, and the read transactions that
keep them. Begin with `statement_snapshots`; `delete_applicability` says which delete event meets which row."""
