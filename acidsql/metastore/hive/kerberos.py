"""The SASL mechanism GSSAPI (RFC 4752): Kerberos, by the system's library, which the package gssapi calls.

Tickets come from the cache that the environment names ($KRB5CCNAME), or are got with the keys of a keytab.
"""

from __future__ import annotations

from contextlib import suppress
from enum import IntFlag
from pathlib import Path
from typing import Any, Final

import gssapi
from gssapi.raw.misc import GSSError

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive.service_uri import Address, Place

_HOST: Final = "_HOST"
"""Stands for the metastore's host in its principal (SecurityUtil.getServerPrincipal)."""
_MOST_TO_RECEIVE: Final = 0xFFFFFF
_FLAGS: Final = (
    gssapi.RequirementFlag.mutual_authentication
    | gssapi.RequirementFlag.integrity
    | gssapi.RequirementFlag.confidentiality
    | gssapi.RequirementFlag.replay_detection
    | gssapi.RequirementFlag.out_of_sequence_detection
)


class _Layer(IntFlag):
    """What is done with the messages after the authentication (hadoop.rpc.protection)."""

    NONE = 1
    SIGNED = 2
    ENCRYPTED = 4


class Kerberos:
    """A mechanism of SaslTransport for one connection to `place`.

    Raises METASTORE_UNAVAILABLE where there is no ticket, or none for the metastore.
    """

    name: Final = "GSSAPI"

    def __init__(self, address: Address, place: Place) -> None:
        self._address = address
        self.is_complete = False
        self._layer = _Layer.NONE
        self._most: int | None = None
        self._principal = (address.principal or "").replace(_HOST, place.host.lower())
        try:
            service = gssapi.Name(self._principal, gssapi.NameType.kerberos_principal)
            credentials = _credentials(address)
            self.user = str(credentials.name)
            self._context: Any = gssapi.SecurityContext(
                name=service,
                creds=credentials,
                flags=_FLAGS,
                mech=gssapi.MechType.kerberos,
                usage="initiate",
            )
        except GSSError as error:
            raise self._refused(error) from error

    def first(self) -> bytes:
        return self._step(None)

    def respond(self, challenge: bytes) -> bytes:
        if not self._context.complete:
            return self._step(challenge)
        try:
            return self._agree(self._context.unwrap(challenge).message)
        except GSSError as error:
            raise self._refused(error) from error

    def _step(self, challenge: bytes | None) -> bytes:
        try:
            return self._context.step(challenge) or b""
        except GSSError as error:
            raise self._refused(error) from error

    def _agree(self, offered: bytes) -> bytes:
        """Chooses the best protection that the metastore offers (RFC 4752, 3.1): a byte of its layers, and three of the
        longest message that it takes."""
        if len(offered) != 4:
            reason = "its offer of layers of protection has not four bytes"
            raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=self._address, reason=reason)
        layers, most = _Layer(offered[0] & 7), int.from_bytes(offered[1:], "big")
        self._layer = max(layer for layer in _Layer if layer in layers or layer is _Layer.NONE)
        signed = self._layer is not _Layer.NONE
        if signed and most:
            self._most = self._context.get_wrap_size_limit(most, self._layer is _Layer.ENCRYPTED)
        answer = bytes([self._layer]) + (_MOST_TO_RECEIVE if signed else 0).to_bytes(3, "big")
        self.is_complete = True
        return bytes(self._context.wrap(answer, False).message)

    def most_bytes(self) -> int | None:
        return self._most

    def wrap(self, data: bytes) -> bytes:
        if self._layer is _Layer.NONE:
            return data
        return bytes(self._context.wrap(data, self._layer is _Layer.ENCRYPTED).message)

    def unwrap(self, data: bytes) -> bytes:
        if self._layer is _Layer.NONE:
            return data
        try:
            found = self._context.unwrap(data)
        except GSSError as error:
            raise OSError(f"a message of the metastore is not as it sent it: {_text(error)}") from error
        if self._layer is _Layer.ENCRYPTED and not found.encrypted:
            raise OSError("a message of the metastore is not encrypted")
        return bytes(found.message)

    def _refused(self, error: GSSError) -> AcidSqlError:
        keytab = self._address.keytab
        if keytab is not None and not Path(keytab).is_file():
            reason, hint = f"there is no keytab {keytab}", "keytab=FILE names a file with the keys of a user."
        else:
            reason = f"Kerberos for {self._principal}: {_text(error)}"
            hint = "kinit gets a ticket; klist shows those there are. keytab=FILE gets one with the keys of a user."
        return AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=self._address, reason=reason, hint=hint)


def _credentials(address: Address) -> Any:
    """The user's. Those of a keytab are kept in this process's memory, and renewed there when they end."""
    user = gssapi.Name(address.user, gssapi.NameType.kerberos_principal) if address.user else None
    if address.keytab is None:
        return gssapi.Credentials(name=user, usage="initiate")
    cache = f"MEMORY:acidsql-{address.user or ''}-{address.keytab}"
    return gssapi.Credentials(name=user, usage="initiate", store={"client_keytab": address.keytab, "ccache": cache})


def _text(error: GSSError) -> str:
    """What Kerberos says of an error, without its numbers."""
    with suppress(GSSError):
        said = [text for text in error.get_all_statuses(error.min_code, False) if text]
        if said:
            return "; ".join(said)
    return str(error)
