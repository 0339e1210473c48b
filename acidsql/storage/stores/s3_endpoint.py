"""Where a bucket is: endpoint and region, as S3A finds them (DefaultS3ClientFactory of Hadoop 3.5.0)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from acidsql.storage.stores.aws_profiles import profile
from acidsql.storage.stores.not_understood import NotUnderstood
from acidsql.storage.stores.setting_values import address as parts_of
from acidsql.storage.stores.setting_values import boolean

_CENTRAL: Final = "s3.amazonaws.com"
"""An endpoint that ends with this is that of no region, and S3A lets AWS's client find the region of the bucket."""
_DEFAULT_REGION: Final = "us-east-2"
_OF_VPC: Final = re.compile(r"(?:.+\.)?([a-z0-9-]+)\.vpce\.amazonaws\.com(?:\.cn)?")
_OF_AMAZON: Final = re.compile(
    r"(?:.+\.)?s3(?:-fips)?[.-](?:dualstack\.)?([a-z]{2,}(?:-[a-z]+)+-\d+)\.amazonaws\.com(?:\.cn)?"
)
_DOMAINS: Final = {
    "cn-": "amazonaws.com.cn",
    "us-iso-": "c2s.ic.gov",
    "us-isob-": "sc2s.sgov.gov",
    "eusc-": "amazonaws.eu",
}
"""Domains of regions outside amazonaws.com, by the beginning of the region (partitions.json of AWS's client)."""
_HOST_LABEL: Final = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_HOST_LABELS: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a bucket is."""

    address: str | None
    """The service's address without the bucket; None for Amazon's, which the region tells."""
    region: str
    path_style: bool
    fips: bool
    asks_region: bool
    """No setting tells the region of a bucket of Amazon: S3 can be asked for it, and `region` is a guess."""

    @property
    def is_plain_http(self) -> bool:
        return self.address is not None and self.address.startswith("http://")

    def bucket_host(self, bucket: str) -> bool:
        """Whether the bucket's name belongs into the name of the host, as `aws.isVirtualHostableS3Bucket` says."""
        names = _HOST_LABELS if self.is_plain_http else _HOST_LABEL
        return not self.path_style and names.fullmatch(bucket) is not None and not _is_number(self._address)

    def url(self, bucket: str) -> str:
        """The address as obstore takes it: with the bucket if that belongs into the name of the host."""
        if not self.bucket_host(bucket):
            return self._address
        scheme, _, rest = self._address.partition("://")
        return f"{scheme}://{bucket}.{rest}"

    @property
    def _address(self) -> str:
        domain = next((_DOMAINS[start] for start in _DOMAINS if self.region.startswith(start)), "amazonaws.com")
        return self.address or f"https://s3{'-fips' if self.fips else ''}.{self.region}.{domain}"


def endpoint_of(settings: Mapping[str, str], environment: Mapping[str, str]) -> Endpoint | NotUnderstood:
    """The endpoint of a bucket, whose settings are given."""
    given = _given(settings, environment)
    fips = boolean(settings, "fs.s3a.endpoint.fips", default=False)
    address = None if given is None or given.endswith(_CENTRAL) else _with_scheme(given, settings)
    if address is not None and not parts_of(address).hostname:
        return NotUnderstood("the setting fs.s3a.endpoint is no address")
    if fips and address is not None:
        return NotUnderstood("the setting fs.s3a.endpoint.fips is true beside an endpoint, which S3A refuses")
    chosen = settings.get("fs.s3a.endpoint.region") or (address and _region_in(address))
    guess = _of_surroundings(environment)
    if isinstance(guess, NotUnderstood):
        return guess
    return Endpoint(
        address=address,
        region=chosen or guess or _DEFAULT_REGION,
        path_style=boolean(settings, "fs.s3a.path.style.access", default=False),
        fips=fips,
        asks_region=not chosen and address is None,
    )


def _given(settings: Mapping[str, str], environment: Mapping[str, str]) -> str | None:
    """AWS's client takes the variables where S3A sets no endpoint."""
    named = (environment.get("AWS_ENDPOINT_URL_S3"), environment.get("AWS_ENDPOINT_URL"))
    return (settings.get("fs.s3a.endpoint") or next(filter(None, named), "")).rstrip("/") or None


def _with_scheme(endpoint: str, settings: Mapping[str, str]) -> str:
    if "://" in endpoint:
        return endpoint
    secure = boolean(settings, "fs.s3a.connection.ssl.enabled", default=True)
    return f"{'https' if secure else 'http'}://{endpoint}"


def _region_in(address: str) -> str | None:
    host = parts_of(address).hostname or ""
    found = _OF_VPC.fullmatch(host) or _OF_AMAZON.fullmatch(host)
    return found[1] if found else None


def _of_surroundings(environment: Mapping[str, str]) -> str | NotUnderstood | None:
    named = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if named:
        return named
    found = profile(environment)
    return found if isinstance(found, NotUnderstood) else found.entry("region")


def _is_number(address: str) -> bool:
    """Whether the host is an IP address, before which there can be no name of a bucket."""
    try:
        ipaddress.ip_address(parts_of(address).hostname or "")
    except ValueError:
        return False
    return True
