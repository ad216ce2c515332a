"""Work that must not grow with the square of rules, types, columns or problems.  It is counted, not timed."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import occurs
from counting import lines, superlinear
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
    program = occurs.parse(warned(n), language="epl")._with(require_bounds=True)
    with compared(monkeypatch) as seen:
        found = program.check()
    assert len(found) >= n
    assert len(seen) <= 6 * n


# -- programs that grow: (language, text, types of the input, further columns) ----------------------------------------
def tesla_types(n: int) -> tuple[str, str, int, int]:
    """Every rule reads types of its own."""
    rule = "define R{0}(K, V) from T{0}(k = $k) and last T{1}(k = $k) within 5 s from T{0} where K = $k, V = T{1}.v;\n"
    return "tesla", "".join(rule.format(i, (i + 1) % n) for i in range(n)), n, 0


def tesla_chain(n: int) -> tuple[str, str, int, int]:
    """Every rule reads what the one before derives."""
    rules = "".join(f"define R{i}(K) from R{i - 1}(K = $k) where K = $k;\n" for i in range(1, n))
    return "tesla", "define R0(K) from T0(k = $k) where K = $k;\n" + rules, 1, 0


def tesla_recursive(n: int) -> tuple[str, str, int, int]:
    """Rules that read their own output."""
    one = "define R{0}(K, N) from T0(k = $k) where K = $k, N = 1;\n"
    two = "define R{0}(K, N) from T1(k = $k) and last R{0}(K = $k) within 3 s from T1 where K = $k, N = R{0}.N + 1;\n"
    return "tesla", "".join((one + two).format(i) for i in range(n)), 2, 0


def tesla_subscribed(n: int) -> tuple[str, str, int, int]:
    """Rules that are not connected, each subscribed to."""
    rule = "define R{0}(K) from T0(k = $k) and last T1() within 1 s from T0 where K = $k;\n"
    return "tesla", "".join(map(rule.format, range(n))) + "".join(f"Subscribe(R{i})\n" for i in range(n)), 2, 0


def tesla_columns(n: int) -> tuple[str, str, int, int]:
    """A rule with many attributes."""
    names = [f"c{i}" for i in range(n)]
    given = ", ".join(f"A{c} = T0.{c}" for c in names)
    return "tesla", f"define R({', '.join(f'A{c}' for c in names)}) from T0(k = $k) where {given};\n", 1, n


def epl_rules(n: int) -> tuple[str, str, int, int]:
    """Sequences that share no types."""
    rule = "@Name('R{0}') select a.k as k from pattern [every a=T{0} -> b=T{1}(k=a.k)];\n"
    return "epl", "".join(rule.format(i, (i + 1) % n) for i in range(n)), n, 0


def epl_chain(n: int) -> tuple[str, str, int, int]:
    """Every statement reads what the one before inserts."""
    rules = "".join(f"insert into R{i} select a.k as k from pattern [every a=R{i - 1}];\n" for i in range(1, n))
    return "epl", "insert into R0 select a.k as k from pattern [every a=T0];\n" + rules, 1, 0


def epl_columns(n: int) -> tuple[str, str, int, int]:
    """A statement with many columns."""
    return "epl", f"select {', '.join(f'a.c{i} as A{i}' for i in range(n))} from pattern [every a=T0];\n", 1, n


def phenesthe_chain(n: int) -> tuple[str, str, int, int]:
    """Every state is made of the one before."""
    rules = "".join(f"state s{i}(K) : s{i - 1}(K) ⊔ s{i - 1}(K).\n" for i in range(1, n))
    return "phenesthe", "input event t0(K, V), t1(K, V).\nstate s0(K) : t0(K, V) ~> t1(K, W).\n" + rules, 2, 0


def ftl_types(n: int) -> tuple[str, str, int, int]:
    """Every trigger reads a table of its own."""
    tables = "".join(f"table T{i}(k int key, v int)\n" for i in range(n))
    return "ftl", tables + "".join(f"trigger R{i}: T{i}(1) = 3 until T{i}(1) = 9\n" for i in range(n)), n, 0


def esql_rules(n: int) -> tuple[str, str, int, int]:
    """Pipes of a type each."""
    return "esql", "".join(f"DEFINE R{i} AS T{i} WHERE v > 3.\n" for i in range(n)), n, 0


GROWING = (
    tesla_types, tesla_chain, tesla_recursive, tesla_subscribed, tesla_columns, epl_rules, epl_chain, epl_columns,
    phenesthe_chain, ftl_types, esql_rules,
)  # fmt: skip


def events(language: str, types: int, columns: int) -> pa.Table:
    """Some rows of every type."""
    name, key, value = ("t", "K", "V") if language == "phenesthe" else ("T", "k", "v")
    of_type = [f"{name}{i % types}" for i in range(2 * types + 8)]
    at = np.arange(len(of_type))
    more = {f"c{i}": at for i in range(columns)}
    return pa.table({"type": of_type, "time": at * 100, key: at % 3, value: at % 7, **more})


def asked(what: str, program: occurs.Program, table: pa.Table) -> Callable[[], Any]:
    """Something that users do with a program."""
    if what == "check":
        return program.check
    if what == "explain":
        return program.explain
    if what == "because":
        return lambda: list(program.detect(table, time_unit="ms", because=True).values())
    return lambda: list(program.detect(table, time_unit="ms").values())


@pytest.mark.parametrize("what", ["check", "explain", "detect", "because"])
@pytest.mark.parametrize("grown", GROWING, ids=lambda f: f.__name__)
def test_no_function_works_with_the_square_of_the_program(grown, what):
    def work(n: int) -> dict[str, int]:
        language, text, types, columns = grown(n)
        return lines(asked(what, occurs.parse(text, language=language), events(language, types, columns)))

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
    assert max(compared) <= 64


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
