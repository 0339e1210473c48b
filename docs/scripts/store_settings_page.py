"""Writes docs/operations/store-settings.md from acidsql.storage.stores.

`python -m docs.scripts.store_settings_page`
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from acidsql.storage.stores.hdfs_rules import HDFS_RULES
from acidsql.storage.stores.s3_credentials import PROVIDERS
from acidsql.storage.stores.s3_rules import S3_RULES
from acidsql.storage.stores.setting_rules import Refusal, Rules

PAGE: Final = Path(__file__).parents[1] / "operations" / "store-settings.md"

_INTRODUCTION: Final = """# Settings of stores

<!-- Generated from acidsql/storage/stores by `make docs-pages`: do not edit. -->

acidsql reads and writes S3 by obstore and HDFS by hdfs-native, [in its own process](storage.md). Both get their
configuration from the settings of Hadoop's client. If a setting asks for something that they cannot do, acidsql leaves
the store to Hadoop's client, and EXPLAIN and the log name the setting. Other stores, such as those of Google and Azure,
are always left to Hadoop's client.

## Where settings come from

While Spark runs, its settings count. Without Spark, acidsql collects those that Spark would have. The first of these
that has a key wins:

1. `spark.hadoop.*` in `connect(conf=..)` or `--conf`
2. `spark.hadoop.*` in `spark-defaults.conf` of `$SPARK_CONF_DIR`, or of `$SPARK_HOME/conf`
3. for S3, `AWS_ACCESS_KEY_ID` with `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, and `AWS_ENDPOINT_URL`: Spark makes
   `fs.s3a.access.key`, `fs.s3a.secret.key`, `fs.s3a.session.token` and `fs.s3a.endpoint` of them
4. `hdfs-site.xml` and `core-site.xml` of `$HADOOP_CONF_DIR`. A property of `core-site.xml` that is final stays

`${other.property}`, `${env.NAME}`, `${env.NAME-otherwise}`, `${user.name}`, `${user.home}` and `${java.io.tmpdir}` are
replaced in values. A file that includes others (`xi:include`) is not read, and then Hadoop's client is used.

In the tables a name that ends with `.` stands for all names that begin with it.
"""

_S3: Final = """A setting of one bucket, `fs.s3a.bucket.BUCKET.*`, wins over the same setting without `bucket.BUCKET`.
The scheme `s3` is S3A's only with `fs.s3.impl=org.apache.hadoop.fs.s3a.S3AFileSystem`. Directory buckets (S3 Express
One Zone) are left to Hadoop's client. Any other setting `fs.s3a.*` is not understood."""
_HDFS: Final = "All other settings have no effect: they are those of servers and of other programs."

_PROVIDERS: Final = """### Credentials of S3

Without `fs.s3a.aws.credentials.provider`, the first of these that there is gives the credentials: keys in the settings,
keys in the environment, a web identity, a profile, the role of the container, the role of the machine. S3A itself has
no web identity and no profiles among its defaults.

A profile with `credential_process`, `credential_source`, `role_arn`, `source_profile`, `sso_*` or
`web_identity_token_file` needs boto3, and so does an assumed role: `pip install boto3`.
"""

_CONTAINER_FILE: Final = "`AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE`"
_SOURCES: Final = {
    "TEMPORARY": "`fs.s3a.access.key`, `.secret.key` and `.session.token`",
    "SIMPLE": "`fs.s3a.access.key` and `.secret.key`",
    "ENVIRONMENT": "`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`",
    "ANONYMOUS": "nothing: requests are not signed",
    "WEB_IDENTITY": "`AWS_WEB_IDENTITY_TOKEN_FILE`, `AWS_ROLE_ARN`, `AWS_ROLE_SESSION_NAME`",
    "PROFILE": "the profile `AWS_PROFILE`, or `default`, in `~/.aws/credentials` and `~/.aws/config`",
    "CREDENTIALS_FILE": "the profile `fs.s3a.auth.profile.name` in `fs.s3a.auth.profile.file`",
    "CONTAINER": f"`AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`; or `.._FULL_URI` with {_CONTAINER_FILE}",
    "INSTANCE": "the metadata of the machine, unless `AWS_EC2_METADATA_DISABLED` is `true`",
    "ASSUMED_ROLE": "`fs.s3a.assumed.role.*`",
}

_HADOOP: Final = "Hadoop's client is used"
_UNLESS: Final = f"{_HADOOP}, unless a setting says the same"
_ENVIRONMENT: Final = {
    "HADOOP_CONF_DIR SPARK_CONF_DIR SPARK_HOME": "files of settings, see above",
    "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN": "credentials, for the providers that look at them",
    "AWS_ENDPOINT_URL_S3 AWS_ENDPOINT_URL": "the endpoint, if `fs.s3a.endpoint` is not set",
    "AWS_REGION AWS_DEFAULT_REGION": "the region, if neither a setting nor Amazon S3 tells it; then the profile's",
    "AWS_PROFILE AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE HOME": "profiles of AWS",
    "AWS_WEB_IDENTITY_TOKEN_FILE AWS_ROLE_ARN AWS_ROLE_SESSION_NAME": "a web identity",
    "AWS_ENDPOINT_URL_STS": "the endpoint of STS for a web identity",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_CONTAINER_CREDENTIALS_FULL_URI": "the role of the container",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": "the role of the container",
    "AWS_EC2_METADATA_DISABLED AWS_EC2_METADATA_V1_DISABLED": "the role of the machine",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT": "the role of the machine",
    "AWS_SERVER_SIDE_ENCRYPTION AWS_SSE_* AWS_CHECKSUM_ALGORITHM AWS_COPY_IF_NOT_EXISTS": _UNLESS,
    "AWS_*": "nothing, if it is another one that obstore reads: the settings decide",
    "HADOOP_USER_NAME HADOOP_TOKEN_FILE_LOCATION KRB5CCNAME": "user, tokens and tickets of HDFS, as in Hadoop's client",
    "HADOOP_PROXY_USER": f"the user of HDFS with Kerberos; without Kerberos, {_HADOOP}",
}


def page() -> str:
    """The whole page."""
    providers = {name: "; ".join(_SOURCES[source.name] for source in PROVIDERS[name]) for name in PROVIDERS}
    variables = {"`, `".join(names.split()): meaning for names, meaning in _ENVIRONMENT.items()}
    parts = [
        _INTRODUCTION,
        _section("S3", _S3, S3_RULES),
        _PROVIDERS,
        "\n".join(_table("Provider", "Looks at", providers)),
        "",
        _section("HDFS", _HDFS, HDFS_RULES),
        "## Environment\n",
        *_table("Variable", "What becomes of it", variables),
        "",
    ]
    return "\n".join(parts)


def _section(name: str, text: str, rules: Rules) -> str:
    refused = {key: _refusal(refusal) for key, refusal in rules.refused.items()}
    tables = [
        *_table("Setting", "What it becomes", rules.obeyed),
        "",
        "acidsql leaves the store to Hadoop's client if one of these is set:",
        "",
        *_table("Setting", "acidsql's own client", refused),
    ]
    if rules.ignored:
        tables += ["", "These settings have no effect:", "", *_table("Setting", "What it is about", rules.ignored)]
    return "\n".join([f"## {name}\n", f"{text}\n", *tables, ""])


def _table(first: str, second: str, rows: Mapping[str, str]) -> list[str]:
    return [f"| {first} | {second} |", "|---|---|", *(f"| `{key}` | {value} |" for key, value in rows.items())]


def _refusal(refusal: Refusal) -> str:
    harmless = ", ".join(f"`{value}`" for value in sorted(refusal.harmless) if value)
    return refusal.meaning + (f" (unless it is {harmless})" if harmless else "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
