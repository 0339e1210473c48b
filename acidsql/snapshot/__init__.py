"""What a statement reads: its read view, and the directories and files that this view selects."""
