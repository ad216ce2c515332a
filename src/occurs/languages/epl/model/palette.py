"""The palette of the graphical editor for patterns: every kind of node that a model may have (epl-and-nets.md, 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from occurs.model.types import Type

# what a node stands for
PATTERN, CONDITION, LOGICAL, VALUE, COMPLEX, COLUMN, RANGE, ACTION, REFUSED = (
    *("pattern", "condition", "logical", "value", "complex event", "column", "range", "action", "refused"),
)
#: what an attribute of a node is: a text that is not empty, any text, a whole number (or nothing), yes or no
NAME, TEXT, WHOLE, FLAG = "name", "text", "whole", "flag"
#: or, of the arrows of a sequence, whole numbers and nothing
LIMITS = "limits"

#: the parts of a length of time, largest first, with their microseconds
UNITS: dict[str, int] = {
    "weeks": 604_800_000_000,
    "days": 86_400_000_000,
    "hours": 3_600_000_000,
    "minutes": 60_000_000,
    "seconds": 1_000_000,
    "milliseconds": 1_000,
    "microseconds": 1,
}
#: the fields of a schedule in the order of the text, with their ranges
SCHEDULE: dict[str, tuple[int, int]] = {
    "minute": (0, 59),
    "hour": (0, 23),
    "dayOfMonth": (1, 31),
    "month": (1, 12),
    "dayOfWeek": (0, 6),
    "second": (0, 59),
}
#: types of values and properties as the editor calls them
TYPES: dict[str, Type] = {
    "Boolean": Type.BOOL,
    "Integer": Type.INT,
    "Long": Type.INT,
    "Double": Type.FLOAT,
    "Float": Type.FLOAT,
    "String": Type.STRING,
    "Timestamp": Type.TIMESTAMP,
}


@dataclass(frozen=True)
class Kind:
    """``role``: what a node of it stands for.  ``least``, ``most``: how many links lead to it (None: any number).
    ``attributes``: those it may have, ``needed``: those it must.  ``alike``: may one be linked to another one?
    ``why``: it is refused."""

    role: str
    least: int = 0
    most: int | None = 0
    attributes: Mapping[str, str] = field(default_factory=dict)
    needed: tuple[str, ...] = ()
    alike: bool = False
    why: str = ""


def _operator(least: int, most: int | None, role: str = PATTERN, *, alike: bool = False, **attributes: str) -> Kind:
    return Kind(role, least, most, attributes, tuple(attributes), alike)


def _refused(names: str, why: str) -> dict[str, Kind]:
    return {name: Kind(REFUSED, 0, None, why=why) for name in names.split()}


KINDS: dict[str, Kind] = {
    "Event": Kind(PATTERN, 0, 0, {"typeName": NAME, "image": TEXT, "tag": TEXT, "consume": WHOLE}, ("typeName",)),
    "EventProperty": Kind(VALUE, 0, 0, {"name": NAME, "type": NAME, "nested": FLAG}, ("name", "type")),
    "Value": Kind(VALUE, 0, 0, {"type": NAME, "value": TEXT}, ("type", "value")),
    "Expression": Kind(VALUE, 0, 0, {"text": TEXT}, ("text",)),
    "Condition": Kind(CONDITION, 0, 0, {"text": TEXT, "event": TEXT}, ("text",)),
    "ComplexEvent": Kind(COMPLEX, 0, None, {"typeName": NAME, "image": TEXT}, ("typeName",)),
    "ComplexEventProperty": Kind(COLUMN, 1, 1, {"name": NAME}),
    "TimeInterval": Kind(PATTERN, 0, 0, dict.fromkeys(UNITS, WHOLE)),
    "TimeSchedule": Kind(PATTERN, 0, 0, dict.fromkeys(SCHEDULE, TEXT)),
    "WithinTimer": Kind(PATTERN, 0, 0, {**dict.fromkeys(UNITS, WHOLE), "count": WHOLE}),
    "Every": _operator(1, 1, alike=True),
    "EveryDistinct": Kind(PATTERN, 2, None, {"expiry": TEXT}, alike=True),
    "FollowedBy": Kind(PATTERN, 2, None, {"limits": LIMITS}, alike=True),
    "Range": Kind(RANGE, 1, 1, {"low": WHOLE, "high": WHOLE}),
    "Repeat": _operator(1, 1, alike=True, count=WHOLE),
    "Until": _operator(2, 2, alike=True),
    "While": _operator(2, 2, alike=True),
    "And": _operator(2, None, LOGICAL, alike=True),
    "Or": _operator(2, None, LOGICAL, alike=True),
    "Not": _operator(1, 1, LOGICAL, alike=True),
    **dict.fromkeys(
        ("Equal", "NotEqual", "LessThan", "LessEqual", "GreaterThan", "GreaterEqual"), _operator(2, 2, CONDITION)
    ),
    **dict.fromkeys(
        ("Addition", "Subtraction", "Multiplication", "Division", "Modulus"), _operator(2, 2, VALUE, alike=True)
    ),
    "Email": Kind(ACTION, 1, 1, {"address": TEXT, "subject": TEXT, "text": TEXT}),
    "WebRequest": Kind(ACTION, 1, 1, {"url": TEXT, "text": TEXT}),
    **_refused("GroupBy", "patterns do not group events: compare the property with that of an earlier event"),
    **_refused("Avg Count Max Min Sum", "a pattern reads single events and cannot aggregate"),
    **_refused(
        "SlidingEventWindow SlidingTimeWindow BatchingEventWindow BatchingTimeWindow",
        "patterns have no data windows: use a Within timer to limit their duration",
    ),
    **_refused("Place Transition BlackTransition Arc Page Fusion", "this is a part of a net: write it in a .cpn file"),
}
#: kinds with others inside
CONTAINERS: dict[str, str] = {"Event": "EventProperty", "ComplexEvent": "ComplexEventProperty", "WithinTimer": ""}

COMPARISONS = {"Equal": "=", "NotEqual": "!=", "LessThan": "<", "LessEqual": "<=", "GreaterThan": ">",
               "GreaterEqual": ">="}  # fmt: skip
ARITHMETIC = {"Addition": "+", "Subtraction": "-", "Multiplication": "*", "Division": "/", "Modulus": "%"}
