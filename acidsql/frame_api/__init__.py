"""Statements as methods of a session, with frames: `frame_statements` is the base of `Session`, `merge_builder` builds
MERGE, `given_frames` checks what a caller gives against the columns of a table.

Begin with `frame_statements`. Each method becomes a statement that the dispatch runs as any other.
"""
