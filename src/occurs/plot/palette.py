"""The colours of pictures, in a light and a dark theme."""

#: fill colours of detections; colour-blind readers can tell them apart too, and black text is readable on them (the
#: first eight are those of Okabe and Ito, the darkest made lighter)
COLOURS = (
    "#56b4e9", "#e69f00", "#2fb58c", "#d98cb8", "#f0e442", "#e8743b", "#8f9fe8", "#b9a08a", "#8fd3d8", "#a8c66c",
)  # fmt: skip
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
