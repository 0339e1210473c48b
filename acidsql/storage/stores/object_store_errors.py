"""The errors of obstore as those of files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES, EIO, ENOENT

from obstore.exceptions import BaseError, PermissionDeniedError, PreconditionError, UnauthenticatedError


@contextmanager
def os_errors(path: str) -> Iterator[None]:
    """Raises an OSError with the path for an error of obstore, which has the store's own error as its cause."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(ENOENT, os.strerror(ENOENT), path) from error
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise PermissionError(EACCES, _first_line(error), path) from error
    except PreconditionError as error:
        raise OSError(EIO, "it is another object than the one that was listed", path) from error
    except (BaseError, ValueError) as error:
        raise OSError(EIO, _first_line(error), path) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
