"""A bucket of S3 as a file system, made of its options."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final, cast
from urllib.parse import urlsplit

from acidsql.storage.file_systems import FileSystem
from acidsql.storage.stores.object_store_files import ObjectStoreFiles
from acidsql.storage.stores.s3_credential_providers import credential_provider
from acidsql.storage.stores.s3_credentials import Anonymous
from acidsql.storage.stores.s3_settings import S3Options

_REGION: Final = "x-amz-bucket-region"
_SECONDS: Final = 10
_FIRST_WAIT: Final = timedelta(milliseconds=100)


def s3_files(options: S3Options, root: str, hadoop: Callable[[], FileSystem], *, has_trash: bool) -> ObjectStoreFiles:
    """The files of a bucket. `root` is the scheme and the bucket, `hadoop` gives the files of Hadoop's client.

    Asks S3 for the region of the bucket if no setting tells it.
    """
    from obstore.store import S3Store

    if options.asks_region:
        options = options.in_region(_region_of(options) or options.endpoint.region)
    retries: dict[str, Any] = {"backoff": {"init_backoff": options.retries.first_wait or _FIRST_WAIT}}
    if options.retries.limit is not None:
        retries["max_retries"] = options.retries.limit
    store = S3Store(
        options.bucket,
        config=cast(Any, dict(options.config)),
        client_options=cast(Any, dict(options.client_options)),
        retry_config=cast(Any, retries),
        credential_provider=cast(Any, credential_provider(options.credentials)),
    )
    return ObjectStoreFiles(store, root, hadoop, lambda key: _delete_markers(options, key), has_trash=has_trash)


def _region_of(options: S3Options) -> str | None:
    """S3 tells the region of a bucket to anybody, also beside an error."""
    request = urllib.request.Request(f"https://s3.amazonaws.com/{options.bucket}", method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
            return cast("str | None", answer.headers.get(_REGION))
    except urllib.error.HTTPError as error:
        return error.headers.get(_REGION)
    except OSError:
        return None


def _delete_markers(options: S3Options, key: str) -> None:
    """Removes a directory with its markers by pyarrow, because obstore cannot name a key that ends with `/`."""
    from pyarrow.fs import S3FileSystem

    given: dict[str, Any] = {"region": options.endpoint.region}
    provider = credential_provider(options.credentials)
    if provider is not None:
        keys = provider()
        given |= {"access_key": keys["access_key_id"], "secret_key": keys["secret_access_key"]}
        given["session_token"] = keys["token"] or ""
    elif isinstance(options.credentials, Anonymous):
        given["anonymous"] = True
    if options.endpoint.address is not None:
        address = urlsplit(options.endpoint.address)
        given |= {"endpoint_override": address.netloc, "scheme": address.scheme}
        given["force_virtual_addressing"] = not options.endpoint.path_style and options.endpoint.bucket_host(
            options.bucket
        )
    with suppress(FileNotFoundError):
        S3FileSystem(**given).delete_dir(f"{options.bucket}/{key}")
