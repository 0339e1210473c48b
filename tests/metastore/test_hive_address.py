"""The URIs of a Hive Metastore, and the errors of a wrong or silent one."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from acidsql.errors import AcidSqlError
from acidsql.metastore.hive.service_uri import Address, Authentication, Place, parse_address
from acidsql.metastore.registry import open_hive
from acidsql.session import connect


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("thrift://one", Address((Place("one", 9083),))),
        ("thrift://one:1", Address((Place("one", 1),))),
        ("thrift://one:1,two:2", Address((Place("one", 1), Place("two", 2)))),
        ("thrift://one:1, thrift://two:2/", Address((Place("one", 1), Place("two", 2)))),
        ("thrift://[::1]:9083?timeout=2.5", Address((Place("::1", 9083),), 2.5)),
        ("thrift://one:1?auth=NONE", Address((Place("one", 1),))),
    ],
)
def test_a_uri_names_metastores(uri: str, expected: Address) -> None:
    assert parse_address(uri) == expected


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("thrift://", "thrift:// is not thrift://HOST:PORT"),
        ("thrift:", "thrift: is not"),
        ("thrift://one,,two:x", "two:x is not"),
        ("thrift://one:port", "thrift://one:port is not thrift://HOST:PORT"),
        ("thrift://one:70000", "is not thrift://HOST:PORT"),
        ("thrift://one/default", "is not thrift://HOST:PORT"),
        ("thrift://one?timeout=soon", "timeout is a number of seconds, not 'soon'"),
        ("thrift://one?color=red", "color is not a setting"),
        ("thrift://one?auth=ldap", "authentication 'ldap' is not one of acidsql"),
        ("thrift://one?keytab=/k", "keytab is a setting of Kerberos, and auth=kerberos is missing"),
        ("thrift://one?auth=kerberos&transport=http", "Kerberos needs transport=binary"),
    ],
)
def test_a_wrong_uri_is_refused(uri: str, reason: str) -> None:
    assert reason in unavailable(uri).message


def test_a_uri_and_the_environment_ask_for_kerberos(monkeypatch: pytest.MonkeyPatch) -> None:
    found = parse_address("thrift://one?auth=kerberos&principal=hms/_HOST@A.B&keytab=/k&user=alice@A.B")
    assert (found.authentication, found.principal) == (Authentication.KERBEROS, "hms/_HOST@A.B")
    assert (found.keytab, found.user) == ("/k", "alice@A.B")
    monkeypatch.setenv("ACIDSQL_METASTORE_AUTH", "KERBEROS")
    assert parse_address("thrift://one") == Address(
        (Place("one", 9083),), authentication=Authentication.KERBEROS, principal="hive/_HOST"
    )
    assert parse_address("thrift://one?auth=none").authentication is Authentication.NONE


def test_every_metastore_that_does_not_answer_is_named() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # nobody listens
        port = bound.getsockname()[1]
        error = unavailable(f"thrift://127.0.0.1:{port},localhost:{port}")
    for host in ("127.0.0.1", "localhost"):
        assert f"thrift://{host}:{port}: " in error.message
    assert error.getSqlState() == "08001"


def test_a_session_raises_the_same_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACIDSQL_METASTORE", "thrift://127.0.0.1:1")
    with pytest.raises(AcidSqlError, match=r"Cannot open the metastore thrift://127\.0\.0\.1:1") as caught:
        connect()
    assert caught.value.condition == "METASTORE_UNAVAILABLE"


@pytest.mark.parametrize("package", ["pymetastore", "thrift"])
def test_a_missing_package_names_the_extra(package: str) -> None:
    code = (
        f"import sys; sys.modules['{package}'] = None\n"
        "from acidsql.metastore.registry import open_hive\n"
        "try: open_hive('thrift://127.0.0.1:1')\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"the package {package} is not installed" in done.stdout
    assert "pip install 'acidsql[hms]'" in done.stdout


def test_a_session_on_the_embedded_metastore_imports_no_thrift() -> None:
    code = "import acidsql.session, sys; print({'thrift', 'pymetastore'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def unavailable(uri: str) -> AcidSqlError:
    with pytest.raises(AcidSqlError) as caught:
        open_hive(uri)
    assert caught.value.condition == "METASTORE_UNAVAILABLE"
    return caught.value


def test_kerberos_without_its_package_names_the_extra() -> None:
    code = (
        "import socket, sys; sys.modules['gssapi'] = None\n"
        "from acidsql.metastore.registry import open_hive\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "try: open_hive(f'thrift://127.0.0.1:{server.getsockname()[1]}?auth=kerberos')\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'acidsql[kerberos]'" in done.stdout
