"""Makes the events and the choice of files of the examples of Occurs Studio, in src/occurs/studio/examples.

Each example is at most 200 KB.  The rules of `flights` and `maritime` are copies of those in `examples`; what there is
beside them, one file in each other language, is written by hand.

- `labor`: the twelve rows of Table 2 (docs/spec/epl-and-nets.md, section 7).
- `flights`: 24 hours at New York's airports, 8 March 2013, with a snow storm; as CSV, a file per type.
- `maritime`: a few ships for three days, in one file.  A report at rest after a report at rest is left out, and so is
  one in motion after one in motion: the rules take the first of each.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src" / "occurs" / "studio" / "examples"
sys.path += [str(ROOT / "examples" / "flights"), str(ROOT / "examples" / "maritime")]
LABOR = "A12@1 B10@1 A45@15 B45@17 A15@21 B38@23 B38@26 A36@30 A45@34 B38@34 A15@37 B38@39"
STORM = datetime(2013, 3, 8, 8, tzinfo=UTC)
SHIPS, DAYS = 12, 3


def main() -> None:
    for make in (labor, flights, maritime):
        folder = TARGET / make.__name__
        make(folder)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{make.__name__}: {size:,} bytes")


def labor(folder: Path) -> None:
    cells = [text.replace("@", " ").split() for text in LABOR.split()]
    rows = [("Patient", int(at), name[0], int(name[1:]), int(at)) for name, at in cells]
    write(folder / "rows.csv", ("type", "time", "name", "contrDuration", "ts"), rows)
    project(folder, ["labor.epl"], ["rows.csv"], time_unit="min")


def flights(folder: Path) -> None:
    import events  # of examples/flights

    rules = "flights.tesla"
    shutil.copy(ROOT / "examples" / "flights" / rules, folder / rules)
    for name, table in events.tables().items():
        rows = [row for row in table.to_pylist() if STORM <= row["time"] < STORM + timedelta(days=1)]
        write(folder / f"{name}.csv", table.column_names, (row.values() for row in rows))
    others = sorted(p.name for p in folder.iterdir() if p.suffix in (".epl", ".ftl", ".phen", ".esql"))
    project(folder, [rules, *others], [f"{name}={name}.csv" for name in events.TYPES])


def maritime(folder: Path) -> None:
    import ais

    rules = ["maritime.phen", "mixed.phen", "mixed.tesla"]
    for name in rules:
        shutil.copy(ROOT / "examples" / "maritime" / name, folder / name)
    found = [
        (row["time"], name, row["vessel"], row.get("area"))
        for name, table in ais.maritime(vessels=SHIPS, days=DAYS).items()
        if name != "ais"
        for row in table.to_pylist()
    ]
    rows, last = [], {}
    for time, name, vessel, area in sorted(found, key=lambda row: (row[0], row[2], row[1])):
        if name.startswith("stop_"):
            if last.get(vessel) == name:
                continue
            last[vessel] = name
        rows.append((name, time, vessel, area))
    write(folder / "ships.csv", ("type", "time", "vessel", "area"), rows)
    project(folder, rules, ["ships.csv"])


def write(path: Path, columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows([cell(value) for value in row] for row in rows)


def cell(value: Any) -> Any:
    """What stands in the file: times without seconds that are zero, measurements to one decimal."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ").replace(":00Z", "Z")
    return round(value, 1) if isinstance(value, float) else value


def project(folder: Path, rules: list[str], events: list[str], **options: str) -> None:
    """The choice of files, as the studio writes it."""
    program = {"events": events, "options": options, "rules": rules}
    text = json.dumps({"program": program, "version": 1}, indent=2, sort_keys=True)
    (folder / "studio.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
