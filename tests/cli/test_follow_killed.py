"""``occurs follow`` of a program in five languages, killed with -9 at any instant and started again under any seed,
writes what ``occurs run`` finds: nothing lost, nothing twice, every label the same.

By hand, with a log: ``PYTHONPATH=tests:. python tests/cli/test_follow_killed.py ROUNDS [KILLS [SEED]]``.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from benchmarks import five

from occurs.connect.manifests import published
from occurs.connect.store import Disk
from processes import kill

pytestmark = pytest.mark.slow
OPTIONS = ("--time-unit", "ms", "--label")
FILES = 4
#: for programs that live for a minute, as the tests have it
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: seconds after which something hangs
PATIENCE = 600


def rows(paths: Iterable[Path]) -> Counter[str]:
    """Detections with their labels, as text."""
    texts = (line for path in paths for line in path.read_text().splitlines())
    return Counter(json.dumps(json.loads(text), sort_keys=True) for text in texts)


def numbers(folder: Path) -> set[int]:
    """The micro-batches that Spark has noted in ``offsets`` or ``commits``."""
    return {int(p.name) for p in folder.glob("[0-9]*") if p.name.isdigit()} if folder.is_dir() else set()


@dataclass
class Round:
    """One directory that is followed, by one command that is killed again and again.

    ``addressed``: the checkpoint and the output are at addresses that only Spark reaches; ``log``: what happened.
    """

    place: Path
    seed: int
    addressed: bool = False
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        five.write_rules(self.place)
        lines = five.lines(self.seed, 400)
        size = -(-len(lines) // FILES)
        self.coming = [five.text(lines[at : at + size]) for at in range(0, len(lines), size)]
        (self.place / "in").mkdir()
        (self.place / "all.csv").write_text(five.text(lines))
        self.come()
        if self.addressed:
            (self.place / "there").mkdir()
            mount = f"spark.hadoop.fs.viewfs.mounttable.round.link./there file://{self.place}/there"
            (self.place / "spark-defaults.conf").write_text(f"{mount}\n")

    @property
    def kept(self) -> Path:
        """Where the checkpoint and the output are."""
        return self.place / "there" if self.addressed else self.place

    def written(self) -> Counter[str]:
        """The detections in the output."""
        out = self.kept / "out"
        if self.addressed:
            return rows(out / name for name in published(Disk(out)) or ())
        return rows(out.glob("batch-*.jsonl"))

    def occurs(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "occurs.cli", *arguments[:1], *five.RULES, *arguments[1:], *OPTIONS]

    def wanted(self) -> Counter[str]:
        """What a batch finds."""
        command = self.occurs("run", "--host", "local", "--events", "all.csv", "--out", "run.jsonl")
        subprocess.run(command, cwd=self.place, check=True, capture_output=True)
        return rows([self.place / "run.jsonl"])

    def come(self) -> None:
        """Move the next file in."""
        if self.coming:
            name = f"{FILES - len(self.coming)}.csv"
            (self.place / name).write_text(self.coming.pop(0))
            os.replace(self.place / name, self.place / "in" / name)

    # -- instants ------------------------------------------------------------------------------------------------------
    @property
    def offsets(self) -> set[int]:
        return numbers(self.kept / "cp" / "spark" / "offsets")

    @property
    def commits(self) -> set[int]:
        return numbers(self.kept / "cp" / "spark" / "commits")

    def instant(self, name: str) -> Callable[[], bool]:
        """Has the instant of this name come?"""
        files, offsets, commits = self.files(), self.offsets, self.commits
        out, checkpoint = self.kept / "out", self.kept / "cp"
        instants: dict[str, Callable[[], bool]] = {
            "the checkpoint is made": checkpoint.exists,
            "the output is claimed": (out / ".occurs-follow.json").exists,
            "the checkpoint is settled": lambda: "rules" in _text(checkpoint / "occurs.json"),
            "a micro-batch begins": lambda: self.offsets > offsets,
            "a file is written": lambda: self.files() > files,
            "a micro-batch is done": lambda: self.commits > commits,
        }
        return instants[name]

    def files(self) -> set[str]:
        """Of the output, half-written ones too."""
        out = self.kept / "out"
        return {name for name in os.listdir(out) if "batch-" in name} if out.is_dir() else set()

    # -- processes -----------------------------------------------------------------------------------------------------
    def drive(self, name: str | None) -> None:
        """Start the command; kill it at an instant, or without one let it come to its end."""
        seed = self.rng.randrange(1 << 32)
        base = "viewfs://round/there/" if self.addressed else ""
        asked = ("--events", "in", "--checkpoint", f"{base}cp", "--out", f"{base}out", "--trigger", "100ms")
        command = self.occurs("follow", *asked, *(["--ended"] if name is None else []))
        environment = {"SPARK_SUBMIT_OPTS": JAVA, **os.environ, "PYTHONHASHSEED": str(seed)}
        if self.addressed:
            environment["SPARK_CONF_DIR"] = str(self.place)
        begun = time.monotonic()
        with open(self.place / "log", "ab") as log:
            driver = subprocess.Popen(
                command, cwd=self.place, env=environment, start_new_session=True, stdout=log, stderr=log
            )
            try:
                if name is None:
                    driver.wait(PATIENCE)
                else:
                    self._wait(driver, self.instant(name))
            finally:
                ended = driver.poll()
                kill(driver)
        spent = time.monotonic() - begun
        state = f"offsets {len(self.offsets)}, commits {len(self.commits)}, files {len(self.files())}"
        what = "ended" if name is None else f"killed when {name}"
        self.log.append(f"{what} (seed {seed}, {spent:.1f} s, {state})")
        assert ended == (0 if name is None else None), self._said()

    def _wait(self, driver: subprocess.Popen[bytes], reached: Callable[[], bool]) -> None:
        limit, next_file = time.monotonic() + PATIENCE, time.monotonic()
        while driver.poll() is None and not reached():
            assert time.monotonic() < limit, f"the follower hangs: {self._said()}"
            if self.commits and self.commits == self.offsets and time.monotonic() > next_file:
                self.come()
                next_file = time.monotonic() + 1
            time.sleep(0.001)
        until = time.monotonic() + self.rng.choice((0, self.rng.random() * 0.05, self.rng.random()))
        while driver.poll() is None and time.monotonic() < until:
            time.sleep(0.001)

    def _said(self) -> str:
        said = (self.place / "log").read_text(errors="replace").splitlines()
        return "\n".join([*self.log, *said[-40:]])


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def run_round(place: Path, seed: int, instants: Iterable[str], *, addressed: bool = False) -> list[str]:
    """The log of a round; AssertionError if the answer is not that of ``occurs run``."""
    one = Round(place, seed, addressed)
    wanted = one.wanted()
    types = Counter(json.loads(text)["type"] for text in wanted)
    assert len(types) == 13, types
    for name in instants:
        one.drive(name)
    while one.coming:
        one.come()
    one.drive(None)
    found = one.written()
    lost, more = wanted - found, found - wanted
    one.log.append(f"{found.total()} of {wanted.total()} detections, {lost.total()} lost, {more.total()} too many")
    text = (place / "log").read_text(errors="replace")
    assert "changed-program" not in text, text
    assert found == wanted, "\n".join([*one.log, *map(str, lost), *map(str, more)])
    return one.log


EARLY = ("the checkpoint is made", "the output is claimed", "the checkpoint is settled")
LATE = ("a micro-batch begins", "a file is written", "a micro-batch is done")


def drawn(seed: int, kills: int) -> list[str]:
    """The instants of a round: one before the first micro-batch, the others in micro-batches."""
    rng = random.Random(seed)
    return [rng.choice(EARLY), *(rng.choice(LATE) for _ in range(kills - 1))]


@pytest.mark.parametrize(
    ("seed", "instants"),
    [
        pytest.param(2, ("a file is written",), id="at the output"),
        pytest.param(
            1, ("the output is claimed", "a micro-batch begins"), id="before anything", marks=pytest.mark.long
        ),
        *(pytest.param(n, drawn(n, 3), id=f"{n}", marks=pytest.mark.long) for n in range(3, 8)),
    ],
)
def test_killed_and_started_again(tmp_path: Path, seed: int, instants: Any) -> None:
    run_round(tmp_path, seed, instants)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
def test_killed_and_started_again_at_an_address(tmp_path: Path, seed: int) -> None:
    run_round(
        tmp_path, seed, ("a file is written", "a micro-batch is done") if seed == 2 else drawn(seed, 3), addressed=True
    )


def main(rounds: int, kills: int = 3, first: int = 100) -> int:
    """Rounds with seeds of their own, from ``first`` on; prints what happened."""
    failed = 0
    for seed in range(first, first + rounds):
        with tempfile.TemporaryDirectory() as place:
            try:
                log = run_round(Path(place), seed, drawn(seed, kills))
            except AssertionError as problem:
                failed += 1
                log = ["FAILED", str(problem)]
        print(f"round {seed - first + 1}: " + "; ".join(log), flush=True)
    print(f"{rounds} rounds, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
