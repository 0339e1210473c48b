"""Every name of Spark outside its public API: JVM classes, attributes of PySpark's objects, and names of plan nodes.

No other module of acidsql uses such a name (tests/spark/test_private_names.py). `names` lists the JVM classes and their
members, `shims` holds what differs between Spark's minor versions, and `gateway` opens the JVM and checks both once.
"""
