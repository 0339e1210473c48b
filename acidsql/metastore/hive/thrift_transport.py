"""The transports of a Hive Metastore: sockets, sockets with TLS or Kerberos or both, and HTTP."""

from __future__ import annotations

import re
import select
import ssl
from dataclasses import dataclass, replace
from typing import Any, Final, assert_never

from pymetastore.hive_metastore import ThriftHiveMetastore
from pymetastore.hive_metastore import ttypes as t
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.transport.THttpClient import THttpClient
from thrift.transport.TSocket import TSocket
from thrift.transport.TSSLSocket import TSSLSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from acidsql.errors import AcidSqlError, Condition
from acidsql.metastore.hive.delegation_tokens import DelegationToken, token_of_environment, token_of_text
from acidsql.metastore.hive.digest_md5 import DigestMd5
from acidsql.metastore.hive.sasl_transport import Mechanism, SaslTransport
from acidsql.metastore.hive.service_uri import Address, Authentication, Place, Transport

_CONNECT_SECONDS: Final = 20.0
_USER_HEADER: Final = "x-actor-username"
"""By this header a metastore without authentication learns the user of a call by HTTP (HmsThriftHttpServlet)."""
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Connection:
    """A client of the generated code, and what carries its calls."""

    client: Any
    transport: Any
    socket: Any = None
    """The socket; None for HTTP, which opens one for each call."""
    authenticated: str | None = None
    """The user that the metastore knows the caller to be, without a realm; None where nothing was proved."""

    def is_stale(self) -> bool:
        """Whether the metastore has closed the socket: only then an answer, an empty one, comes between two calls."""
        if self.socket is None or not select.select([self.socket.handle], [], [], 0)[0]:
            return False
        return not isinstance(self.socket.handle, ssl.SSLSocket) or _is_closed(self.socket.handle)

    def close(self) -> None:
        self.transport.close()


def connected(address: Address, place: Place, user: str) -> Connection:
    """Connects to a metastore. Raises what Thrift raises, and METASTORE_UNAVAILABLE for an unreadable `ca`."""
    context = _tls_context(address) if address.tls else None
    match address.transport:
        case Transport.BINARY:
            return _by_socket(address, place, user, context)
        case Transport.HTTP:
            return _by_http(address, place, user, context)
        case _:
            assert_never(address.transport)


def _by_socket(address: Address, place: Place, user: str, context: ssl.SSLContext | None) -> Connection:
    if context is None:
        socket = TSocket(place.host, place.port)
    else:
        socket = TSSLSocket(place.host, place.port, ssl_context=context, server_hostname=place.host)
    socket.setTimeout(min(_CONNECT_SECONDS, address.timeout) * 1000)
    transport: Any = TBufferedTransport(socket)
    known: str | None = None
    try:
        if address.authentication is Authentication.KERBEROS:
            mechanism, known = _mechanism(address, place)
            transport = SaslTransport(transport, mechanism)
        transport.open()
        socket.setTimeout(address.timeout * 1000)
        client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
        if known is None:
            # The owner of new table directories, as Hive sets it (hive.metastore.execute.setugi).
            client.set_ugi(user, [])
    except BaseException:
        if socket.isOpen():
            transport.close()
        raise
    return Connection(client, transport, socket, known)


def _mechanism(address: Address, place: Place) -> tuple[Mechanism, str]:
    """Proves who the user is by a delegation token if there is one, as Hive's clients do, or else by Kerberos. The
    second value is the user's name."""
    proxy_user = address.proxy_user
    token = token_of_environment() if proxy_user is None else _token_of_proxy(address, place, proxy_user)
    if token is not None:
        return DigestMd5(address, token.name, token.secret), token.owner
    try:
        from acidsql.metastore.hive.kerberos import Kerberos  # a package that needs the system's library
    except ImportError as error:
        reason = f"Kerberos needs the package gssapi, which cannot be imported: {error}"
        hint = "pip install 'acidsql[kerberos]'"
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=address, reason=reason, hint=hint) from error
    kerberos = Kerberos(address, place)
    return kerberos, re.split("[/@]", kerberos.user)[0]


def _token_of_proxy(address: Address, place: Place, proxy_user: str) -> DelegationToken:
    """A token of `proxy_user`, which the metastore gives to a user who may act for that one, as in Hive's
    HiveMetaStoreClient. Raises what `connected` raises, and METASTORE_UNAVAILABLE where the metastore refuses."""
    connection = connected(replace(address, proxy_user=None), place, proxy_user)
    try:
        return token_of_text(connection.client.get_delegation_token(proxy_user, proxy_user))
    except (t.MetaException, ValueError) as error:
        reason = f"it gives no delegation token of {proxy_user}: {getattr(error, 'message', error)}"
        hint = "hadoop.proxyuser.* in the metastore's core-site.xml says who may act for whom."
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=address, reason=reason, hint=hint) from error
    finally:
        connection.close()


def _by_http(address: Address, place: Place, user: str, context: ssl.SSLContext | None) -> Connection:
    host = f"[{place.host}]" if ":" in place.host else place.host
    scheme = "http" if context is None else "https"
    transport = _Http(f"{scheme}://{host}:{place.port}/{address.path}", ssl_context=context)
    transport.setTimeout(address.timeout * 1000)
    transport.setCustomHeaders({_USER_HEADER: user})
    client = ThriftHiveMetastore.Client(TBinaryProtocol(transport))
    client.get_databases("default")  # HTTP connects with the first call
    return Connection(client, transport)


class _Http(THttpClient):  # type: ignore[misc]  # Thrift has no types
    """THttpClient does not look at the status of an answer, and cannot be closed twice."""

    def flush(self) -> None:
        super().flush()
        if self.code != _OK:
            raise TTransportException(TTransportException.UNKNOWN, f"HTTP status {self.code} {self.message}")

    def close(self) -> None:
        if self.isOpen():
            super().close()


def _is_closed(socket: ssl.SSLSocket) -> bool:
    """Whether a readable socket with TLS has more to read than messages of TLS itself, such as session tickets."""
    timeout = socket.gettimeout()
    socket.settimeout(0)
    try:
        socket.recv(1)
    except ssl.SSLWantReadError:
        return False
    except OSError:
        return True
    else:
        return True
    finally:
        socket.settimeout(timeout)


def _tls_context(address: Address) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=address.authorities)
    except OSError as error:  # ssl.SSLError among them
        reason = f"the certificates of ca={address.authorities} cannot be read: {error}"
        hint = "ca is a PEM file. keytool -exportcert -rfc writes one from a Java trust store."
        raise AcidSqlError(Condition.METASTORE_UNAVAILABLE, uri=address, reason=reason, hint=hint) from error
