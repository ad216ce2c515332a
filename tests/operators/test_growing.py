"""Arrays and texts that grow in place: the same values as copies, whoever goes on from them, and few copies."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from occurs.model.types import Type
from occurs.operators import growing
from occurs.operators.columns import Column
from occurs.operators.growing import SHORT, Room, Texts, behind, counting


def test_new_entries_are_written_into_the_room_of_the_past() -> None:
    past = behind(np.arange(SHORT), np.arange(10))
    before = Room.moved
    more = behind(past, np.arange(5))
    assert Room.moved == before
    assert np.shares_memory(past, more)
    np.testing.assert_array_equal(more, [*range(SHORT), *range(10), *range(5)])


def test_two_that_go_on_from_one_past_do_not_see_each_other() -> None:
    past = behind(np.arange(SHORT), np.arange(10))
    one, other = behind(past, np.full(5, 1)), behind(past, np.full(7, 2))
    np.testing.assert_array_equal(one[-6:], [9, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(other[-8:], [9, 2, 2, 2, 2, 2, 2, 2])
    np.testing.assert_array_equal(past[-2:], [8, 9])


def test_a_past_that_lost_its_end_does_not_write_over_it() -> None:
    whole = behind(np.arange(SHORT), np.arange(10))
    behind(whole[:-3], np.full(2, -1))
    assert whole[-3:].tolist() == [7, 8, 9]


def test_numbers_are_not_written_into_the_room_of_others() -> None:
    floats = behind(np.arange(2.0 * SHORT), np.arange(1.0))
    bits = behind(floats.view(np.int64), np.arange(2))
    assert bits[-2:].tolist() == [0, 1]
    assert bits[:3].view(np.float64).tolist() == [0.0, 1.0, 2.0]
    assert behind(floats, np.ones(1))[-2:].tolist() == [0.0, 1.0]


def test_few_entries_of_a_large_room_get_a_small_one() -> None:
    whole = behind(np.arange(64 * SHORT), np.arange(10))
    left = behind(whole[-2 * SHORT :], np.arange(10))
    assert left.base is not None
    assert left.base.nbytes < whole.nbytes / 8


def test_entries_moved_are_at_most_twice_those_added() -> None:
    held, before = behind(np.arange(2 * SHORT), np.arange(1)), Room.moved
    for _ in range(2_000):
        held = behind(held[20:], np.arange(20))
    assert 0 < Room.moved - before <= 2 * 40_000


def test_counted_numbers() -> None:
    assert counting(3).tolist() == [0, 1, 2]
    assert len(counting(5 * SHORT)) == 5 * SHORT
    assert counting(5 * SHORT)[-1] == 5 * SHORT - 1


texts = st.lists(st.none() | st.text("aßé日", max_size=5), max_size=6)


@given(st.lists(st.tuples(texts, st.integers(0, 5)), min_size=1, max_size=8), st.booleans())
def test_texts_grow_as_a_list_does(steps: list[tuple[list[str | None], int]], dictionary: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "SHORT", 2)
        patch.setattr("occurs.operators.columns.SHORT", 2)
        held, wanted = Column.of(pa.array([], pa.string()), Type.STRING), []
        for new, gone in steps:
            array = pa.array(new, pa.string())
            column = Column.of(array.dictionary_encode() if dictionary else array, Type.STRING)
            held = column.behind(held)
            wanted += new
            for array in (held.arrow, pc.ascii_lower(held.arrow), pc.ascii_lower(held.slice(1).arrow)):
                array.validate(full=True)
            assert held.arrow.to_pylist() == pc.ascii_lower(held.arrow).to_pylist() == wanted
            held, wanted = held.slice(min(gone, len(held))), wanted[gone:]


@pytest.mark.parametrize("text", ["some text", ""])
def test_bytes_of_texts_that_are_gone_go_too(text: str) -> None:
    held = Texts.of(pa.array([text] * 2_000))
    for _ in range(200):
        grown = held.behind(Texts.of(pa.array([text] * 100)))
        assert grown is not None
        held = grown.slice(100, None)
    assert held.array().to_pylist() == [text] * 2_000
    assert len(held.data) <= 4 * len(text) * 2_000
    assert len(held.offsets) <= 4 * 2_000


def test_more_bytes_than_offsets_can_count_are_left_to_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "_MOST", 20)
    assert Texts.of(pa.array(["twelve bytes"])).behind(Texts.of(pa.array(["nine more"]))) is None
    past = Texts.of(pa.array(["twelve bytes", "eight by"])).slice(1, None)
    grown = past.behind(Texts.of(pa.array(["twelve more."])))
    assert grown is not None
    assert grown.array().to_pylist() == ["eight by", "twelve more."]
