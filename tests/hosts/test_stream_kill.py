"""Drivers that are killed while they follow a directory, and started again from their checkpoint, end with the batch
answer: nothing lost, nothing twice.  By hand: ``PYTHONPATH=tests python tests/hosts/test_stream_kill.py ROUNDS``."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from filestream import Folder, cut, disordered
from killdriver import DELAY, OPTIONS, lines
from streamprograms import EVERYTHING, events

import occurs
from processes import kill

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.spark]
FILES = 6
#: seconds after which something hangs
PATIENCE = 600


@dataclass
class Round:
    """One directory, followed by drivers that are killed.  ``log``: what happened."""

    place: Path
    seed: int
    log: list[str] = field(default_factory=list)

    def prepare(self) -> Counter[str]:
        """Write rules and input; the batch answer."""
        table = disordered(events(160, self.seed), DELAY, self.seed)
        folder = Folder(self.place / "in")
        for part in cut(table, FILES):
            folder.put(part)
        (self.place / "rules.tesla").write_text(EVERYTHING)
        found = occurs.parse(EVERYTHING).detect(table, **OPTIONS)
        return Counter(lines({t: found.arrow(t) for t in found}))

    def done(self) -> int:
        """How many micro-batches have their file."""
        return len(list((self.place / "out").glob("*.jsonl")))

    def drive(self, rng: random.Random | None) -> bool:
        """Start a driver; with ``rng`` kill it at some point.  Has it come to its end?"""
        (self.place / "started").unlink(missing_ok=True)
        script = Path(__file__).with_name("killdriver.py")
        begun, before = time.monotonic(), self.done()
        with open(self.place / "driver.log", "ab") as log:
            driver = subprocess.Popen(
                [sys.executable, str(script), str(self.place)], start_new_session=True, stdout=log, stderr=log
            )
            try:
                if rng is not None:
                    self._wait_for_the_point(driver, rng, before)
                else:
                    driver.wait(PATIENCE)
            finally:
                ended = driver.poll() is not None
                kill(driver)
        spent = time.monotonic() - begun
        what = "ended" if ended else "killed"
        self.log.append(f"{what} after {spent:.1f} s, micro-batches {before} to {self.done()}")
        assert not ended or driver.returncode == 0, self._said()
        return ended

    def _said(self) -> str:
        """What went wrong, out of all that a driver has said: the plans of Spark are long."""
        said = (self.place / "driver.log").read_text().splitlines()
        told = [line[:500] for line in said if re.search(r"Error|Exception|Caused by", line)]
        return "\n".join([*self.log, *dict.fromkeys(told)][-60:])

    def _wait_for_the_point(self, driver: subprocess.Popen[bytes], rng: random.Random, before: int) -> None:
        """Some time after the query was started, or after some more micro-batches."""
        more = rng.choice((0, 1, 1, 2))
        limit = time.monotonic() + PATIENCE

        def reached() -> bool:
            return (self.place / "started").exists() if more == 0 else self.done() >= before + more

        while driver.poll() is None and not reached():
            assert time.monotonic() < limit, "the driver hangs"
            time.sleep(0.02)
        until = time.monotonic() + rng.random() * (5 if more == 0 else 2)
        while driver.poll() is None and time.monotonic() < until:
            time.sleep(0.02)


def run_round(place: Path, seed: int, kills: int) -> list[str]:
    """The log of a round; AssertionError if the answer is not that of the batch."""
    one = Round(place, seed)
    wanted = one.prepare()
    rng = random.Random(seed)
    for _ in range(kills):
        if one.drive(rng):
            break
    if not (place / "done").exists():
        assert one.drive(None)
    assert not list((place / "out").glob("*.differs")), "a micro-batch gave something else when it was run again"
    found = Counter(line for file in (place / "out").glob("*.jsonl") for line in file.read_text().splitlines())
    lost, more = wanted - found, found - wanted
    one.log.append(f"{found.total()} of {wanted.total()} detections, {lost.total()} lost, {more.total()} too many")
    assert found == wanted, "\n".join(one.log)
    return one.log


def test_killed_drivers(tmp_path: Path) -> None:
    log = run_round(tmp_path, 1, 2)
    assert sum(text.startswith("killed") for text in log) >= 2, log


def main(rounds: int, kills: int = 3) -> int:
    """Rounds with seeds of their own; prints what happened."""
    failed = 0
    for seed in range(100, 100 + rounds):
        with tempfile.TemporaryDirectory() as place:
            try:
                log = run_round(Path(place), seed, kills)
            except AssertionError as problem:
                failed += 1
                log = ["FAILED", str(problem)]
        print(f"round {seed - 99}: " + "; ".join(log), flush=True)
    print(f"{rounds} rounds, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
