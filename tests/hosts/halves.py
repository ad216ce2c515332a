"""The text cases of all languages as streams, half of each in a process of its own.

``python halves.py begin|end FOLDER STEP``: ``begin`` runs every case (with STEP 5 every fifth one) as a whole
and again to some point in the middle, and writes what the buckets keep; ``end`` reads that and goes on to the end of
the history.  Both write ``FOLDER/LANGUAGE/begin.json`` or ``end.json``: per case the rows of the ``part`` that this
process ran, the ``program`` as a checkpoint describes it, and the ``warnings`` of its buckets; ``begin`` the rows of
the ``whole``, too.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from instream import How, InStream, Store

from occurs.hosts.stream.state_migration import describe
from occurs.model.canonical import fingerprint

Stream = Callable[[How], InStream]
HOW = How(buckets=2, size=3)


def of_tesla() -> Iterator[tuple[str, Stream]]:
    from hostcases import all_cases, keywords

    import occurs
    from occurs.model.history import InputOptions

    for case in all_cases():
        if case.error is None and case.events:
            yield (
                case.name,
                lambda how, case=case: InStream(  # type: ignore[misc]
                    occurs.parse(case.rules), case.tables(), InputOptions(**keywords(case)), how
                ),
            )


def of_epl() -> Iterator[tuple[str, Stream]]:
    from test_stream_epl import CASES, options_of, program_of

    for case in CASES:
        if case.events:
            yield case.name, lambda how, c=case: InStream(program_of(c), c.tables(), options_of(c), how)  # type: ignore[misc]


def of_phenesthe() -> Iterator[tuple[str, Stream]]:
    from test_stream_lasting import BATCH, stream_of

    for case in BATCH:
        if case.rows:
            yield case.name, lambda how, c=case: stream_of(c, how)  # type: ignore[misc]


def of_logic() -> Iterator[tuple[str, Stream]]:
    from test_stream_logic import CASES
    from tests.laws.logic import Subject, program_of

    for case in CASES:
        yield case.name, lambda how, c=case: InStream(program_of(c), c.tables(), Subject(c).options, how)  # type: ignore[misc]


def of_pipes() -> Iterator[tuple[str, Stream]]:
    from test_hosts_pipes import CASES, options, program_of

    for case in CASES:
        yield case.name, lambda how, c=case: InStream(program_of(c), c.tables(), options(c), how)  # type: ignore[misc]


LANGUAGES = {"tesla": of_tesla, "epl": of_epl, "phenesthe": of_phenesthe, "logic": of_logic, "pipes": of_pipes}


def steps(stream: InStream, parts: Iterable[pa.Table], *, closing: bool) -> tuple[list[str], list[str]]:
    """(the rows found, the warnings) of some micro-batches, rows as text with labels and constituents."""
    found, warnings = [], []
    for rows, last in [*((p, False) for p in parts), *([(stream.rows.slice(0, 0), True)] * closing)]:
        done = stream.query.read(stream.micro_batch(rows, last))
        warnings += [str(w) for w in done.warnings]
        for t, table in [*done.found.items(), *done.timeouts.items()]:
            found += [f"{t} {json.dumps(row, sort_keys=True, default=str)}" for row in table.to_pylist()]
    return sorted(found), warnings


def middle(name: str, parts: list[pa.Table]) -> int:
    return random.Random(name).randint(0, len(parts))


def keep(path: Path, stores: dict[tuple[int, int], Store]) -> None:
    rows = [
        {"depth": depth, "bucket": bucket, "name": name, "data": data}
        for (depth, bucket), store in stores.items()
        for name, data in [("", store.value), *store.pieces.items()]
    ]
    kinds = [("depth", pa.int64()), ("bucket", pa.int64()), ("name", pa.string()), ("data", pa.binary())]
    table = pa.Table.from_pylist(rows, schema=pa.schema(kinds))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def kept(path: Path) -> dict[tuple[int, int], Store]:
    stores: dict[tuple[int, int], Store] = {}
    with pa.OSFile(str(path), "rb") as file:
        for row in pa.ipc.open_file(file).read_all().to_pylist():
            store = stores.setdefault((row["depth"], row["bucket"]), Store())
            if row["name"]:
                store.pieces[row["name"]] = row["data"]
            else:
                store.value = row["data"]
    return stores


def run(number: int, name: str, make: Stream, half: str, folder: Path) -> dict[str, Any]:
    stream = make(HOW)
    parts = stream.cut()
    at, place = middle(name, parts), folder / f"{number}.arrow"
    program = fingerprint([describe(stream.layout, depth) for depth in range(stream.layout.depth)])
    out: dict[str, Any] = {"program": program}
    if half == "begin":
        out["part"], out["warnings"] = steps(stream, parts[:at], closing=False)
        keep(place, stream.stores)
        again = make(HOW)
        out["whole"], _ = steps(again, again.cut(), closing=True)
    else:
        stream.stores = kept(place)
        out["part"], out["warnings"] = steps(stream, parts[at:], closing=True)
    return out


def main(half: str, folder: Path, step: int) -> None:
    for language, all_cases in LANGUAGES.items():
        place = folder / language
        place.mkdir(exist_ok=True)
        # cases may have one name
        cases = {f"{n} {name}": make for n, (name, make) in enumerate(all_cases()) if n % step == 0}
        found = {name: run(n, name, make, half, place) for n, (name, make) in enumerate(cases.items())}
        (place / f"{half}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
