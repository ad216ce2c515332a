"""XML, JSON and CSV (pipes.md, 4.8): texts are read with entities and document types forbidden, paths are data."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from xml.etree.ElementTree import ParseError, TreeBuilder

from occurs.model.nesting import DEEPEST, TooDeep
from occurs.model.nesting import read_json as loads
from occurs.operators.process.values import Document, Fault, Json, Map, Record, Troolean, elements, number

LEAST, GREATEST = -(2**63), 2**63 - 1


class _Shallow(TreeBuilder):
    """The tree of a document; raises TooDeep for elements that are nested too deep."""

    _depth = 0

    def start(self, tag: str, attributes: Any, /) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise TooDeep
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> Any:
        self._depth -= 1
        return super().end(tag)


def read_xml(text: Any) -> Document:
    """The document that a text is.  Raises Fault if it is malformed, or has a document type."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    if not isinstance(text, str):
        raise Fault("bad-value", "is not text and cannot be parsed as XML", text)
    parser = DefusedXMLParser(target=_Shallow(), forbid_dtd=True)
    try:
        parser.feed(text)
        return Document(text, parser.close())
    except (ParseError, DefusedXmlException, ValueError) as problem:
        raise Fault("bad-value", f"is not accepted as XML: {problem}", text) from problem


def xpath(document: Any, path: Any, context: Mapping[str, Any]) -> tuple[str, ...]:
    """All that an XPath 1.0 finds, as texts.  ``context``: the variables; they are bound, never pasted."""
    import elementpath

    if not isinstance(document, Document):
        raise Fault("bad-value", "is not an XML document", document)
    variables = {n: _variable(v) for n, v in context.items()}
    try:
        found = elementpath.select(document.root, path, parser=elementpath.XPath1Parser, variables=variables)
    except (elementpath.ElementPathError, TypeError, ValueError, RecursionError) as problem:
        raise Fault("bad-value", f"is not a supported XPath: {problem}", path) from problem
    return tuple(map(_found_text, found if isinstance(found, list) else [found]))


def _variable(value: Any) -> Any:
    if value is None:
        return []
    if number(value):
        return float(value)
    return value if isinstance(value, (str, bool)) else text(value)


def _found_text(found: Any) -> str:
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, (int, float)):
        return str(int(found)) if math.isfinite(found) and found == int(found) else str(found)
    return found if isinstance(found, str) else "".join(found.itertext())


def xpath_text(document: Any, path: Any, context: Mapping[str, Any]) -> str | None:
    found = xpath(document, path, context)
    return found[0] if found else None


def xpath_number(document: Any, path: Any, context: Mapping[str, Any]) -> float | None:
    found = xpath_text(document, path, context)
    if found is None:
        return None
    try:
        value = float(found)
    except ValueError:
        return None
    return None if math.isnan(value) else value


# --- JSON -------------------------------------------------------------------------------------------------------------


def read_json(text: Any) -> Json:
    """The document that a text is.  Raises Fault if it is malformed."""
    if not isinstance(text, str):
        raise Fault("bad-value", "is not text and cannot be parsed as JSON", text)
    try:
        return as_json(loads(text, parse_constant=_no_constant))
    except ValueError as problem:
        raise Fault("bad-value", f"is not accepted as JSON: {problem}", text) from problem


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def as_json(value: Any) -> Json:
    return Json(json.dumps(value, sort_keys=True, ensure_ascii=False))


_STEP = re.compile(r"\.?(\w[\w-]*)|\[(-?\d+)\]|\[(\*)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


@lru_cache(maxsize=256)
def json_steps(path: str) -> tuple[Any, ...]:
    """Names, places and None (all elements)."""
    out: list[Any] = []
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise Fault("bad-value", "is not a path into JSON", path)
        name, place, star, single, double = found.groups()
        if star:
            out.append(None)
        elif place is not None:
            # no list is that long, and Python refuses to read thousands of digits
            out.append(int(place) if len(place) < 20 else GREATEST)
        else:
            out.append(next(n for n in (name, single, double) if n is not None))
        at = found.end()
    return tuple(out)


def json_path(document: Any, path: Any) -> Any:
    """What stands at ``$.a.b[1]``; ``[*]`` gives a list; null if there is nothing."""
    if not isinstance(document, Json):
        raise Fault("bad-value", "is not a JSON document", document)
    if not isinstance(path, str):
        raise Fault("bad-value", "is not a path into JSON", path)
    here, many = [document.value], False
    for step in json_steps(path):
        if step is None:
            here, many = [v for h in here for v in _inside(h)], True
        else:
            here = [_at(h, step) for h in here]
    return tuple(map(_given, here)) if many else _given(here[0])


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _at(value: Any, step: Any) -> Any:
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _given(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_given, value))
    if isinstance(value, dict):
        return as_json(value)
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return float(value)
    return value


# --- values as text ---------------------------------------------------------------------------------------------------


def exact(value: Any) -> Any:
    """A float that is a whole number as an int: equal numbers have the same text, whatever column they stand in."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) <= 2**53
    return int(value) if whole else value


def text(value: Any) -> str:
    """Any value as text: a document as it is written, a collection as JSON, a whole number without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, (str, int, float)):
        return str(exact(value))
    if isinstance(value, (Document, Json)):
        return value.source
    return json.dumps(plain(value), ensure_ascii=False)


def plain(value: Any) -> Any:
    """A value of lists, dictionaries, texts, numbers."""
    if isinstance(value, Map):
        return [[plain(k), plain(v)] for k, v in value.items]
    if isinstance(value, Record):
        return {n: plain(v) for n, v in value.columns}
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, (Document, Json)):
        return value.source
    found = elements(value)
    return exact(value) if found is None else [plain(v) for v in found]


# --- CSV --------------------------------------------------------------------------------------------------------------


def csv_lines(text: Any) -> list[list[str | None]]:
    """The lines of a text by RFC 4180: an empty field is null, ``""`` the empty text; blank lines are left out."""
    if not isinstance(text, str):
        raise Fault("bad-value", "is not text and cannot be parsed as CSV", text)
    return [line for line in _csv(text) if line != [None]]


def _csv(text: str) -> Iterator[list[str | None]]:
    line: list[str | None] = []
    at, size = 0, len(text)
    while True:
        if text.startswith('"', at):
            parts, at = [], at + 1
            while True:
                close = text.find('"', at)
                if close < 0:
                    raise Fault("bad-value", "is not valid CSV: a quote is not closed", text)
                parts.append(text[at:close])
                at = close + 1
                if not text.startswith('"', at):
                    break
                parts.append('"')
                at += 1
            line.append("".join(parts))
            at += text.startswith("\r\n", at)
            if at < size and text[at] not in ",\n":
                raise Fault("bad-value", "is not valid CSV: there is text after a quoted field", text)
        else:
            stop = next((i for i in range(at, size) if text[i] in ",\n"), size)
            found = text[at:stop]
            if stop == size or text[stop] == "\n":
                found = found.removesuffix("\r")
            line.append(found or None)
            at = stop
        if at >= size:
            yield line
            return
        if text[at] == "\n":
            yield line
            line = []
        at += 1
