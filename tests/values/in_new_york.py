"""Run as a process whose zone is not UTC (`TZ=America/New_York python -m tests.values.in_new_york DIR`): what each
front end shows of the same expressions, as JSON."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Final

import pandas as pd  # type: ignore[import-untyped]

from acidsql.frontends.value_text import text
from acidsql.session import Session, connect
from tests.conftest import SPARK_CONF

EXPRESSIONS: Final = (
    "wall",
    "at",
    "date_trunc('hour', wall)",
    "date_trunc('hour', at)",
    "coalesce(wall, current_timestamp())",
    "to_utc_timestamp(wall, 'America/New_York')",
    "from_utc_timestamp(wall, 'Asia/Tokyo')",
    "named_struct('at', array(at))",
    "CAST(at AS timestamp)",
    "CAST(wall AS timestamp with local time zone)",
    "CAST(at AS string)",
    "day + INTERVAL '1' HOUR",
    "unix_timestamp(wall)",
    "from_unixtime(0)",
    "given",
    "framed",
    "aware",
)
NAIVE: Final = datetime.datetime(2024, 3, 10, 2, 30, 15)
"""A time that New York's clocks skip."""
AWARE: Final = datetime.datetime(2024, 7, 1, 16, 34, 56, tzinfo=datetime.UTC)


def main(directory: str) -> None:
    with connect(Path(directory) / "warehouse", conf=SPARK_CONF) as session:
        session.execute(
            "CREATE TABLE t (wall timestamp, at timestamp with local time zone, day date, given timestamp,"
            " framed timestamp, aware timestamp with local time zone)"
            " STORED AS ORC TBLPROPERTIES ('transactional'='true')"
        )
        frame = pd.DataFrame({"naive": [pd.Timestamp(NAIVE)], "aware": [pd.Timestamp(AWARE)]})
        session.execute(
            "INSERT INTO t SELECT timestamp '2024-07-01 12:34:56', '2024-07-01 12:34:56', date '2024-07-01',"
            " :naive, naive, aware FROM {frame} WHERE aware = :aware",
            {"naive": NAIVE, "aware": AWARE},
            frames={"frame": frame},
        )
        before = datetime.datetime.now()
        session.execute("CREATE TABLE clock STORED AS ORC AS SELECT current_timestamp() AS now")
        ((now,),) = session.execute("SELECT now FROM clock").rows()
        assert isinstance(now, datetime.datetime)
        found: dict[str, object] = {e: shown(session, f"SELECT {e} AS x FROM t") for e in EXPRESSIONS}
        found["is now"] = before <= now <= datetime.datetime.now()
        found["zone"] = session.spark.conf.get("spark.sql.session.timeZone")
    sys.stdout.write(json.dumps(found))


def shown(session: Session, query: str) -> dict[str, str | None]:
    """What each front end shows of one value."""
    ((fetched,),) = session.execute(query).rows()
    frame = session.sql(query)
    (collected,) = frame.collect()[0]
    drawn = frame._jdf.showString(1, 100, False).split("\n")[3].strip("| ")
    in_pandas = pd.DataFrame(frame.toPandas())["x"][0]
    return {
        "shell": text(fetched),
        "collect": text(collected),
        "show": drawn if isinstance(collected, datetime.datetime | int | str) else text(fetched),
        "pandas": str(in_pandas) if isinstance(collected, datetime.datetime) else text(collected),
    }


if __name__ == "__main__":
    main(sys.argv[1])
