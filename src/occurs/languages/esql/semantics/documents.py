"""XML, JSON and CSV in the reference semantics of pipes (pipes.md 4.8)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import elementpath
from defusedxml import DefusedXmlException, ElementTree

from occurs.languages.esql.semantics.values import GREATEST, LEAST, Fault, number
from occurs.operators.process.tree import Plot
from occurs.operators.process.values import Document, Json, Map, Record, Troolean, elements

#: lists and objects of JSON, and elements of XML, inside one another
DEEPEST = 100

# --- XML ------------------------------------------------------------------------------------------------------------


def read_xml(text: Any) -> Document:
    """The document that a text is; Fault if it is malformed, or has a DTD or entities."""
    if not isinstance(text, str):
        raise Fault("bad-value", "is not text and cannot be parsed as XML", text)
    try:
        root = ElementTree.fromstring(text, forbid_dtd=True)
        if _height([root]) > DEEPEST:
            raise ValueError(f"elements are nested more than {DEEPEST} levels deep")
        return Document(text, root)
    except (ElementTree.ParseError, DefusedXmlException, ValueError) as problem:
        raise Fault("bad-value", f"is not accepted as XML: {problem}", text) from problem


def _height(level: list[Any]) -> int:
    """How many levels of elements there are from ``level`` on."""
    height = 0
    while level:
        height += 1
        level = [child for element in level for child in element]
    return height


def xpath(document: Any, path: Any, context: Mapping[str, Any]) -> tuple[str, ...]:
    """All that the path finds, as texts; a number, a boolean or a text is a list of one."""
    if not isinstance(document, Document):
        raise Fault("bad-value", "is not an XML document", document)
    variables = {n: _variable(v) for n, v in context.items()}
    try:
        found = elementpath.select(document.root, path, parser=elementpath.XPath1Parser, variables=variables)
    except (elementpath.ElementPathError, TypeError, ValueError, RecursionError) as problem:
        raise Fault("bad-value", f"is not a supported XPath: {problem}", path) from problem
    return tuple(map(_text, found if isinstance(found, list) else [found]))


def _variable(value: Any) -> Any:
    """What an XPath variable may be: a text, a number, a boolean; null is no node at all."""
    if value is None:
        return []
    return float(value) if number(value) else value if isinstance(value, (str, bool)) else text(value)


def _text(found: Any) -> str:
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, (int, float)):
        return str(int(found)) if math.isfinite(found) and found == int(found) else str(found)
    return found if isinstance(found, str) else "".join(found.itertext())


def xpath_text(document: Any, path: Any, context: Mapping[str, Any]) -> str | None:
    """The first that the path finds."""
    return next(iter(xpath(document, path, context)), None)


def xpath_number(document: Any, path: Any, context: Mapping[str, Any]) -> float | None:
    """The first that the path finds, as a number; null if it is none."""
    found = xpath_text(document, path, context)
    try:
        value = math.nan if found is None else float(found)
    except ValueError:
        return None
    return None if math.isnan(value) else value


# --- JSON -----------------------------------------------------------------------------------------------------------


def read_json(text: Any) -> Json:
    """The document that a text is; Fault if it is malformed."""
    if not isinstance(text, str):
        raise Fault("bad-value", "is not text and cannot be parsed as JSON", text)
    if _nesting(text) > DEEPEST:
        raise Fault(
            "bad-value", f"is not accepted as JSON: lists and objects are nested more than {DEEPEST} levels deep", text
        )
    try:
        return _document(json.loads(text, parse_constant=_no_constant))
    except ValueError as problem:
        raise Fault("bad-value", f"is not accepted as JSON: {problem}", text) from problem


def _nesting(text: str) -> int:
    """How deep lists and objects are nested; brackets inside of texts do not count."""
    depth = deepest = 0
    for mark in re.findall(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text, re.DOTALL):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
        deepest = max(deepest, depth)
    return deepest


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _document(value: Any) -> Json:
    return Json(json.dumps(value, sort_keys=True, ensure_ascii=False))


_STEP = re.compile(r"\.?(\w[\w-]*)|\[(-?\d+)\]|\[(\*)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


def json_path(document: Any, path: Any) -> Any:
    """What stands at ``$.a.b[1]``; ``[*]`` gives a list; null if there is nothing."""
    if not isinstance(document, Json):
        raise Fault("bad-value", "is not a JSON document", document)
    here, many = [document.value], False
    for kind, at in _steps(path):
        if kind == "*":
            here, many = [v for h in here for v in _inside(h)], True
        else:
            here = [_step(h, at) for h in here]
    return tuple(map(_given, here)) if many else _given(here[0])


def _steps(path: Any) -> Iterator[tuple[str, Any]]:
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise Fault("bad-value", "is not a path into JSON", path)
        name, index, star, single, double = found.groups()
        if star:
            yield "*", None
        elif index is not None:
            yield "index", int(index) if len(index) < 20 else GREATEST
        else:
            yield "name", next(n for n in (name, single, double) if n is not None)
        at = found.end()


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _step(value: Any, at: Any) -> Any:
    if isinstance(value, list) and isinstance(at, int):
        return value[at] if -len(value) <= at < len(value) else None
    return value.get(at) if isinstance(value, dict) and isinstance(at, str) else None


def _given(value: Any) -> Any:
    """A value of a document: an array is a list, an object a document of its own."""
    if isinstance(value, list):
        return tuple(map(_given, value))
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return float(value)
    return _document(value) if isinstance(value, dict) else value


# --- text and pictures ----------------------------------------------------------------------------------------------


def groups(pattern: str, names: tuple[str, ...], text: Any) -> Record | None:
    """What the groups of the first match are; null if nothing matches, or of null."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise Fault("bad-value", "is not text", text)
    found = re.search(pattern, text)
    return None if found is None else Record(tuple(zip(names, found.groups())))


