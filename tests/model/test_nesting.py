"""How deep JSON text is nested: measured on whole lines, against a loop over the characters."""

from __future__ import annotations

import random

import pytest

from occurs.model.nesting import DEEPEST, TooDeep, depths, read_json, too_deep

MARKS = ["[", "[", "{", "]", "}", '"', '"', '\\"', "\\\\", "é", ","]


def plainly(text):
    depth = deepest = at = 0
    quoted = False
    while at < len(text):
        c = text[at]
        if c == "\\":
            at += 1
        elif c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c in "[{") - (c in "]}")
            deepest = max(deepest, depth)
        at += 1
    return deepest


def test_the_depth_of_lines_is_what_a_loop_over_characters_finds():
    draw = random.Random(1)
    for _ in range(500):
        lines = ["".join(draw.choice(MARKS) for _ in range(draw.randrange(15))) for _ in range(5)]
        got = depths("".join(f"{line}\n" for line in lines).encode()).tolist()
        assert got == [plainly(line) for line in lines], lines


@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "}"), ("[\n", "]")])
def test_json_is_parsed_up_to_the_bound_and_no_further(opening, closing):
    def nested(depth):
        return opening * depth + "1" + closing * depth

    read_json(nested(DEEPEST))
    for depth in (DEEPEST + 1, 2_000, 100_000):
        for text in (nested(depth), nested(depth).encode(), opening * depth):
            assert too_deep(text)
            with pytest.raises(TooDeep, match="more than 100 levels deep"):
                read_json(text)


def test_brackets_in_texts_and_side_by_side_do_not_count():
    assert read_json('["' + "[" * 2_000 + '"]') == ["[" * 2_000]
    assert read_json('["\\"' + "[" * 2_000 + '"]') == ['"' + "[" * 2_000]
    assert len(read_json("[" + ",".join(["[[]]"] * 2_000) + "]")) == 2_000
