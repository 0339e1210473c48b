"""File systems that this process reads and writes by itself, without a JVM.

Begin with `stores.Stores`, which finds the file system of a location or says why Hadoop's client has to read it
(`not_understood`). `object_store_files` is S3 by obstore, `hdfs_files` is HDFS by hdfs-native. `hadoop_settings`
collects what a user has set for Hadoop's client; `s3_settings` and `hdfs_settings` turn it into the options of a
library. The keys that they know are `Rules` (`setting_rules`), from which docs/operations/store-settings.md is made.
"""
