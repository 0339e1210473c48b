"""Jars from Maven Central: class paths of the poms beside this file, resolved once and kept."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

import pytest

CENTRAL: Final = "https://repo.maven.apache.org/maven2"
MAVEN: Final = "3.9.9"
_MAVEN_SHA512: Final = (
    "a555254d6b53d267965a3404ecb14e53c3827c09c3b94b5678835887ab404556"
    "bfaf78dcfe03ba76fa2508649dca8531c74bca4d5846513522404d48e8c4ac8b"
)
_RESOLVE_SECONDS: Final = 480


def cache_directory() -> Path:
    """Where class paths, compiled classes and an empty metastore are kept between runs: $ACIDSQL_TEST_CACHE."""
    root = os.environ.get("ACIDSQL_TEST_CACHE") or Path.home() / ".cache" / "acidsql-tests"
    directory = Path(root)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def java(program: str) -> str:
    """`java` or `javac`, from $JAVA_HOME or the path. Skips the test where there is none."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(program, path=f"{home}/bin") if home else shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed")
    return found


def class_path(pom: Path, *goals: str) -> str:
    """The class path of a pom; `goals` of the dependency plugin run in the same call. Skips where Maven's repository
    cannot be reached.

    What the goals make goes to the pom's kept directory, which the pom knows as ${kept}.
    A class path is found again by the pom's content, as long as each of its jars is there.
    """
    kept = kept_directory(pom) / "class-path.txt"
    if kept.exists() and all(os.path.exists(jar) for jar in kept.read_text().split(os.pathsep)):
        return kept.read_text()
    resolved = kept.with_suffix(".new")
    _maven(pom, *goals, "dependency:build-classpath", f"-Dmdep.outputFile={resolved}", f"-Dkept={kept.parent}")
    resolved.replace(kept)
    return kept.read_text()


def compiled(source: Path, jars: str) -> Path:
    """The directory of a Java file's classes."""
    classes = cache_directory() / f"{source.stem}-{_digest(source.read_bytes() + jars.encode())}"
    if not classes.exists():
        fresh = classes.with_name(f"{classes.name}.{os.getpid()}")
        command = [java("javac"), "-nowarn", "-proc:none", "-cp", jars, "-d", str(fresh), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        _keep(fresh, classes)
    return classes


def kept_directory(pom: Path) -> Path:
    """What belongs to this very pom."""
    directory = cache_directory() / f"{pom.parent.name}-{_digest(pom.read_bytes())}"
    directory.mkdir(exist_ok=True)
    return directory


def _keep(fresh: Path, kept: Path) -> None:
    """Gives the directory its name; another process may have been faster."""
    try:
        fresh.rename(kept)
    except OSError:
        shutil.rmtree(fresh)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _maven(pom: Path, *arguments: str) -> None:
    command = [_mvn(), "--batch-mode", "--quiet", "-Dstyle.color=never", "--file", str(pom), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_RESOLVE_SECONDS)
    if done.returncode != 0:
        reason = next((line for line in done.stdout.splitlines() if "ERROR" in line), done.stderr[-300:])
        assert not _central_answers(), f"Maven fails at {pom}: {reason}"
        pytest.skip(f"Maven's repository cannot be reached: {reason}")


def _central_answers() -> bool:
    try:
        urllib.request.urlopen(f"{CENTRAL}/org/apache/orc/orc-core/maven-metadata.xml", timeout=30).close()
    except (urllib.error.URLError, TimeoutError):
        return False
    return True


def _mvn() -> str:
    installed = shutil.which("mvn")
    if installed is not None:
        return installed
    fetched = cache_directory() / f"apache-maven-{MAVEN}"
    if not fetched.exists():
        _fetch_maven(fetched)
    return str(fetched / "bin" / "mvn")


def _fetch_maven(to: Path) -> None:
    url = f"{CENTRAL}/org/apache/maven/apache-maven/{MAVEN}/apache-maven-{MAVEN}-bin.tar.gz"
    archive = to.with_name(f"{to.name}.{os.getpid()}.tar.gz")
    try:
        with urllib.request.urlopen(url, timeout=60) as response, archive.open("wb") as file:
            shutil.copyfileobj(response, file)
    except (urllib.error.URLError, TimeoutError) as error:
        pytest.skip(f"mvn is not installed and {url} cannot be fetched: {error}")
    assert hashlib.sha512(archive.read_bytes()).hexdigest() == _MAVEN_SHA512, f"{url} is not what it was"
    unpacked = to.with_name(f"{to.name}.{os.getpid()}")
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="data")
    _keep(unpacked / to.name, to)
    shutil.rmtree(unpacked)
    archive.unlink()
