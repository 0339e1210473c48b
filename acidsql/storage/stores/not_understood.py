"""Why acidsql's own clients cannot take over a store from Hadoop's client."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """The settings of a store ask for something that acidsql's own client does not do.

    `reason` is a clause to be put behind "Hadoop's client reads s3a://b because". It names keys, classes and
    algorithms, and never the value of a secret.
    """

    reason: str


def unknown_setting(key: str, why: str = "which acidsql's own client does not know") -> NotUnderstood:
    """A setting that nobody but Hadoop's client obeys.

    >>> unknown_setting("fs.s3a.acl.default").reason
    "the setting fs.s3a.acl.default is set, which acidsql's own client does not know"
    """
    return NotUnderstood(f"the setting {key} is set, {why}")
