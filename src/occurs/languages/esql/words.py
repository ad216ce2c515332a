"""The words of eSQL (pipes.md, 2.1, 2.2)."""

from __future__ import annotations

_WORDS = """
    ABOUT AFTER ALL ALWAYS AND APPLY AS AT BAG BE BEFORE BY COMBINE CONSTANT DEFINE DIV EACH EARLY END EVENTS EVERY
    EXISTS EXPLODED F FALSE FILE FILTER FINITE FIRST FOR FREEZE FROM G GET GNUPLOT GO GREATER HEATMAP HISTOGRAM
    IMPLIES IN INTO IS JSON LAST LESS LET LIST MACHINE MAP MERGE MOD NAMES ND NOT NOTHING NULL NUMBER OF ON OR
    OTHERWISE OUTPUT PACK PEAK PLATEAU PRINT PUT RD REGEX REPEAT RESET RUN SCATTERPLOT SELECT SET SIZED SLICE SOME
    SOMETIME ST START STARTING STOPPING TH THAN THE THRESHOLD TIMES TITLED TO TOO TRIM TRUE TUPLES TURN U UNION
    UNPACK UNTIL UPTO WHEN WHERE WINDOW WITH WITHIN X XML XPATH
"""
#: reserved in this spelling; a name that equals one is written in backticks
KEYWORDS = frozenset(_WORDS.split())
#: what a phrase, or a parameter of one, may be
CATEGORIES = ("processor", "function", "number", "boolean", "text")
#: constants that are words
CONSTANTS = {"TRUE": True, "true": True, "FALSE": False, "false": False, "NULL": None, "null": None}
#: words of the old language that are known, and refused
REFUSED = {
    "URL": "Occurs does not download pages; read their text from a file with `--events`",
    "CALL": "Occurs does not start other programs; read their output from a file with `--events`",
    "TABLE": "read database tables with `occurs.connect`, or from a file with `--events`",
}
#: other spellings of operators
SPELLINGS = {
    "→": "->", "⇒": "->", "∨": "OR", "∧": "AND", "¬": "NOT", "□": "G", "◇": "F", "○": "X", "==": "=", "<>": "!=",
    "≠": "!=", "≤": "<=", "≥": ">=", "×": "*", "÷": "/", "∈": "IN", "·": ":", "⊤": "TRUE", "⊥": "FALSE",
}  # fmt: skip
