"""A text that ends the language worker is left out, and no other one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from occurs.studio.blame import marks_of
from occurs.studio.http import Refused
from occurs.studio.languages import Languages
from occurs.studio.spawning import Processes
from occurs.studio.updates import Updates

Texts = dict[str, str]


class Ends(Languages):
    """Calls in the place of a worker: one with texts for which ``ends`` is true ends it."""

    def __init__(self, ends: Callable[[Mapping[str, str]], bool]):
        super().__init__(Path(), Updates(), Processes())
        self.ends = ends
        self.calls: list[set[str]] = []

    async def _ask(self, call: str, args: Any, texts: Mapping[str, str], key: str | None) -> msgspec.Raw:
        self.calls.append(set(texts))
        marks = marks_of(call, texts).values()
        if self.ends(texts):
            self._blame.ended(call, marks)
            raise Refused(503, "worker", "it stopped")
        self._blame.answered(call, marks)
        return msgspec.Raw(msgspec.json.encode({"problems": [], "outline": sorted(texts)}))

    def checked(self, texts: Texts) -> tuple[list[str], list[str]] | None:
        """The texts that are checked and those that are left out; None if the worker ended."""
        try:
            found = asyncio.run(self.check(texts, "me"))
        except Refused as error:
            return None if error.status == 503 else ([str(error)], [])
        assert {p.kind for p in found["problems"]} <= {"worker"}
        return msgspec.json.decode(found["outline"]), [p.file for p in found["problems"]]

    def asked(self, texts: Texts, /, **args: Any) -> list[str] | None:
        try:
            return list(msgspec.json.decode(asyncio.run(self.ask("hover", texts, **args)))["outline"])
        except Refused as error:
            return None if error.status == 503 else [str(error)]


def bad(texts: Mapping[str, str]) -> bool:
    return any("boom" in text for text in texts.values())


def test_of_a_program_that_was_answered_only_the_changed_text_is_left_out():
    worker = Ends(bad)
    good = {"a.epl": "1", "b.epl": "1"}
    assert worker.checked(good) == (["a.epl", "b.epl"], [])
    wrong = {**good, "b.epl": "boom"}
    assert [worker.checked(wrong) for _ in range(3)] == [None, None, (["a.epl"], ["b.epl"])]
    assert worker.checked({**wrong, "a.epl": "2"}) == (["a.epl"], ["b.epl"])
    assert worker.checked({**good, "b.epl": "mended"}) == (["a.epl", "b.epl"], [])


def test_of_a_program_that_was_never_answered_the_texts_are_tried_one_by_one():
    worker = Ends(bad)
    texts = {"a.epl": "1", "b.epl": "boom", "c.epl": "1", "d.epl": "boom"}
    found = [worker.checked(texts) for _ in range(3)]
    assert found == [None, None, (["a.epl", "c.epl"], ["b.epl", "d.epl"])]
    worker.calls.clear()
    assert worker.checked(texts) == (["a.epl", "c.epl"], ["b.epl", "d.epl"])
    assert worker.calls == [{"a.epl", "c.epl"}]
    assert worker.checked({**texts, "b.epl": "mended"}) == (["a.epl", "b.epl", "c.epl"], ["d.epl"])


def test_of_two_texts_that_do_harm_together_one_is_left_out():
    worker = Ends(lambda texts: {"a.epl", "b.epl"} <= texts.keys())
    texts = dict.fromkeys(("a.epl", "b.epl", "c.epl"), "1")
    assert [worker.checked(texts) for _ in range(3)] == [None, None, (["a.epl", "c.epl"], ["b.epl"])]


def test_a_text_that_is_mended_frees_those_that_were_suspected_with_it():
    worker = Ends(bad)
    texts = {"a.epl": "1", "b.epl": "boom"}
    assert [worker.checked(texts) for _ in range(2)] == [None, None]
    assert worker.checked({**texts, "b.epl": "2"}) == (["a.epl", "b.epl"], [])


def test_another_call_leaves_out_the_guilty_text_but_not_the_one_that_is_asked_about():
    worker = Ends(bad)
    texts = {"a.epl": "1", "b.epl": "boom"}
    found = [worker.asked(texts, texts=texts, needs=["a.epl"]) for _ in range(3)]
    assert found == [None, None, ["a.epl"]]
    worker.calls.clear()
    assert worker.asked(texts, texts=texts, needs=["b.epl"]) is None
    assert worker.asked(texts, texts=texts) is None, "a plan needs all texts"
    assert worker.calls == []
    assert worker.asked(texts, texts=texts, needs=[]) == ["a.epl"], "a look at events needs none"


def test_what_the_worker_refuses_is_nobodys_guilt():
    worker = Ends(bad)
    texts = {"a.epl": "1", "b.epl": "boom"}
    assert [worker.checked(texts) for _ in range(2)] == [None, None]
    ask = worker._ask

    async def ended(*arguments: Any) -> msgspec.Raw:
        raise Refused(503, "worker", "the server ends")

    worker._ask = ended  # type: ignore[method-assign]
    assert worker.checked(texts) is None
    worker._ask = ask  # type: ignore[method-assign]
    assert worker.checked(texts) == (["a.epl"], ["b.epl"])


def test_an_older_check_does_not_go_on_when_a_newer_one_came_between():
    worker = Ends(bad)
    texts = {"a.epl": "boom 1", "b.epl": "boom 2", "c.epl": "1"}
    assert [worker.checked(texts) for _ in range(2)] == [None, None]

    async def both() -> list[Any]:
        older = asyncio.create_task(worker.check(texts, "me"))
        ask, worker._ask = worker._ask, slow(worker._ask)  # type: ignore[method-assign]
        await asyncio.sleep(0)
        newer = asyncio.create_task(worker.check({"c.epl": "1"}, "me"))
        found = await asyncio.gather(older, newer, return_exceptions=True)
        worker._ask = ask  # type: ignore[method-assign]
        return found

    def slow(ask: Any) -> Any:
        async def asked(*arguments: Any) -> msgspec.Raw:
            await asyncio.sleep(0)
            return await ask(*arguments)

        return asked

    older, newer = asyncio.run(both())
    assert isinstance(older, Refused)
    assert older.error.kind == "cancelled"
    assert msgspec.json.decode(newer["outline"]) == ["c.epl"]


@pytest.mark.parametrize("call", ["check", "hover"])
def test_harm_is_of_one_call(call):
    worker = Ends(bad)
    texts = {"a.epl": "boom"}
    for _ in range(2):
        worker.checked(texts)
    assert (worker._blame.guilty(marks_of(call, texts)) == {"a.epl"}) == (call == "check")
