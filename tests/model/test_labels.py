"""Labels: the published function, canonical values, and that different events have different labels."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from occurs.errors import InputProblem
from occurs.model.labels import Labels, derived_labels, input_labels

M = (1 << 64) - 1


class Plain:
    """The function of the docstrings once more, one row at a time, in plain integers."""

    def __init__(self) -> None:
        self.hi, self.lo = 0x243F6A8885A308D3, 0x13198A2E03707344

    def word(self, a: int, b: int | None = None) -> None:
        z = self.hi ^ (a & M)
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M
        self.hi = ((z ^ z >> 31) + 0x9E3779B97F4A7C15) & M
        z = self.lo ^ ((a if b is None else b) & M)
        z = ((z ^ z >> 27) * 0x3C79AC492BA7B653) & M
        z = ((z ^ z >> 33) * 0x1C69B3F74AC4AE35) & M
        self.lo = ((z ^ z >> 27) + 0xD1B54A32D192ED03) & M

    @classmethod
    def digest(cls, text: str | bytes) -> Plain:
        data = text.encode() if isinstance(text, str) else text
        out = cls()
        out.word(len(data))
        for at in range(0, len(data), 8):
            out.word(int.from_bytes(data[at : at + 8].ljust(8, b"\0"), "little"))
        return out

    def text(self, text: str) -> None:
        d = self.digest(text)
        self.word(d.hi, d.lo)

    def value(self, name: str, value: object) -> None:
        if value is None or value != value:
            return
        if isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**63:
            value = int(value)
        match value:
            case bool():
                tag, a, b = 1, int(value), int(value)
            case int():
                tag, a, b = 2, value, value
            case float():
                tag, (a,) = 3, struct.unpack("<Q", struct.pack("<d", value))
                b = a
            case str():
                d = self.digest(value)
                tag, a, b = 4, d.hi, d.lo
            case _:
                raise AssertionError(value)
        d = self.digest(name)
        self.word(d.hi ^ tag, d.lo ^ tag)
        self.word(a, b)

    def hex(self) -> str:
        return f"{self.hi:016x}{self.lo:016x}"


def plain_input(type: str, time: int, sequence: int | None, attributes: dict[str, object], k: int = 0) -> str:
    out = Plain()
    out.text("occurs-label-1/input")
    out.text(type)
    out.word(time)
    out.value("sequence", sequence)
    for name in sorted(attributes):
        out.value(name, attributes[name])
    out.text("end")
    out.word(k)
    return out.hex()


def one(type: str = "A", time: int = 1, sequence: pa.Array | None = None, **attributes: pa.Array) -> str:
    return input_labels(type, np.array([time]), sequence, attributes).hex()[0].as_py()


def test_known_answers() -> None:
    assert one("A", 0) == "ac2b7c0c60ffd645db1ec6d20988c177"
    assert (
        one("Smoke", -5, pa.array([7]), Area=pa.array(["hall"]), Val=pa.array([45.5]))
        == "52d2c7148cd6f3e8533297ce923de74b"
    )
    parts = input_labels("A", np.array([0, 0]), None, {})
    assert derived_labels("tesla/Fire", [parts]).hex().to_pylist() == [
        "18992adaa469d854f2814600b52c508f",
        "004a06ca7ea2a1501fb53aa65a19239a",
    ]


def test_the_function_is_the_published_one() -> None:
    rng = np.random.default_rng(7)
    rows = [
        (
            int(rng.integers(-(2**40), 2**40)),
            None if rng.random() < 0.3 else int(rng.integers(0, 5)),
            {
                "b": None if rng.random() < 0.3 else bool(rng.integers(0, 2)),
                "i": None if rng.random() < 0.3 else int(rng.integers(-(2**62), 2**62)),
                "f": [None, float("nan"), -0.0, 3.0, 1e300, 0.1, -(2.0**63), 2.0**63][rng.integers(0, 8)],
                "ü": [None, "", "a", "12345678", "123456789", "a\0", "Ωmega" * 9][rng.integers(0, 7)],
            },
        )
        for _ in range(300)
    ]
    columns = {
        "ü": pa.array([a["ü"] for _, _, a in rows], pa.string()),
        "f": pa.array([a["f"] for _, _, a in rows], pa.float64()),
        "b": pa.array([a["b"] for _, _, a in rows], pa.bool_()),
        "i": pa.array([a["i"] for _, _, a in rows], pa.int64()),
    }
    sequence = pa.array([s for _, s, _ in rows], pa.int64())
    got = input_labels("Température", np.array([t for t, _, _ in rows]), sequence, columns).hex().to_pylist()
    assert got == [plain_input("Température", t, s, a) for t, s, a in rows]


def test_derived_is_the_published_one() -> None:
    a = input_labels("A", np.array([1, 2]), None, {})
    b = input_labels("B", np.array([3, 4]), None, {})
    got = derived_labels(b"rule", [a, b], np.array([9, 10])).hex().to_pylist()
    for row, time in enumerate((9, 10)):
        out = Plain()
        out.text("occurs-label-1/derived")
        out.text("rule")
        out.word(2)
        for part in (a, b):
            out.word(int(part.hi[row]))
            out.word(int(part.lo[row]))
        out.value("time", time)
        out.text("end")
        out.word(0)
        assert got[row] == out.hex()


@pytest.mark.parametrize(
    "same",
    [
        (
            pa.array([1]),
            pa.array([1.0]),
            pa.array([1], pa.int8()),
            pa.array([Decimal("1.00")]),
            pa.array([1], pa.uint64()),
        ),
        (pa.array([0.0]), pa.array([-0.0]), pa.array([0])),
        (pa.array([None], pa.int64()), pa.array([float("nan")]), pa.nulls(1), pa.array([None], pa.string())),
        (
            pa.array(["x"]),
            pa.array(["x"], pa.large_string()),
            pa.array(["x"], pa.string_view()),
            pa.array(["x"]).dictionary_encode(),
            pa.chunked_array([pa.array(["x"]), pa.array([], pa.string())]),
        ),
        (
            pa.array([dt.datetime(2024, 1, 5)], pa.timestamp("us")),
            pa.array([dt.datetime(2024, 1, 5)], pa.timestamp("ns", tz="UTC")),
            pa.array([dt.date(2024, 1, 5)]),
        ),
    ],
)
def test_equal_values_are_equal_however_they_are_stored(same: tuple[pa.Array, ...]) -> None:
    assert len({one(V=v) for v in same}) == 1


def test_a_missing_column_is_a_column_of_nulls() -> None:
    assert one() == one(V=pa.nulls(1), W=pa.array([None], pa.float64()))


def test_the_order_of_columns_is_of_no_account() -> None:
    x, y = pa.array([1]), pa.array(["b"])
    assert one(a=x, b=y) == one(b=y, a=x)


def test_what_differs_differs() -> None:
    v = pa.array([1])
    different = [
        one(),
        one("B"),
        one(time=2),
        one(sequence=v),
        one(V=v),
        one(W=v),
        one(V=pa.array([True])),
        one(V=pa.array(["1"])),
        one(V=pa.array([b"1"])),
        one(V=pa.array([1.5])),
        one(V=pa.array([1], pa.timestamp("us"))),
        one(V=v, W=v),
        one(a=pa.array(["xy"]), b=pa.array(["z"])),
        one(a=pa.array(["x"]), b=pa.array(["yz"])),
        one(a=pa.array(["x\0"])),
        one(a=pa.array(["x"])),
        one(a=pa.array([""])),
    ]
    assert len(set(different)) == len(different)


def test_equal_rows_are_counted_wherever_they_stand() -> None:
    v = pa.array([1, 2, 1, 1, 2])
    got = input_labels("A", np.zeros(5, np.int64), None, {"V": v}).hex().to_pylist()
    assert got == [plain_input("A", 0, None, {"V": x}, k) for x, k in zip(v.to_pylist(), (0, 0, 1, 2, 1))]
    assert len(set(got)) == 5


def test_slices_and_nulls_inside() -> None:
    texts = pa.array(["p", "alpha", None, "", "beta beta beta", "q"])
    for column in (texts, texts.dictionary_encode(), texts.cast(pa.large_string())):
        got = input_labels("A", np.arange(4), None, {"s": column.slice(1, 4)}).hex().to_pylist()
        assert got == [plain_input("A", t, None, {"s": s}) for t, s in enumerate(texts.to_pylist()[1:5])]


@pytest.mark.slow
def test_a_million_values_have_a_million_labels() -> None:
    n = 1_000_000
    rng = np.random.default_rng(3)
    labels = input_labels("A", rng.integers(0, 50, n), None, {"V": pa.array(rng.integers(0, 2**62, n))})
    for lane in (labels.hi, labels.lo):
        # one lane alone would already tell them apart
        assert len(np.unique(lane)) == n
        assert abs(np.unpackbits(lane.view(np.uint8)).mean() - 0.5) < 1e-3
    crossed = derived_labels("d", [labels.take(np.arange(n) % 1000), labels.take(np.arange(n) // 1000)])
    assert len(np.unique(crossed.hi)) == n
    swapped = derived_labels("d", [labels.take(np.arange(n) // 1000), labels.take(np.arange(n) % 1000)])
    assert int(crossed.same(swapped).sum()) == 1000


def test_hex_reads_back() -> None:
    labels = input_labels("A", np.arange(1000), None, {})
    text = labels.hex()
    assert text.type == pa.string()
    assert set(map(len, text.to_pylist())) == {32}
    assert Labels.from_column(text).same(labels).all()
    assert Labels.from_column(pa.chunked_array([text.slice(10, 5), text.slice(3, 2)])).hex()[5] == text[3]


def test_labels_of_the_input_may_be_anything() -> None:
    texts = ["order-1", "order-2", "0" * 32, "0" * 31, "0" * 33, "A" * 32, ""]
    got = Labels.from_column(pa.array(texts))
    assert got.hex()[2].as_py() == "0" * 32
    assert len(set(got.hex().to_pylist())) == len(texts)
    assert got.same(Labels.from_column(pa.array(texts).dictionary_encode())).all()
    assert len(set(Labels.from_column(pa.array([1, 2, 3])).hex().to_pylist())) == 3


def test_a_missing_label_is_a_problem_of_the_input() -> None:
    with pytest.raises(InputProblem) as caught:
        Labels.from_column(pa.array(["a", None]))
    assert (caught.value.kind, caught.value.row) == ("bad-value", 1)


def test_no_rows() -> None:
    empty = input_labels("A", np.empty(0, np.int64), pa.array([], pa.int64()), {"V": pa.array([], pa.string())})
    assert len(empty) == 0
    assert empty.hex().type == pa.string()
    assert len(derived_labels("d", [empty])) == 0
    assert len(Labels.concat([])) == 0
    assert len(Labels.from_column(pa.chunked_array([], pa.string()))) == 0
