"""The picture: bars, marks, labels and arrows are where they belong."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pytest

from occurs.model.colours import COLOURS
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.plot.png import png
from occurs.plot.timeline import Timeline

matplotlib = pytest.importorskip("matplotlib", reason="PNG needs the extra `plot`")

TICKS = TimeKind(False, None)


def pixels(data: bytes) -> np.ndarray:
    from matplotlib.image import imread

    return (imread(io.BytesIO(data))[:, :, :3] * 255).round().astype(int)


def places(image: np.ndarray, colour: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the pixels of a colour."""
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return np.nonzero((np.abs(image - wanted) <= 1).all(axis=2))


def test_a_bar_is_as_long_as_it_lasts():
    long = pa.table({"time": [0], "end": [80]})
    short = pa.table({"time": [60], "end": [80]})
    image = pixels(png(Timeline.of({"long": long, "short": short}, TICKS).picture()))
    bars = [np.ptp(places(image, c)[1][places(image, c)[0] > image.shape[0] / 3]) for c in COLOURS[:2]]
    assert bars[0] / bars[1] == pytest.approx(4, rel=0.02)
    # the lanes are in order
    assert places(image, COLOURS[0])[0].max() < places(image, COLOURS[1])[0].max()


def test_what_still_holds_reaches_to_the_border_and_has_a_head():
    tables = {"s": pa.table({"time": [0, 90], "end": [30, None]}), "e": pa.table({"time": [100]})}
    image = pixels(png(Timeline.of(tables, TICKS).picture()))
    closed = {"s": pa.table({"time": [0, 90], "end": [30, 95]}), "e": pa.table({"time": [100]})}
    other = pixels(png(Timeline.of(closed, TICKS).picture()))
    below = slice(image.shape[0] // 4, None)
    assert places(image[below], COLOURS[0])[1].max() > places(other[below], COLOURS[0])[1].max() + 20
    dark = [(im[:, -80:].sum(axis=2) < 150).sum() for im in (image, other)]
    assert dark[0] > dark[1]


def test_a_picture_grows_with_its_lanes_and_says_what_it_leaves_out(monkeypatch):
    tables = {"e": pa.table({"time": list(range(40)), "k": list(range(40))})}
    few = pixels(png(Timeline.of(tables, TICKS, key="k", end=4).picture()))
    all_ = pixels(png(Timeline.of(tables, TICKS, key="k").picture()))
    assert all_.shape[0] > 5 * few.shape[0]
    assert not len(places(few, "#a40000")[0])
    monkeypatch.setattr("occurs.plot.timeline.PICTURE_LANES", 3)
    told = pixels(png(Timeline.of(tables, TICKS, key="k").picture()))
    assert len(places(told, "#a40000")[0]) > 50


def labels(tables: dict[str, pa.Table], monkeypatch: pytest.MonkeyPatch, **options: object) -> list[tuple[str, object]]:
    """The text that is drawn within the axes, with the rectangle it takes."""
    from matplotlib.text import Annotation

    drawn: list[tuple[str, object]] = []
    real = Annotation.draw

    def draw(self: Annotation, renderer: object) -> None:
        real(self, renderer)
        drawn.append((self.get_text(), self.get_window_extent(renderer)))

    monkeypatch.setattr(Annotation, "draw", draw)
    png(Timeline.of(tables, TIMESTAMP, **options).picture())
    return drawn


def test_labels_that_have_room_are_there_and_none_overlap(monkeypatch):
    rng = np.random.default_rng(2)
    start = np.cumsum(rng.integers(1, 60, 25)) * 60_000_000 + 1_717_200_000_000_000
    end = np.append(start[1:], start[-1] + 10)
    stamp = pa.timestamp("us", tz="UTC")
    names = [f"harbour {i}" for i in range(25)]
    times, ends = pa.array(start).cast(stamp), pa.array(end).cast(stamp)
    tables = {"s": pa.table({"time": times, "end": ends, "n": names}), "e": pa.table({"time": times, "n": names})}
    drawn = labels(tables, monkeypatch)
    assert 5 < len(drawn) < 45
    for i, (_, one) in enumerate(drawn):
        assert not any(one.overlaps(other) for _, other in drawn[i + 1 :])


def test_dollars_and_braces_are_text(monkeypatch):
    table = {"a$b_{x}$": pa.table({"time": [0], "end": [9], "n": ["$\\frac{1}{$"], "k": ["$x^2$"]})}
    drawn = [text for text, _ in labels(table, monkeypatch, key="k", title="$\\alpha")]
    assert drawn == [r"k \$x^2\$", r"\$\frac{1}{\$"]


def test_nothing_is_a_picture_too():
    assert png(Timeline.of({}, TICKS).picture()).startswith(b"\x89PNG")
    assert png(Timeline.of({"e": pa.table({"time": [5]})}, TIMESTAMP).picture()).startswith(b"\x89PNG")
