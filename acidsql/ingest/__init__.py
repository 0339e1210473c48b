"""The writer of streams: small transactions from Python, without Spark and Java."""
