"""Arguments that several commands have, and those of the commands but `shell` and `compactor`."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import Final

from acidsql.ingest.stream_options import DEFAULT_BATCH_SIZE, DEFAULT_COMMIT_ROWS, DEFAULT_COMMIT_SECONDS

DEFAULT_LIMIT: Final = 1000
"""How many events or rows `acidsql inspect` shows, and how many changes `acidsql diff`."""


def add_conf(parser: argparse._ActionsContainer) -> None:
    """The option `--conf`, with the settings of Spark and of Hadoop's client."""
    parser.add_argument("--conf", type=pair, action="append", default=[], metavar="K=V", help="a setting of Spark")


def add_place(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that tell where the tables are."""
    parser.add_argument(
        "--warehouse", metavar="DIR", help="directory of the tables (default: $ACIDSQL_WAREHOUSE, else ./warehouse)"
    )
    parser.add_argument(
        "--metastore",
        metavar="URI",
        help="sqlite:///PATH or thrift://HOST:PORT (default: $ACIDSQL_METASTORE, else a file in the warehouse)",
    )


def add_ingest(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the arguments of `acidsql ingest`."""
    ingest = commands.add_parser(
        "ingest",
        help="write lines of JSON or CSV into a table, exactly once",
        description="Writes lines of files or of standard input into a transactional table, in small transactions. The"
        " place up to which the text was read is committed with the rows under the ID, and the next run goes on there.",
        epilog="exit status: 0 all lines were written (or SIGTERM stopped it), 1 a line or a commit failed, 2 bad usage"
        " or cannot start, 130 Ctrl-C, after a commit of what was read",
        allow_abbrev=False,
    )
    ingest.add_argument("table", metavar="TABLE")
    ingest.add_argument(
        "text_files", metavar="FILE", nargs="*", help="files of lines in UTF-8 (default, and -: standard input)"
    )
    ingest.add_argument("--id", required=True, help="the name under which the places in the text are committed")
    add_place(ingest)
    add_conf(ingest)
    text = ingest.add_argument_group("text")
    text.add_argument("--format", dest="form", choices=["json", "csv"], default="json", help="default: json")
    text.add_argument(
        "--delimiter", type=_delimiter, metavar="C", help=r"between fields of CSV (default: ,); \t is a tab"
    )
    text.add_argument("--header", action="store_true", help="the first record of each text names the columns")
    text.add_argument("--null", default="\\N", metavar="TEXT", help=r"the field of CSV that is NULL (default: \N)")
    rows = ingest.add_argument_group("rows")
    rows.add_argument(
        "--partition", type=pair, action="append", default=[], metavar="K=V", help="the value of a partition column"
    )
    rows.add_argument(
        "--commit-rows", type=_count, default=DEFAULT_COMMIT_ROWS, metavar="N", help="commit so many rows (%(default)s)"
    )
    rows.add_argument(
        "--commit-seconds",
        type=_seconds,
        default=DEFAULT_COMMIT_SECONDS,
        metavar="S",
        help="let no row wait longer for its commit (%(default)g)",
    )
    rows.add_argument(
        "--batch-size",
        type=_count,
        default=DEFAULT_BATCH_SIZE,
        metavar="N",
        help="how many transactions share their files (%(default)s)",
    )
    rows.add_argument("--hiveconf", type=pair, action="append", default=[], metavar="K=V", help="SET K=V")
    going_on = ingest.add_argument_group("going on")
    going_on.add_argument(
        "--follow", action="store_true", help="wait for new lines in the files, also in those that replace them"
    )
    going_on.add_argument(
        "--rotated", action="store_true", help="a file that is not the one that was read under its name is a new one"
    )
    going_on.add_argument(
        "--same-text",
        action="store_true",
        help="a file that is not the one that was read under its name is read on if its bytes are the same",
    )
    going_on.add_argument(
        "--no-skip",
        action="store_true",
        help="standard input has new lines only; without this, it begins with the text that was read before",
    )
    ingest.set_defaults(usage=ingest.error)
    return ingest


def add_inspect(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], formats: Sequence[str]
) -> argparse.ArgumentParser:
    """Adds the arguments of `acidsql inspect`. `formats` are those of rows."""
    inspect = commands.add_parser(
        "inspect",
        help="show what lies in a table's directories, event by event, or the life of single rows",
        allow_abbrev=False,
    )
    inspect.add_argument("table", metavar="TABLE")
    inspect.add_argument("--files", action="store_true", help="show the files only")
    inspect.add_argument(
        "--partition", metavar="P=V[/..]", help="show the partitions whose names begin so, instead of the whole table"
    )
    rows = inspect.add_mutually_exclusive_group()
    rows.add_argument(
        "--row",
        type=_row_id,
        metavar="JSON",
        help="show what happened to the row with this row__id",
    )
    rows.add_argument("--where", metavar="SQL", help="show what happened to the rows for which this was ever true")
    inspect.add_argument(
        "--output",
        choices=formats,
        help="with --row and --where: how events are printed (default: a text on a terminal, tsv elsewhere)",
    )
    inspect.add_argument(
        "--limit",
        type=limit,
        default=DEFAULT_LIMIT,
        metavar="N",
        help="show at most N events, or files with --files, or rows with --where (%(default)s); 0 shows all",
    )
    add_place(inspect)
    add_conf(inspect)
    inspect.set_defaults(usage=inspect.error)
    return inspect


