"""The command line: its arguments, the statements given with it, its streams and exit statuses."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from acidsql.connection import connect
from acidsql.errors import AcidSqlError, Condition, visible
from acidsql.frontends.arguments import (
    add_claim,
    add_conf,
    add_diff,
    add_doctor,
    add_ingest,
    add_inspect,
    add_place,
    check_diff,
    check_ingest,
    check_inspect,
    pair,
)
from acidsql.frontends.render import Format
from acidsql.frontends.script import CANNOT_START, FAILED, INTERRUPTED, OK, Manner, Runner, exit_status
from acidsql.frontends.terminal import java_output, report, tell_interrupted, tell_part

if TYPE_CHECKING:  # the prompt is shown before these are imported
    from acidsql.session import Session


_ALONE: Final = ("-h", "--help", "--version")
"""Options of `acidsql` itself. All others are those of a command."""
_FORMATS: Final = [shape.value for shape in Format]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `acidsql` with the arguments `argv` (default: the process's own). Returns the exit status.

    Without a command, `acidsql` is `acidsql shell`.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    is_shell = not given or (given[0].startswith("-") and given[0] not in _ALONE)
    options = _parsed(["shell", *given] if is_shell else given)
    command: Callable[[argparse.Namespace], int] = options.command
    if sys.stdin is None:  # it was closed before the start (`acidsql .. <&-`)
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:  # it was closed before the start (`acidsql .. >&-`)
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        return command(options)
    except KeyboardInterrupt as interrupt:
        tell_interrupted("Interrupted", interrupt)
        return INTERRUPTED
    except AcidSqlError as error:
        report(error)
        return exit_status(error)


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments, where files may stand before and behind options. argparse of Python 3.11 leaves those behind."""
    parser = _parser()
    options, rest = parser.parse_known_args(argv)
    if rest and not (hasattr(options, "text_files") and all(name == "-" or name[:1] != "-" for name in rest)):
        parser.error(visible(f"unrecognized arguments: {' '.join(rest)}"))
    if rest:
        options.text_files += rest
    return options


# ------------------------------------------------------------------------------------------------ the shell


@dataclass(frozen=True, slots=True)
class _Source:
    """The text of -e or -f, and the name of the file if it comes from one."""

    text: str
    name: str | None = None


def _shell(options: argparse.Namespace) -> int:
    sources = [_read(option, value) for option, value in options.sources]
    init = [_read("-f", options.init)] if options.init else []

    def opened() -> Runner:
        return Runner(_session(options), _manner(options))

    with java_output(hidden=not options.verbose) as hidden:
        if sources or init or not sys.stdin.isatty():
            status = _run(opened, init, sources, options)
        else:
            status = _prompt(opened, options)
        if status == CANNOT_START:
            tell_part(hidden())
        return status


def _session(options: argparse.Namespace) -> Session:
    """Opens the session of the options. Raises CANNOT_START, METASTORE_UNAVAILABLE, and the errors of SET and USE."""
    conf = dict(options.conf) | ({"spark.master": options.master} if options.master else {})
    session = connect(warehouse=options.warehouse, metastore=options.metastore, conf=conf)
    try:
        session.set_variables(dict(options.hivevar))
        _set_all(session, options.hiveconf)
        if options.database:
            quoted = options.database.replace("`", "``")
            session.execute(f"USE `{quoted}`")
    except BaseException:
        session.close()
        raise
    return session


def _set_all(session: Session, settings: Sequence[tuple[str, str]]) -> None:
    """Sets what --hiveconf gives. Variables in a value (`${env:HOME}`) are replaced, as in SET."""
    for key, value in settings:
        session.set_settings({key.strip(): session.substituted(value).strip()})


