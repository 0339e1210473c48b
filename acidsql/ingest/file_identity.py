"""Which file a file is: its inode, with its device and the time of its birth where the system tells one.

A name is no identity, because another file may take it. An inode number alone is none either: a file system gives the
number of a removed file to the next one, and only the time of birth tells the two apart.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any, Final

_CURRENT_DIRECTORY: Final = -100
_EMPTY_PATH: Final = 0x1000
_BASIC_AND_BIRTH: Final = 0xFFF
_BIRTH: Final = 0x800


class _Time(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_uint32), ("reserved", ctypes.c_int32))


class _Statx(ctypes.Structure):
    """`struct statx` of Linux (statx(2)), up to the device."""

    _fields_ = (
        ("mask", ctypes.c_uint32),
        ("block_size", ctypes.c_uint32),
        ("attributes", ctypes.c_uint64),
        ("links", ctypes.c_uint32),
        ("user", ctypes.c_uint32),
        ("group", ctypes.c_uint32),
        ("mode", ctypes.c_uint16),
        ("padding", ctypes.c_uint16),
        ("inode", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64),
        ("known_attributes", ctypes.c_uint64),
        ("accessed", _Time),
        ("born", _Time),
        ("changed", _Time),
        ("modified", _Time),
        ("special_major", ctypes.c_uint32),
        ("special_minor", ctypes.c_uint32),
        ("device_major", ctypes.c_uint32),
        ("device_minor", ctypes.c_uint32),
        ("rest", ctypes.c_uint64 * 14),
    )


def file_identity(file: str | int) -> str:
    """`device:inode`, and `:nanoseconds` of the file's birth where the system tells it, of a path or a descriptor.

    Raises OSError, for example where the path is no file.
    """
    status = os.stat(file)
    born = getattr(status, "st_birthtime", None)
    if born is not None:
        return f"{status.st_dev}:{status.st_ino}:{int(born * 1e9)}"
    found = _statx(file)
    if found is None or not found.mask & _BIRTH:
        return f"{status.st_dev}:{status.st_ino}"
    device = os.makedev(found.device_major, found.device_minor)
    return f"{device}:{found.inode}:{found.born.seconds * 1_000_000_000 + found.born.nanoseconds}"


def is_same_file(one: str, other: str) -> bool:
    """Whether two identities are those of one file.

    The device decides only where a time of birth is missing, as in the places of earlier versions: many devices get
    another number when the machine starts or the file system is mounted again.
    """
    if not one or not other:
        return False
    device, inode, born = _parts(one)
    other_device, other_inode, other_born = _parts(other)
    return inode == other_inode and (born == other_born if born and other_born else device == other_device)


def born_at(identity: str) -> int | None:
    """The time of the file's birth in nanoseconds; None where the system does not tell it."""
    born = _parts(identity)[2]
    return int(born) if born else None


def differs_by_device_only(one: str, other: str) -> bool:
    """Whether the identities may be those of one file whose device has another number now, which nothing can tell."""
    device, inode, born = _parts(one)
    other_device, other_inode, other_born = _parts(other)
    return bool(inode) and inode == other_inode and device != other_device and not (born and other_born)


def _parts(identity: str) -> tuple[str, str, str]:
    device, _, rest = identity.partition(":")
    inode, _, born = rest.partition(":")
    return device, inode, born


def _statx(file: str | int) -> _Statx | None:
    call = _statx_call()
    if call is None:
        return None
    found = _Statx()
    if isinstance(file, int):
        failed = call(file, b"", _EMPTY_PATH, _BASIC_AND_BIRTH, ctypes.byref(found))
    else:
        failed = call(_CURRENT_DIRECTORY, os.fsencode(file), 0, _BASIC_AND_BIRTH, ctypes.byref(found))
    return None if failed else found


@cache
def _statx_call() -> Any:  # a function of the C library
    """The C library's `statx`; None where it has none: Python has no such call before 3.15."""
    if not sys.platform.startswith("linux"):
        return None
    call = getattr(ctypes.CDLL(None), "statx", None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Statx))
        call.restype = ctypes.c_int
    return call
