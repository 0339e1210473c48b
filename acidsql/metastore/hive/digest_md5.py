"""The SASL mechanism DIGEST-MD5 (RFC 2831), by which Hadoop's services take delegation tokens: a name and a secret.

This is code of our own because pure-sasl's DIGEST-MD5 signs no messages, and Python's hashlib has all that it takes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import struct
from typing import Final

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive.service_uri import Address

_URI: Final = "null/default"
"""Hadoop names neither protocol nor host of the service (HadoopThriftAuthBridge.createClientTransport)."""
_PAIR: Final = re.compile(r'([\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))')
_ALONE: Final = "auth"
_SIGNED: Final = "auth-int"
_SIGNATURE: Final = 10
"""Bytes of a message's signature; four of its number and two of its type follow."""
_TYPE: Final = b"\0\1"
_TO_SERVER: Final = b"Digest session key to client-to-server signing key magic constant"
_TO_CLIENT: Final = b"Digest session key to server-to-client signing key magic constant"


class DigestMd5:
    """A mechanism of SaslTransport for one connection. `name` of the user and the secret are those of a token, as
    text."""

    name: Final = "DIGEST-MD5"

    def __init__(self, address: Address, user: str, secret: str) -> None:
        self.is_complete = False
        self._address = address
        self._name = user
        self._secret = secret
        self._expected = ""
        self._key = b""
        self._is_signed = False
        self._sent = 0
        self._received = 0

    def first(self) -> bytes:
        return b""

    def respond(self, challenge: bytes) -> bytes:
        given = _pairs(challenge)
        if self._expected:
            return self._believe(given)
        return self._answer(given, secrets.token_urlsafe(24))

    def _answer(self, given: dict[str, str], client_nonce: str) -> bytes:
        offered = given.get("qop", _ALONE).replace(" ", "").split(",")
        protection = next((one for one in (_SIGNED, _ALONE) if one in offered), None)
        if protection is None or given.get("algorithm") != "md5-sess" or "nonce" not in given:
            reason = f"it takes a delegation token with {', '.join(offered)} only (hadoop.rpc.protection)"
            hint = f"acidsql signs messages ({_SIGNED}), and encrypts them with a ticket of Kerberos or by tls=true."
            raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=self._address, reason=reason, hint=hint)
        self._is_signed = protection == _SIGNED
        realm, nonce = given.get("realm", ""), given["nonce"]
        self._key = _session_key(self._name, realm, self._secret, nonce, client_nonce)
        exchange = f"{nonce}:00000001:{client_nonce}:{protection}"
        self._expected = self._proof(exchange, "")
        pairs = {
            "charset": "utf-8",
            "username": _quoted(self._name),
            "realm": _quoted(realm),
            "nonce": _quoted(nonce),
            "nc": "00000001",
            "cnonce": _quoted(client_nonce),
            "digest-uri": _quoted(_URI),
            "qop": protection,
            "response": self._proof(exchange, "AUTHENTICATE"),
        }
        return ",".join(f"{name}={value}" for name, value in pairs.items()).encode()

    def _proof(self, exchange: str, method: str) -> str:
        body = f":{'0' * 32}" if self._is_signed else ""
        what = hashlib.md5(f"{method}:{_URI}{body}".encode()).hexdigest()
        return hashlib.md5(f"{self._key.hex()}:{exchange}:{what}".encode()).hexdigest()

    def _believe(self, given: dict[str, str]) -> bytes:
        if not hmac.compare_digest(given.get("rspauth", ""), self._expected):
            reason = "it does not know the secret of the delegation token, so it is not the metastore that gave it"
            raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=self._address, reason=reason)
        self.is_complete = True
        return b""

    def most_bytes(self) -> int | None:
        return None if not self._is_signed else _MOST_SIGNED

    def wrap(self, data: bytes) -> bytes:
        if not self._is_signed:
            return data
        signature, number = self._signature(_TO_SERVER, self._sent, data), struct.pack(">I", self._sent)
        self._sent += 1
        return data + signature + _TYPE + number

    def unwrap(self, data: bytes) -> bytes:
        if not self._is_signed:
            return data
        end = len(data) - _SIGNATURE - len(_TYPE) - 4
        message = data[: max(end, 0)]
        expected = self._signature(_TO_CLIENT, self._received, message) + _TYPE + struct.pack(">I", self._received)
        if end < 0 or not hmac.compare_digest(data[end:], expected):
            raise OSError("a message of the metastore is not as it sent it")
        self._received += 1
        return message

    def _signature(self, constant: bytes, number: int, message: bytes) -> bytes:
        key = hashlib.md5(self._key + constant).digest()
        return hmac.digest(key, struct.pack(">I", number) + message, "md5")[:_SIGNATURE]


_MOST_SIGNED: Final = 65536 - _SIGNATURE - len(_TYPE) - 4
"""The longest signed message of the protocol (maxbuf), if nothing else is agreed."""


def _session_key(user: str, realm: str, secret: str, nonce: str, client_nonce: str) -> bytes:
    """H(A1)."""
    given = hashlib.md5(f"{user}:{realm}:{secret}".encode()).digest()
    return hashlib.md5(given + f":{nonce}:{client_nonce}".encode()).digest()


def _pairs(text: bytes) -> dict[str, str]:
    """The names and values of a message.

    >>> _pairs(b'realm="default",qop="auth",maxbuf=65536')
    {'realm': 'default', 'qop': 'auth', 'maxbuf': '65536'}
    """
    found = _PAIR.findall(text.decode("utf-8", errors="replace"))
    return {name: re.sub(r"\\(.)", r"\1", quoted) or plain for name, quoted, plain in found}


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
