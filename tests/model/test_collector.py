"""Work without Python's collector of cycles, and what it leaves."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from occurs.model import collector
from occurs.model.collector import uncollected


@pytest.fixture
def thawed() -> Iterator[None]:
    """Nothing is frozen, as in the process of a user; the tests freeze what they have loaded."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()


def young(one: object) -> bool:
    return any(o is one for n in (0, 1) for o in gc.get_objects(generation=n))


@pytest.mark.usefixtures("thawed")
@pytest.mark.parametrize(("most", "old"), [(10, True), (1_000_000, False)])
def test_many_objects_are_old_at_once(monkeypatch: pytest.MonkeyPatch, most: int, old: bool) -> None:
    monkeypatch.setattr(collector, "MANY", most)
    gc.collect()
    with uncollected():
        assert not gc.isenabled()
        made = [[n] for n in range(500)]
    assert gc.isenabled()
    assert young(made[0]) == (not old)
    assert gc.get_freeze_count() == 0


@pytest.mark.usefixtures("thawed")
def test_what_the_user_froze_stays_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "MANY", 10)
    gc.freeze()
    try:
        count = gc.get_freeze_count()
        with uncollected():
            made = [[n] for n in range(500)]
        # to thaw them would leave none; some of other tests may be freed meanwhile, by their threads
        assert count // 2 < gc.get_freeze_count() <= count
        assert len(made) == 500
    finally:
        gc.unfreeze()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
