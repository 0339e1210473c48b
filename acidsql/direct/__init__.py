"""DML statements that this process runs itself, with pyarrow: small ones that would wait for Spark in vain."""
