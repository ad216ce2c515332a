"""The colours of pictures, in a light and a dark theme."""

#: fill colours of detections: readers with any of the three kinds of colour blindness can tell them and ``INPUT`` apart
#: (a test computes by how much), and black text is readable on them
COLOURS = (
    "#56b4e9", "#e69f00", "#1f9e77", "#f0e442", "#c04cf0", "#e25a55", "#9df0ea", "#8f74b0", "#b5f06a", "#fad4af",
)  # fmt: skip
#: of rows at which a clause failed, in the timeline of an answer
FAILED = "#e25a55"
#: input events and signals: neutral, so that detections stand out
INPUT = "#a9b4c0"
THEMES = {
    "light": {
        "back": "#ffffff", "band": "#f3f5f7", "grid": "#d5dae0", "ink": "#1b1f24", "dim": "#57606a", "edge": "#3d444d",
        "warn": "#a40000", "on": "#111417", "signal": "#57636f",
    },
    "dark": {
        "back": "#14171c", "band": "#1c2027", "grid": "#343b45", "ink": "#e6e9ee", "dim": "#a0a9b4", "edge": "#0c0e11",
        "warn": "#ff9d8a", "on": "#111417", "signal": "#b6c0cb",
    },
}  # fmt: skip