@dataclass(frozen=True)
class Picture:
    """What is drawn and how."""

    plot: Plot
    value: Any


# --- values as text -------------------------------------------------------------------------------------------------


def whole(value: Any) -> Any:
    """An int for a float that is equal to one (beyond 2^53 floats say no more which integer is meant)."""
    if isinstance(value, float) and abs(value) <= 2**53 and value == int(value):
        return int(value)
    return value


def text(value: Any) -> str:
    """A document as it is written, a collection as JSON."""
    if isinstance(value, (Document, Json)):
        return value.source
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Map):
        return [[_plain(k), _plain(v)] for k, v in value.items]
    if isinstance(value, Record):
        return {n: _plain(v) for n, v in value.columns}
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, (Document, Json)):
        return value.source
    found = elements(value)
    return whole(value) if found is None else [_plain(v) for v in found]


# --- CSV ------------------------------------------------------------------------------------------------------------


def read_csv(text: Any) -> list[list[str | None]]:
    """The lines of a text as fields, by RFC 4180: an empty field is null, ``""`` the empty text; no blank lines."""
    if not isinstance(text, str):
        raise Fault("bad-value", "is not text and cannot be parsed as CSV", text)
    lines: list[list[str | None]] = [[]]
    at = 0
    while True:
        found: str | None
        if text.startswith('"', at):
            found, at = _quoted(text, at + 1)
        else:
            end = min(i for i in (text.find(",", at), text.find("\n", at), len(text)) if i >= 0)
            plain = text[at:end].removesuffix("\r") if text.startswith("\n", end) or end == len(text) else text[at:end]
            found, at = plain or None, end
        lines[-1].append(found)
        if at == len(text):
            break
        if text[at] == "\n":
            lines.append([])
        at += 1
    return [line for line in lines if line != [None]]


def _quoted(text: str, at: int) -> tuple[str, int]:
    """The field that begins behind a quote, and where it ends."""
    out = ""
    while True:
        end = text.find('"', at)
        if end < 0:
            raise Fault("bad-value", "is not valid CSV: a quote is not closed", text)
        out += text[at:end]
        if not text.startswith('"', end + 1):
            break
        out, at = out + '"', end + 2
    end += 1
    end += text.startswith("\r\n", end)
    if end < len(text) and text[end] not in ",\n":
        raise Fault("bad-value", "is not valid CSV: there is text after a quoted field", text)
    return out, end