def _read(option: str, value: str) -> _Source:
    """Reads the value of -e or the file of -f. Raises CANNOT_START where the file cannot be read."""
    if option == "-e":
        return _Source(value)
    if value == "-":
        return _Source(_standard_input().read().removeprefix("\ufeff"))
    try:
        return _Source(Path(value).read_text(encoding="utf-8-sig"), value)
    except OSError as error:
        raise AcidSqlError(Condition.CANNOT_START, message=f"Cannot read {value}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise AcidSqlError(Condition.CANNOT_START, message=f"{value} is not UTF-8: {error}") from None


def _standard_input() -> TextIO:
    """Standard input. Bytes that are not UTF-8 become surrogates; the parser refuses a statement with one."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")
    return sys.stdin


def _manner(options: argparse.Namespace) -> Manner:
    shape = Format(options.output) if options.output else Format.TABLE if sys.stdout.isatty() else Format.TSV
    return Manner(
        shape=shape,
        header=not options.no_header,
        silent=options.silent,
        verbose=options.verbose,
        force=options.force,
        dry_run=options.dry_run,
    )


def _run(
    opened: Callable[[], Runner], init: Sequence[_Source], sources: Sequence[_Source], options: argparse.Namespace
) -> int:
    try:
        runner = opened()
    except AcidSqlError as error:
        report(error)
        return CANNOT_START
    with runner.session:
        if not all(runner.run_text(source.text, source.name) for source in [*init, *sources]) or sources:
            return runner.status
        if sys.stdin.isatty():
            return _prompt(lambda: runner, options)
        runner.run_lines(_standard_input())
        return runner.status


def _prompt(opened: Callable[[], Runner], options: argparse.Namespace) -> int:
    from acidsql.frontends.shell import Shell  # importing prompt_toolkit takes 0.2 s, which -e and -f save

    return Shell(opened, silent=options.silent, database=options.database).run()


def _inspect(options: argparse.Namespace) -> int:
    from acidsql.frontends.inspect import Wanted, print_table
    from acidsql.frontends.row_lives import print_rows

    check_inspect(options)
    with (
        java_output(hidden=options.where is not None),
        connect(warehouse=options.warehouse, metastore=options.metastore, conf=dict(options.conf)) as session,
    ):
        session.check_warehouse()
        if options.row is not None or options.where is not None:
            shape = Format(options.output) if options.output else None
            return print_rows(session, options.table, options.row, options.where, options.limit or None, shape)
        wanted = Wanted(options.partition, with_events=not options.files, limit=options.limit or None)
        sound = print_table(session, options.table, wanted)
    return OK if sound else FAILED


def _doctor(options: argparse.Namespace) -> int:
    from acidsql.frontends.doctor import print_findings

    with connect(warehouse=options.warehouse, metastore=options.metastore, conf=dict(options.conf)) as session:
        session.check_warehouse()
        is_sound = print_findings(session, options.tables, as_json=options.json, reads_files=not options.quick)
    return OK if is_sound else FAILED


def _diff(options: argparse.Namespace) -> int:
    from acidsql.frontends.diff import print_changes

    check_diff(options)
    conf = dict(options.conf) | ({"spark.master": options.master} if options.master else {})
    with (
        java_output(hidden=True),
        connect(warehouse=options.warehouse, metastore=options.metastore, conf=conf) as session,
    ):
        session.check_warehouse()
        shape = Format(options.output) if options.output else None
        print_changes(session, options.table, options.first + 1, options.last, options.limit or None, shape)
    return OK


def _claim(options: argparse.Namespace) -> int:
    with connect(warehouse=options.warehouse, metastore=options.metastore, conf=dict(options.conf)) as session:
        names = session.claim_tables(forget=options.forget, here=options.here)
    told = "forgotten" if options.forget else "elsewhere, and this metastore's now"
    sys.stdout.write(visible("".join(f"{name}: {told}\n" for name in names)))
    return OK


def _compactor(options: argparse.Namespace) -> int:
    conf = dict(options.conf) | ({"spark.master": options.master} if options.master else {})
    with (
        java_output(hidden=True),
        connect(warehouse=options.warehouse, metastore=options.metastore, conf=conf) as session,
    ):
        session.check_warehouse()
        _set_all(session, options.hiveconf)
        session.compactor.tell = _log
        session.compactor.pools = tuple(options.pool) or session.compactor.pools
        if options.metrics_port is not None:
            session.serve_metrics(options.metrics_port, options.listen)
        if options.health_port is not None:
            session.serve_health(options.health_port, options.listen)
        if options.once:
            session.compactor.run_once()
        else:
            _serve(session, options.drain_seconds)
    return OK


def _ingest(options: argparse.Namespace) -> int:
    from acidsql.frontends.ingest_command import CSV, SourceOptions, TextOptions, ingest

    files = [name for name in options.text_files if name != "-"]
    check_ingest(options, files)
    text = TextOptions(
        options.form, options.delimiter or ",", options.header, options.null if options.form == CSV else ""
    )
    source = SourceOptions(files, options.follow, options.rotated, not options.no_skip, options.same_text)
    with connect(warehouse=options.warehouse, metastore=options.metastore, conf=dict(options.conf)) as session:
        session.check_warehouse()
        _set_all(session, options.hiveconf)
        stream = session.stream(
            options.table,
            options.id,
            partition=dict(options.partition) or None,
            commit_rows=options.commit_rows,
            commit_seconds=options.commit_seconds,
            batch_size=options.batch_size,
        )
        return ingest(stream, text, source, options.commit_rows)


def _serve(session: Session, drain_seconds: float | None) -> None:
    """Serves until SIGTERM or Ctrl-C. Workers finish their compactions first, or give them back to the queue after
    `drain_seconds` or at a second signal."""
    stop = threading.Event()

    def stopped(*_: object) -> None:
        if stop.is_set():
            session.compactor.giving_back.set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stopped)
    _log("the compactor runs; Ctrl-C stops it")
    session.compactor.serve(stop, drain_seconds)
    _log("the compactor has stopped")


def _log(line: str) -> None:
    """Writes a line of the compactor: as JSON where ACIDSQL_LOG asks for it."""
    from acidsql.statements.log import JSON, as_json, log_form

    if log_form() == JSON:
        utc = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        sys.stdout.write(f"{as_json({'time': utc, 'event': 'compactor', 'pid': os.getpid(), 'message': line})}\n")
    else:
        sys.stdout.write(visible(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n"))
    sys.stdout.flush()


# ------------------------------------------------------------------------------------------------ arguments


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="acidsql", description="SQL for Hive ACID tables on Spark.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"acidsql {version('acidsql')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_shell(commands)
    _add_compactor(commands)
    add_inspect(commands, _FORMATS).set_defaults(command=_inspect)
    add_doctor(commands).set_defaults(command=_doctor)
    add_diff(commands, _FORMATS).set_defaults(command=_diff)
    add_ingest(commands).set_defaults(command=_ingest)
    add_claim(commands).set_defaults(command=_claim)
    return parser


def _add_shell(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    shell = commands.add_parser(
        "shell",
        help="run SQL statements, typed or given",
        description="Runs SQL statements: those of -e and -f in their order; else what is typed at a terminal; else"
        " those of standard input. Only rows go to standard output.",
        epilog="exit status: 0 all statements ran, 1 a statement failed, 2 bad usage or cannot start, 130 interrupted",
        allow_abbrev=False,
    )
    add_place(shell)
    given = shell.add_argument_group("statements")
    given.add_argument("-e", dest="sources", action=_InOrder, default=[], metavar="SQL", help="run these statements")
    given.add_argument(
        "-f", dest="sources", action=_InOrder, metavar="FILE", help="run the statements of a file (- is standard input)"
    )
    given.add_argument("-i", dest="init", metavar="INIT", help="run the statements of this file first")
    given.add_argument("--database", metavar="DB", help="start in this database instead of default")
    given.add_argument(
        "--hivevar",
        type=pair,
        action="append",
        default=[],
        metavar="K=V",
        help="put V for ${hivevar:K} and ${K} in statements",
    )
    given.add_argument("--force", action="store_true", help="go on after an error")
    given.add_argument(
        "--dry-run",
        action="store_true",
        help="print the statements' plans and run none of them, but USE and SET",
    )
    settings = shell.add_argument_group("settings")
    settings.add_argument("--hiveconf", type=pair, action="append", default=[], metavar="K=V", help="SET K=V")
    add_conf(settings)
    settings.add_argument("--master", metavar="M", help="Spark's master, for example local[4]")
    output = shell.add_argument_group("output")
    output.add_argument(
        "--output",
        choices=_FORMATS,
        help="how rows are printed (default: table on a terminal, tsv elsewhere)",
    )
    output.add_argument("--no-header", action="store_true", help="print no column names")
    output.add_argument("-S", dest="silent", action="store_true", help="print only rows and errors")
    output.add_argument("-v", dest="verbose", action="store_true", help="print each statement first, and Java's log")
    shell.set_defaults(command=_shell)


def _add_compactor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compactor = commands.add_parser(
        "compactor",
        help="run the background service that compacts tables",
        description="Asks for the compactions that are due, does those that wait, and removes what they make obsolete,"
        " until it is stopped; a line to standard output for each. On a Hive Metastore, which asks and removes itself,"
        " it only does what waits there.",
        allow_abbrev=False,
    )
    add_place(compactor)
    compactor.add_argument("--once", action="store_true", help="do what is due, then leave")
    compactor.add_argument(
        "--pool", action="append", default=[], metavar="POOL", help="do the requests of this pool (default: default)"
    )
    compactor.add_argument("--metrics-port", type=int, metavar="PORT", help="serve metrics as Prometheus' text")
    compactor.add_argument(
        "--health-port",
        type=int,
        metavar="PORT",
        help="serve /healthz, and /metrics with the extra acidsql[metrics]",
    )
    compactor.add_argument(
        "--listen",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="serve at this address; 0.0.0.0 is all interfaces (default: %(default)s, for this machine only)",
    )
    compactor.add_argument(
        "--drain-seconds",
        type=float,
        metavar="S",
        help="after SIGTERM, give unfinished compactions back to the queue after S seconds (default: finish them)",
    )
    compactor.add_argument("--hiveconf", type=pair, action="append", default=[], metavar="K=V", help="SET K=V")
    add_conf(compactor)
    compactor.add_argument("--master", metavar="M", help="Spark's master, for example local[4]")
    compactor.set_defaults(command=_compactor)


class _InOrder(argparse.Action):
    """Appends the values of -e and -f to one list, in the order of the arguments."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        namespace.sources = [*namespace.sources, (option_string, values)]
