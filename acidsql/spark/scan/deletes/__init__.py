"""Which rows of a scan are deleted, and how a scan leaves them out. Begin with `delete_events`."""
