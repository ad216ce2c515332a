"""A timeline as PNG, drawn with matplotlib (the extra ``plot``)."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from occurs.errors import ResourceProblem
from occurs.plot.lanes import Chart, Lane
from occurs.plot.palette import COLOURS

_DAY = 86_400_000_000
#: inches
_WIDTH, _ROW, _MARGIN = 14.0, 0.3, 0.25
_DPI = 110
#: of the legend
_COLUMNS = 8
#: points
_SMALL, _PLAIN = 7.5, 9.0
#: inches per letter of small text, on average
_LETTER = _SMALL / 72 * 0.56


def png(chart: Chart) -> bytes:
    """The picture.  Raises ResourceProblem if matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        hint = "pip install 'occurs[plot]', or write .html, which needs nothing"
        raise ResourceProblem.of(
            "not-installed", "PNG is drawn with matplotlib, which is not here", hint=hint
        ) from None
    legend = -(-(len(chart.types) + 1) // _COLUMNS) * 0.22 + 0.1
    top = 0.1 + 0.32 * bool(chart.title) + legend
    bottom = 0.55 + 0.2 * len(chart.notices)
    height = top + max(chart.rows, 1) * _ROW + bottom
    names = [lane.type for g in chart.groups for lane in g.lanes]
    left = 0.35 + max((len(n) for n in names), default=1) * _PLAIN / 72 * 0.6
    figure = Figure((_WIDTH, height), dpi=_DPI)
    FigureCanvasAgg(figure)
    width = _WIDTH - left - _MARGIN
    axes: Any = figure.add_axes((left / _WIDTH, bottom / height, width / _WIDTH, 1 - (top + bottom) / height))
    _Drawing(chart, axes, width).draw()
    if chart.title:
        figure.text(left / _WIDTH, 1 - 0.2 / height, _plain(chart.title), fontsize=13, fontweight="bold", va="center")
    for i, notice in enumerate(chart.notices):
        figure.text(
            left / _WIDTH,
            (0.1 + 0.2 * i) / height,
            f"Not all is shown: {_plain(notice)}",
            fontsize=_PLAIN,
            color="#a40000",
        )
    out = io.BytesIO()
    figure.savefig(out, format="png", facecolor="white")
    return out.getvalue()


class _Drawing:
    """Rows are counted from the top; ``width``: of the axes, in inches."""

    def __init__(self, chart: Chart, axes: Any, width: float) -> None:
        self.chart, self.axes, self.width = chart, axes, width
        self.colour = {t: COLOURS[i % len(COLOURS)] for i, t in enumerate(chart.types)}
        # a picture of one instant has a width, too
        self.span = max(chart.end - chart.start, 1)
        self.goes_on = any(
            (lane.open | (lane.end > chart.end) | (lane.start < chart.start)).any()
            for g in chart.groups
            for lane in g.lanes
        )

    def x(self, ticks: Any) -> Any:
        """Places on the axis: days since 1970, or ticks."""
        return np.asarray(ticks, float) / _DAY if self.chart.kind.timestamp else np.asarray(ticks, float)

    def inches(self, ticks: float) -> float:
        return ticks / self.span / 1.03 * self.width

    def draw(self) -> None:
        axes, chart = self.axes, self.chart
        at = 0
        ticks, names = [], []
        for number, group in enumerate(chart.groups):
            rows = bool(group.name) + sum(lane.rows for lane in group.lanes)
            if number % 2 == 0 and len(chart.groups) > 1:
                axes.axhspan(at, at + rows, color="#f4f4f4", zorder=0, linewidth=0)
            if group.name:
                axes.annotate(
                    _plain(group.name), (0, at + 0.5), xycoords=("axes fraction", "data"), xytext=(4, 0),
                    textcoords="offset points", fontsize=_PLAIN, fontweight="bold", va="center",
                )  # fmt: skip
                at += 1
            for lane in group.lanes:
                self.lane(lane, at)
                ticks.append(at + lane.rows / 2)
                names.append(_plain(lane.type))
                at += lane.rows
                axes.axhline(at, color="#e2e2e2", linewidth=0.6, zorder=1)
        axes.set_ylim(max(at, 1), 0)
        axes.set_yticks(ticks, names, fontsize=_PLAIN)
        axes.tick_params(axis="y", length=0)
        pad = 0.015 * self.span
        axes.set_xlim(*self.x([chart.start - pad, chart.end + pad]))
        self.time_axis()
        for side in ("top", "left", "right"):
            axes.spines[side].set_visible(False)
        if not chart.groups:
            axes.text(0.5, 0.5, "nothing to show", transform=axes.transAxes, ha="center", va="center")
            axes.set_yticks([])
        else:
            self.legend()

    def time_axis(self) -> None:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
        from matplotlib.ticker import ScalarFormatter

        axis = self.axes.xaxis
        self.axes.grid(axis="x", color="#d9d9d9", linewidth=0.6, zorder=0)
        self.axes.tick_params(axis="x", labelsize=_PLAIN)
        if self.chart.kind.timestamp:
            locator = AutoDateLocator(minticks=6, maxticks=14)
            axis.set_major_locator(locator)
            # a day that begins is told with its month, so that the date is there wherever one looks
            formats = ["%Y", "%b %Y", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"]
            zero = ["", "%Y", "%b %Y", "%d %b %Y", "%H:%M", "%H:%M"]
            offset = ["", "%Y", "%b %Y", "%d %b %Y", "%d %b %Y", "%d %b %Y %H:%M"]
            axis.set_major_formatter(
                ConciseDateFormatter(locator, formats=formats, zero_formats=zero, offset_formats=offset)
            )
            self.axes.set_xlabel("UTC", fontsize=_SMALL, loc="left", labelpad=1)
            axis.get_offset_text().set_size(_PLAIN)
        else:
            plain = ScalarFormatter(useOffset=False)
            plain.set_scientific(False)
            axis.set_major_formatter(plain)
            self.axes.set_xlabel(f"time ({self.chart.kind.unit or 'ticks'})", fontsize=_PLAIN)

    def legend(self) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        lasting = {lane.type: lane.lasting for g in self.chart.groups for lane in g.lanes}
        handles: list[Any] = []
        for name, colour in self.colour.items():
            if lasting.get(name):
                handles.append(Patch(facecolor=colour, edgecolor="#444444", linewidth=0.6, label=_plain(name)))
            else:
                handles.append(
                    Line2D([], [], marker="D", markersize=6, color="none", markerfacecolor=colour,
                           markeredgecolor="#222222", markeredgewidth=0.6, label=_plain(name))
                )  # fmt: skip
        if self.goes_on:
            handles.append(Line2D([], [], marker=">", color="none", markerfacecolor="#222222", label="goes on"))
        self.axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=_COLUMNS, fontsize=_PLAIN, frameon=False,
            borderaxespad=0.2, handlelength=1.4, columnspacing=1.4,
        )  # fmt: skip

    def lane(self, lane: Lane, at: int) -> None:
        if lane.lasting:
            self.bars(lane, at)
        else:
            self.marks(lane, at)

    def bars(self, lane: Lane, at: int) -> None:
        chart = self.chart
        low = np.maximum(lane.start, chart.start)
        high = np.minimum(lane.end, chart.end)
        for row in range(lane.rows):
            mine = lane.row == row
            # a bar too short to be seen is a hair wide
            width = np.maximum(self.x(high[mine]) - self.x(low[mine]), self.x(self.span) / 1500)
            self.axes.broken_barh(
                list(zip(self.x(low[mine]), width)), (at + row + 0.14, 0.72), facecolor=self.colour[lane.type],
                edgecolor="#444444", linewidth=0.6, zorder=3,
            )  # fmt: skip
        # what goes on beyond the picture, or still holds, has a head there
        for beyond, edge, head in (
            (lane.open | (lane.end > chart.end), chart.end, ">"),
            (lane.start < chart.start, chart.start, "<"),
        ):
            x = np.full(int(beyond.sum()), self.x(edge))
            self.axes.plot(x, at + lane.row[beyond] + 0.5, head, color="#222222", markersize=5, zorder=5)
        # where bars are drawn over one another, their labels would be, too
        for i in np.flatnonzero(self.fits(lane, high - low) & ~lane.crowded):
            self.label(self.x(low[i]), at + lane.row[i] + 0.5, lane.label[i], 3)

    def fits(self, lane: Lane, length: np.ndarray) -> np.ndarray:
        needed = np.array([len(text) * _LETTER + 0.1 if text else np.inf for text in lane.label])
        return np.asarray(length / self.span / 1.03 * self.width >= needed)

    def marks(self, lane: Lane, at: int) -> None:
        places = self.x(lane.start)
        # of marks that stand close together there would be nothing but edges
        edge = 0.6 if len(places) * 0.06 < self.width else 0.1
        self.axes.plot(
            places, np.full(len(places), at + 0.5), "D", markersize=5.5, color=self.colour[lane.type],
            markeredgecolor="#222222", markeredgewidth=edge, zorder=4,
        )  # fmt: skip
        room = np.append(lane.start[1:], self.chart.end) - lane.start
        # the mark itself takes some of the room, and so does the one behind
        for i in np.flatnonzero(self.fits(lane, room - int(0.2 / self.width * self.span))):
            self.label(places[i], at + 0.5, lane.label[i], 5)

    def label(self, x: float, y: float, text: str, points: int) -> None:
        self.axes.annotate(
            _plain(text), (x, y), xytext=(points, -0.5), textcoords="offset points", fontsize=_SMALL, va="center",
            zorder=6, clip_on=True,
        )  # fmt: skip


def _plain(text: str) -> str:
    """matplotlib reads text between dollar signs as formulas."""
    return text.replace("$", r"\$")
