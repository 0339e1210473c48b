"""File systems and file formats, without knowledge of statements.

Begin with `file_systems`, the protocol of a local disk, Hadoop and S3. `leftovers` removes what dead writers left,
`file_identity` tells whether a path still names the same file, `orc` reads and rewrites ORC.
"""
