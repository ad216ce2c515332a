"""The laws on many random programs of one language: ``python -m tests.laws LANGUAGE PROGRAMS [FIRST]``.

Run it in the root of the repository.  ``meaning-LANGUAGE`` looks only at what the engine answers: all at once it equals
the reference, and cut at random, with or without a restart at each cut, it equals the answer given at once.

Prints how many programs kept the laws, and the seed and the error of each that did not (exit status 1 then).
"""

from __future__ import annotations

import random
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.generators import random_epl, random_logic, random_match_recognize, random_phenesthe, random_tesla
from tests.generators.random_pipes import PROCESSORS
from tests.laws import contract, epl, logic, match_recognize, why
from tests.laws import phenesthe as laws_of_phenesthe
from tests.laws.thresholds import as_if_large

TESTS = Path(__file__).parents[1]
#: programs between two lines of progress
SOMETIMES = 250


def tesla(seed: int) -> None:
    contract.all_laws(random_tesla.random_program(random.Random(seed)), random.Random(seed))


def epl_patterns(seed: int) -> None:
    make = random_epl.random_core if seed % 2 else random_epl.random_epl
    epl.all_laws(make(random.Random(seed)), random.Random(seed))


def triggers(seed: int) -> None:
    make = random_logic.random_core if seed % 2 else random_logic.random_logic
    logic.all_laws(make(random.Random(seed)), random.Random(seed))


def row_patterns(seed: int) -> None:
    match_recognize.all_laws(random_match_recognize.rows_by(seed), random.Random(seed))


def phenesthe() -> Callable[[int], None]:
    sys.path.append(str(TESTS / "languages" / "phenesthe"))
    from test_phenesthe_engine_random import check

    return check


def meaning_of_phenesthe() -> Callable[[int], None]:
    sys.path.append(str(TESTS / "languages" / "phenesthe"))
    from engine_runs import Engine

    def check(seed: int) -> None:
        rng = random.Random(seed)
        subject = laws_of_phenesthe.Subject(random_phenesthe.random_program(rng), Engine)
        laws_of_phenesthe.meaning(subject)
        laws_of_phenesthe.restart(subject, rng)

    return check


def meaning_of_tesla(seed: int) -> None:
    rng = random.Random(seed)
    subject = contract.Subject(random_tesla.random_program(rng))
    contract.meaning(subject)
    contract.cutting(subject, rng)
    contract.restart(subject, rng)


def meaning_of_epl(seed: int) -> None:
    rng = random.Random(seed)
    case = (random_epl.random_core if seed % 2 else random_epl.random_epl)(rng)
    subject = epl.Subject(case)
    epl.meaning(subject, case)
    epl.cutting(subject, rng)
    epl.restart(subject, rng)


def meaning_of_triggers(seed: int) -> None:
    rng = random.Random(seed)
    subject = logic.Subject((random_logic.random_core if seed % 2 else random_logic.random_logic)(rng))
    logic.meaning(subject)
    contract.cutting(subject, rng)
    logic.restart(subject, rng)


def meaning_of_row_patterns(seed: int) -> None:
    rng = random.Random(seed)
    subject = match_recognize.RowSubject(random_match_recognize.rows_by(seed))
    match_recognize.meaning(subject)
    contract.cutting(subject, rng)
    contract.restart(subject, rng)


def pipes() -> Callable[[int], None]:
    sys.path.append(str(TESTS / "pipes"))
    from test_pipes_laws import check

    return lambda seed: check(PROCESSORS[seed % len(PROCESSORS)], seed)


LANGUAGES: dict[str, Callable[[], Callable[[int], Any]]] = {
    "tesla": lambda: tesla,
    "epl": lambda: epl_patterns,
    "logic": lambda: triggers,
    "match_recognize": lambda: row_patterns,
    "phenesthe": phenesthe,
    "pipes": pipes,  # a check of pipes is of their meaning, over cuts and restarts
    "meaning-tesla": lambda: meaning_of_tesla,
    "meaning-epl": lambda: meaning_of_epl,
    "meaning-logic": lambda: meaning_of_triggers,
    "meaning-match_recognize": lambda: meaning_of_row_patterns,
    "meaning-phenesthe": meaning_of_phenesthe,
    **{f"why-{name}": partial(partial, why.check, name) for name in why.LANGUAGES},
    **{f"oracle-{name}": partial(partial, why.oracle, name) for name in why.LANGUAGES},
}


def main(language: str, programs: str, first: str = "1000000") -> int:
    check, wrong, asked, reasons, began = LANGUAGES[language](), 0, 0, 0, time.monotonic()
    for seed in range(int(first), int(first) + int(programs)):
        try:
            with as_if_large(seed):
                result = check(seed)
            asked += not isinstance(result, int) or result >= 0
            reasons += isinstance(result, int) and result > 0
        except (Exception, pytest.fail.Exception):  # whatever it is, the next program is tried, too
            wrong += 1
            print(f"{language} seed {seed}:\n{traceback.format_exc(limit=-3)}", flush=True)
        done = seed + 1 - int(first)
        if done % SOMETIMES == 0:
            print(f"{done} programs, {wrong} of them wrong ({time.process_time():.0f} CPU-seconds)", flush=True)
    took = time.monotonic() - began
    kept = f"{int(programs) - wrong} of {programs} random programs keep the laws"
    some = f", {reasons} of these have reasons" if language.startswith(("why-", "oracle-")) else ""
    print(f"{language}: {kept}, {asked} of them could be looked at{some} ({took:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
