"""Compaction as a service: who asks for it, who does it, who removes what it made obsolete."""
