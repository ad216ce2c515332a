"""A follower that is killed while it starts: the same command starts again, whatever was on the disk by then."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from occurs.errors import CheckpointProblem, UsageProblem
from occurs.follow.checkpoint import Checkpoint
from occurs.follow.sinks import Files

from .test_follow_torn import ENTRY


class Killed(BaseException):
    """The process is gone: nothing of it runs any more."""


def start(place: Path) -> str:
    """What a follower puts on the disk before its first micro-batch; the identity of its checkpoint."""
    checkpoint = Checkpoint(str(place / "cp"))
    try:
        for option in ("--out", "--late"):
            Files(str(place / option[2:]), "jsonl", checkpoint.id, option)
        checkpoint.settle(ENTRY)
    finally:
        checkpoint.close()  # the system gives a lock back
    return checkpoint.id


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch, place: Path, *, after: bool) -> bool:
    """Start, and die before or after the n-th call that changes the disk.  Was there such a call?"""
    left = step

    def counted(call: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object, **more: object) -> object:
            nonlocal left
            left -= 1
            if left == 0 and not after:
                raise Killed
            found = call(*arguments, **more)
            if left == 0:
                raise Killed
            return found

        return run

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", counted(os.replace))
        patch.setattr(os, "link", counted(os.link))
        patch.setattr(os, "mkdir", counted(os.mkdir))
        # a process that is killed does not tidy up
        patch.setattr(os, "unlink", lambda path: None)
        try:
            start(place)
        except Killed:
            return True
    return False


@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_step_of_its_start_it_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    step = 0
    for step in range(1, 100):
        place = tmp_path / f"{step}"
        place.mkdir()
        if not killed_at(step, monkeypatch, place, after=after):
            break
        identity = start(place)
        assert start(place) == identity
    assert step > 7  # three directories, the identity, two claims, what was settled


def test_what_another_checkpoint_has_claimed_stays_refused(tmp_path: Path) -> None:
    start(tmp_path)
    other = Checkpoint(str(tmp_path / "other"))
    with pytest.raises(UsageProblem, match="output of another checkpoint"):
        Files(str(tmp_path / "out"), "jsonl", other.id, "--out")
    other.close()


def test_a_directory_with_something_else_stays_refused(tmp_path: Path) -> None:
    (tmp_path / "cp").mkdir()
    (tmp_path / "cp" / "thesis.txt").touch()
    with pytest.raises(CheckpointProblem, match="is not an Occurs checkpoint"):
        Checkpoint(str(tmp_path / "cp"))
