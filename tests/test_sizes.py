"""Work that must not grow with the square of rules, types, columns or problems.  It is counted, not timed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks import sizes

import occurs
from counting import lines, superlinear
from occurs.connect.writers import write
from occurs.errors import OccursError, Problem, did_you_mean


@contextmanager
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Problem]]:
    """The problems that are compared with another one."""
    seen: list[Problem] = []
    equal = Problem.__eq__

    def counted(self: Problem, other: object) -> bool:
        seen.append(self)
        return equal(self, other)

    with monkeypatch.context() as patch:
        patch.setattr(Problem, "__eq__", counted)
        yield seen


def warned(n: int) -> str:
    """n statements of EPL, each with a warning: nothing bounds how long a partial match waits."""
    return "".join(
        f"@Name('R{i}') select a.k as k from pattern [every a=A(v > {i}) -> b=B(k=a.k)];\n" for i in range(n)
    )


def table(rows: int = 20) -> pa.Table:
    return pa.table({"type": ["A", "B"] * (rows // 2), "time": np.arange(rows), "k": [1] * rows, "v": [3] * rows})


def test_warnings_are_not_compared_with_one_another(monkeypatch):
    n = 40
    program = occurs.parse(warned(n), language="epl")
    with compared(monkeypatch) as seen:
        first = program.detect(table(), time_unit="ms").notices
    assert sum(p.severity == "warning" for p in [*first, *program.problems]) >= n
    assert len(seen) <= 4 * n
    with compared(monkeypatch) as seen:
        assert program.detect(table(), time_unit="ms").notices == first
    assert len(seen) <= 4 * n


def test_problems_of_a_plan_are_not_compared_with_one_another(monkeypatch):
    n = 40
    program = occurs.parse(warned(n), language="epl").checked._with(require_bounds=True)
    with compared(monkeypatch) as seen:
        found = program.check()
    assert len(found) >= n
    assert len(seen) <= 6 * n


@pytest.mark.share(4)
@pytest.mark.parametrize("what", ["check", "explain", "detect", "because"])
@pytest.mark.parametrize("grown", sizes.GROWING, ids=lambda f: f.__name__)
def test_no_function_works_with_the_square_of_the_program(grown, what):
    def work(n: int) -> dict[str, int]:
        return lines(sizes.asked(what, *sizes.parsed(grown, n)))

    work(3)  # what is made once
    assert not superlinear(work(24), work(48))


def test_few_of_many_names_are_compared_for_a_hint(monkeypatch):
    compared: list[int] = []
    near = difflib.get_close_matches

    def counted(word: str, names: list[str], *args: Any, **kwargs: Any) -> list[str]:
        compared.append(len(names))
        return near(word, names, *args, **kwargs)

    monkeypatch.setattr(difflib, "get_close_matches", counted)
    for n in (50, 100, 6400):
        assert "`Area37`" in did_you_mean("Aera37", [f"Area{i}" for i in range(n)])
    assert max(compared) <= 128


def test_the_nearest_of_many_names_is_found_wherever_the_slip_is():
    names = [f"Sensor{i}" for i in range(3000)] + ["Turbulence"]
    for slip in ("urbulence", "Turbulenc", "Turbulnce", "Xurbulence", "Turbulencex", "TURBULENCE"):
        assert did_you_mean(slip, names) == "did you mean `Turbulence`?"


def unknown(n: int) -> dict[str, str]:
    """Per language a program with a problem in every definition."""
    return {
        "tesla": "event T0(k: int);\n" + "".join(f"define R{i}(K) from T0(q{i} = 1) where K = $z;\n" for i in range(n)),
        "epl": "create schema T0(k int);\n"
        + "".join(f"select a.q{i} as q from pattern [every a=T0];\n" for i in range(n)),
        "phenesthe": "input event t0(K).\n" + "".join(f"state s{i}(K) : u{i}(K) ~> t0(K).\n" for i in range(n)),
        "ftl": "table T0(k int key, v int)\n" + "".join(f"trigger R{i}: T0({i}) = 3 and U{i} = 1\n" for i in range(n)),
        "match_recognize": "".join(
            f"CREATE VIEW R{i} AS SELECT * FROM T0 MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS q{i}(k) > 1);\n"
            for i in range(n)
        ),
        "esql": "".join(f"DEFINE R{i} AS $x{i} WHERE v > 1.\n" for i in range(n)),
    }


@pytest.mark.parametrize("language", unknown(1))
def test_no_function_works_with_the_square_of_the_problems(language):
    def work(n: int) -> dict[str, int]:
        def run() -> None:
            with pytest.raises(OccursError) as error:
                occurs.parse(unknown(n)[language], language=language)
            assert len(error.value.problems) >= n

        return lines(run)

    work(3)
    assert not superlinear(work(24), work(48))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl"])
def test_no_function_works_with_the_square_of_the_types_that_are_written(tmp_path, suffix):
    def work(n: int) -> dict[str, int]:
        tables = {f"R{i}": pa.table({"type": [f"R{i}"], "time": [i], "k": [i]}) for i in range(n)}
        return lines(lambda: write(str(tmp_path / f"found{n}.{suffix}"), tables))

    work(3)
    assert not superlinear(work(24), work(48))
