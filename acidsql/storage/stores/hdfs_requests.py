"""Requests to HDFS by the library hdfs-native: their errors as OSErrors, and which of them are repeated.

The library raises OSErrors without a number for lost connections, FileNotFoundError, FileExistsError, and RuntimeErrors
for all else. Their text is an error of Rust, as `RPCError("<class of Java>", "<message, then the stack of Java>")`. The
library itself repeats a request where no name node could be reached, `dfs.client.failover.max.attempts` times, and a
reading request whose answer was lost.
"""

from __future__ import annotations

import errno
import math
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")

_REMOTE: Final = re.compile(r'^(?:Fatal)?RPCError\("(?P<kind>[^"]*)", "(?P<message>.*)"\)$', re.DOTALL)
_OF_RUST: Final = re.compile(r'^(?P<kind>\w+)\("(?P<message>.*)"\)$', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(?:u\{([0-9a-f]+)\}|(.))")
_CONTROL: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_STACK: Final = "\n\tat "
_NUMBER: Final = re.compile(r"^(?P<message>.*) \(os error (?P<number>\d+)\)$")
_NUMBERS: Final = {
    "AccessControlException": errno.EACCES,
    "DSQuotaExceededException": errno.EDQUOT,
    "InvalidPathException": errno.EINVAL,
    "NSQuotaExceededException": errno.EDQUOT,
    "ParentNotDirectoryException": errno.ENOTDIR,
    "PathIsNotEmptyDirectoryException": errno.ENOTEMPTY,
    "QuotaByStorageTypeExceededException": errno.EDQUOT,
    "UnsupportedFeature": errno.ENOTSUP,
}
"""Numbers of errors, by the class of Java or by the name in Rust."""
_NO_DIRECTORY: Final = "(is not a directory)"
_CONNECT_SECONDS: Final = 2.0
_STARTING: Final = "org.apache.hadoop.ipc.RetriableException"
_SAFE_MODE: Final = "org.apache.hadoop.hdfs.server.namenode.SafeModeException"
_STAYS: Final = ("turned on manually", "low on resources")
"""Texts of a safe mode that the name node does not leave by itself."""
_NO_NODES: Final = "could only be written to 0 of the "
_WAIT_FOR_NODES: Final = 10.0
"""Seconds. That no data node takes a block may also be because all are full."""
_PANICS: Final = "pyo3_runtime"
"""The module of PanicException, which cannot be imported and is no Exception. The library raises it for what it takes
for impossible, as an append to a block that no data node has reported."""
_NOT_SENT: Final = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)
_REPEATS: Final = 5
_PAUSE: Final = 0.5


class LostAnswerError(OSError):
    """The connection to the name node or to a data node was lost: nobody knows whether the request was carried out."""


def ask(path: str, request: Callable[[], T], patience: float, *, repeats: bool = False) -> T:
    """The answer to a request that concerns a path.

    Waits up to `patience` seconds for an HDFS that has just been started: it refuses requests, and carries none of them
    out. Repeats a request whose answer was lost if it may be carried out twice. Raises OSErrors only,
    LostAnswerError among them.
    """
    begin = time.monotonic()
    lost = 0
    while True:
        try:
            with os_errors(path):
                return request()
        except LostAnswerError:
            lost += 1
            if not repeats or lost == _REPEATS:
                raise
            time.sleep(_PAUSE * lost)
        except OSError as error:
            if time.monotonic() + _PAUSE > begin + min(patience, _wait(error.__cause__)):
                raise
            time.sleep(_PAUSE)


@contextmanager
def os_errors(path: str) -> Iterator[None]:
    """Raises the errors of the library as OSErrors about the path, each with a number."""
    try:
        yield
    except OSError as error:
        raise _of_system(error, path) from error
    except RuntimeError as error:  # NotImplementedError among them
        raise _of_library(str(error), path) from error
    except BaseException as error:
        if type(error).__module__ != _PANICS:
            raise
        raise OSError(errno.EIO, f"the library hdfs-native has failed: {error}", path) from error


def _of_system(error: OSError, path: str) -> OSError:
    if error.errno is not None:  # Python's own
        return error
    message = str(error).partition(_STACK)[0]
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if isinstance(error, FileExistsError):
        return FileExistsError(errno.EEXIST, message, path)
    if isinstance(error, IsADirectoryError):
        return IsADirectoryError(errno.EISDIR, message, path)
    found = _NUMBER.match(message)
    number = int(found["number"]) if found else errno.EIO
    text = f"HDFS cannot be reached: {found['message'] if found else message}"
    return OSError(number, text, path) if number in _NOT_SENT else LostAnswerError(number, text, path)


def _of_library(text: str, path: str) -> OSError:
    kind, message = _parts(text)
    if message.rstrip().endswith(_NO_DIRECTORY):  # getListing says AccessControlException
        return NotADirectoryError(errno.ENOTDIR, message, path)
    number = _NUMBERS.get(kind.rpartition(".")[2], errno.EIO)
    return OSError(number, message or kind, path)  # the class of OSError follows from the number


def _parts(text: str) -> tuple[str, str]:
    """The class or name of an error of Rust, and its message without the stack of Java.

    >>> _parts('RPCError("java.io.IOException", "No \\\\"x\\\\"\\\\n\\\\tat org.apache.X.y(X.java:1)")')
    ('java.io.IOException', 'No "x"')
    >>> _parts("ChecksumError")
    ('ChecksumError', 'ChecksumError')
    """
    found = _REMOTE.match(text) or _OF_RUST.match(text)
    if found is None:
        return text, text
    return found["kind"], _ESCAPED.sub(_unescaped, found["message"]).partition(_STACK)[0]


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _CONTROL.get(found[2], found[2])


def _wait(cause: BaseException | None) -> float:
    """How many seconds a request may be repeated that HDFS has refused."""
    kind, message = _parts(str(cause))
    if kind == _STARTING:
        return math.inf
    if kind == _SAFE_MODE:
        return 0 if any(text in message for text in _STAYS) else math.inf
    return _WAIT_FOR_NODES if _NO_NODES in message else 0


def is_open(root: str) -> bool:
    """Whether a name node takes connections. That of a name service, which has no port, is taken to do so.

    >>> is_open("hdfs://127.0.0.1:1"), is_open("hdfs://service")
    (False, True)
    """
    address = urlsplit(root)
    if address.port is None:
        return True
    try:
        socket.create_connection((address.hostname, address.port), _CONNECT_SECONDS).close()
    except OSError:
        return False
    return True