def add_doctor(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the arguments of `acidsql doctor`."""
    doctor = commands.add_parser(
        "doctor",
        help="say what is wrong with tables, and which statements mend it",
        description="Says what is wrong with tables and prints the statements that mend it. It changes no table.",
        epilog="exit status: 0 nothing is wrong, 1 something is, 2 bad usage or cannot start",
        allow_abbrev=False,
    )
    doctor.add_argument("tables", nargs="*", metavar="TABLE", help="a table (default: all tables)")
    doctor.add_argument("--json", action="store_true", help="print a JSON object a line for each finding")
    doctor.add_argument("--quick", action="store_true", help="read no files, and so notice no damaged ones")
    add_place(doctor)
    add_conf(doctor)
    return doctor


def check_inspect(options: argparse.Namespace) -> None:
    """Ends the process with status 2 where options do not go together."""
    is_about_rows = options.row is not None or options.where is not None
    if is_about_rows and (options.files or options.partition):
        options.usage("--files and --partition are about directories: --where can name the partition columns")
    if options.output and not is_about_rows:
        options.usage("--output needs --row or --where")


def add_diff(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], formats: Sequence[str]
) -> argparse.ArgumentParser:
    """Adds the arguments of `acidsql diff`. `formats` are those of rows."""
    diff = commands.add_parser(
        "diff",
        help="show the changes between two versions of a table",
        description="Shows the rows that the writes behind version A, up to version B, have inserted, updated and"
        " deleted. DESCRIBE HISTORY lists the versions.",
        allow_abbrev=False,
    )
    diff.add_argument("table", metavar="TABLE")
    diff.add_argument("first", metavar="A", type=limit, help="the version before the changes; 0 for the empty table")
    diff.add_argument("last", metavar="B", type=limit, nargs="?", help="the version with the changes (default: newest)")
    diff.add_argument(
        "--output",
        choices=formats,
        help="how changes are printed (default: table on a terminal, tsv elsewhere)",
    )
    diff.add_argument(
        "--limit",
        type=limit,
        default=DEFAULT_LIMIT,
        metavar="N",
        help="show at most N changes (%(default)s); 0 shows all",
    )
    add_place(diff)
    add_conf(diff)
    diff.add_argument("--master", metavar="M", help="Spark's master, for example local[4]")
    diff.set_defaults(usage=diff.error)
    return diff


def check_diff(options: argparse.Namespace) -> None:
    """Ends the process with status 2 where the versions are not in order."""
    if options.last is not None and options.last <= options.first:
        options.usage(f"version B must be higher than version A, and {options.last} is not higher than {options.first}")


def add_claim(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the arguments of `acidsql claim`."""
    claim = commands.add_parser(
        "claim",
        help="tell a metastore that was copied or moved whose its tables are",
        description="Ends the refusal of an embedded metastore that was copied, or moved, without some of its tables. A"
        " line to standard output for each of these tables.",
        allow_abbrev=False,
    )
    add_place(claim)
    add_conf(claim)
    whose = claim.add_mutually_exclusive_group(required=True)
    whose.add_argument(
        "--own", action="store_true", help="the tables are this metastore's, and no other one writes to them any more"
    )
    whose.add_argument(
        "--forget", action="store_true", help="forget the tables, and leave their files to the metastore that has them"
    )
    whose.add_argument(
        "--here", action="store_true", help="the tables of the old warehouse lie below the one of --warehouse now"
    )
    return claim


def check_ingest(options: argparse.Namespace, files: Sequence[str]) -> None:
    """Ends the process with status 2 where options do not go together."""
    complaints = (
        ("standard input (-) is not read together with files", bool(files) and "-" in options.text_files),
        ("--follow and --rotated need files", not files and (options.follow or options.rotated)),
        ("--same-text needs files", not files and options.same_text),
        (
            "--same-text does not go together with --follow and --rotated",
            options.same_text and (options.follow or options.rotated),
        ),
        ("--no-skip is about standard input", bool(files) and options.no_skip),
        (
            "--delimiter and --header need --format csv",
            options.form == "json" and (options.delimiter or options.header),
        ),
    )
    for complaint, is_so in complaints:
        if is_so:
            options.usage(complaint)


def pair(text: str) -> tuple[str, str]:
    """The value of an argument KEY=VALUE."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def _row_id(text: str) -> dict[str, int]:
    """A row__id as JSON, as the shell prints it."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or set(found) != {"writeid", "bucketid", "rowid"}:
        raise argparse.ArgumentTypeError(f'{text!r} is not {{"writeid":..,"bucketid":..,"rowid":..}}')
    return found


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def limit(text: str) -> int:
    """The value of --limit. 0 is no limit."""
    if not text.isascii() or not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _delimiter(text: str) -> str:
    sign = "\t" if text in ("\\t", "tab") else text
    if len(sign) != 1 or sign in '"\r\n\0':
        raise argparse.ArgumentTypeError(f"{text!r} is not one character that can stand between fields")
    return sign
