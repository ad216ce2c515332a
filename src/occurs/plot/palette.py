"""The colours of pictures."""

#: fill colours of types, apart for the colour-blind too; black text is readable on them
COLOURS = (
    "#7cb5ec", "#f0b35a", "#7fcf9c", "#e89ac7", "#c9b3f0", "#e98b73", "#8fd3d8", "#d3c35d", "#b5b5b5", "#a8c66c",
)  # fmt: skip
