"""The settings of Hadoop's client, as configurations of libraries that reach S3, GCS, Azure and HDFS without a JVM.

Begin with `hadoop_settings`, which collects what a user has set. `s3_settings`, `gcs_settings`, `azure_settings` and
`hdfs_settings` turn these settings into the options of one library, or say why they cannot (`not_understood`). Each of
them lists the keys that it knows as a `Rules` (`setting_rules`), from which docs/operations/store-settings.md is made.
"""
