"""Errors of the operating system about files, as errors of acidsql."""

from __future__ import annotations

import errno
from typing import Final

from acidsql.errors import AcidSqlError, Condition

_FULL: Final = (errno.ENOSPC, errno.EDQUOT)


def storage_error(error: OSError) -> AcidSqlError:
    """DISK_FULL, or STORAGE_FAILED with the path and the system's reason."""
    place = error.filename2 or error.filename or "the file system"
    if error.errno in _FULL:
        return AcidSqlError(Condition.DISK_FULL, detail=f"{error.strerror}: {place}")
    return AcidSqlError(Condition.STORAGE_FAILED, path=place, reason=error.strerror or str(error))
