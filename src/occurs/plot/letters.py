"""How wide text is, without a font: the advance widths of DejaVu Sans, which is as wide as any common sans serif.

A text that has room here also has room in the narrower fonts of a browser.
"""

from __future__ import annotations

#: thousandths of the font size, from the space (U+0020) to the tilde
_PLAIN = (
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863,
    748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635,
    615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636,
    337, 636, 838,
)  # fmt: skip
#: any other letter
_OTHER = 840
_BOLD, _MONO = 1.12, 602


def text_width(text: str, size: float, *, bold: bool = False, mono: bool = False) -> float:
    """The width of one line of ``text``, in the unit of ``size``; never less than it takes in DejaVu Sans."""
    if mono:
        return len(text) * _MONO * size / 1000
    total = sum(_PLAIN[ord(c) - 32] if " " <= c <= "~" else _OTHER for c in text)
    return total * size / 1000 * (_BOLD if bold else 1.0)


def shortened(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """``text``, or as much of it as has room, with an ellipsis."""
    if text_width(text, size, bold=bold) <= room:
        return text
    while text and text_width(text + "…", size, bold=bold) > room:
        text = text[:-1]
    return text.rstrip() + "…"
