"""What the project says of itself in ``studio.json``: its program, icons, places of nodes and drafts.

The file is optional.  Members that are not known are kept; wrong ones are reported with their place in the file.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from occurs.studio.files import IMAGES, SIDECAR, Folder, kind_of, tag
from occurs.studio.http import Refused, problems_refused
from occurs.studio.shapes import Option, Problem, Span

Colour = Literal[
    "red", "orange", "amber", "lime", "green", "teal", "cyan", "blue", "indigo", "violet", "pink", "grey"
]  # fmt: skip
#: the content of a project that has no file
EMPTY: dict[str, Any] = {"version": 1}
_SPLIT = re.compile(r"^(?:([^/\\=]+)=)?(.+)$", re.S)


class Options(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Those options of ``detect`` and of text files that a project may set."""

    type: str | None = "type"
    time: str = "time"
    end: str | None = "end"
    sequence: str | None = "sequence"
    label: str | None = "label"
    time_unit: Literal["us", "ms", "s", "min", "h", "d"] | None = None
    time_format: str | None = None
    start: str | int | None = None
    until: str | int | None = None
    ended: bool = True
    bad_rows: Literal["error", "skip"] = "error"
    only: list[str] | None = None
    zone: str = "UTC"
    #: name -> path
    facts: dict[str, str] | None = None
    strict: bool = False
    require_bounds: bool = False
    window: str | int | None = None
    step: str | int | None = None
    max_instances: int | None = None
    max_steps: int | None = None
    #: of text files
    delimiter: str = ","
    encoding: str = "utf-8"
    format: Literal["csv", "jsonl", "json", "parquet"] | None = None


class Program(Struct, omit_defaults=True):
    """Which files are run; null: all those of the directory itself."""

    rules: list[str] | None = None
    events: list[str] | None = None
    options: Options = msgspec.field(default_factory=Options)


class Icon(Struct, omit_defaults=True):
    """A character in a colour, or an image file of the project."""

    character: str | None = None
    colour: Colour | None = None
    image: str | None = None


class Sidecar(Struct, omit_defaults=True):
    """The content of ``studio.json``."""

    version: Literal[1]
    program: Program = msgspec.field(default_factory=Program)
    icons: dict[str, Icon] = {}
    #: file -> statement -> node -> place
    layout: dict[str, dict[str, dict[str, tuple[int, int]]]] = {}
    #: file -> statement -> what is drawn
    drafts: dict[str, dict[str, Draft]] = {}


class Draft(Struct):
    """A drawing that is not yet a text."""

    canvas: dict[str, Any]


# msgspec looks at a shape when it is used for the first time.  Two threads that do so at once can end the process
# (0.22: one sees what the other has half done), and these shapes are used in threads.
msgspec.convert(EMPTY, Sidecar)


@dataclass(frozen=True)
class Settings:
    """What holds for the project now: of its file, or of defaults.

    ``problems``: why the file does not count.  ``default_rules``, ``default_events``: the file names none.
    """

    rules: tuple[str, ...]
    events: tuple[str, ...]
    #: as they are written in the file
    options: Mapping[str, Any]
    problems: tuple[Problem, ...] = field(default=())
    default_rules: bool = False
    default_events: bool = False

    def has(self, path: str) -> bool:
        """Whether a file of rules, which need not be saved yet, belongs to the program."""
        return path in self.rules or (self.default_rules and "/" not in path)

    @property
    def paths(self) -> set[str]:
        """The files of the program."""
        return {*self.rules, *(split_events(e)[1] for e in self.events)}


class Project:
    """``studio.json`` of a folder."""

    def __init__(self, folder: Folder):
        self._folder = folder

    def read(self) -> tuple[Any, str]:
        """The content and its ETag.  A project without a file has the empty content.  Refuses a wrong one (422)."""
        try:
            content = self._folder.read(SIDECAR)
        except Refused as error:
            if error.status != 404:
                raise
            return EMPTY, tag(b"")
        value, problems = checked(content.data, self._folder)
        if problems:
            raise problems_refused(problems)
        return value, content.etag

    def write(self, data: bytes, *, if_match: str | None, if_none_match: str | None) -> tuple[Any, str]:
        """Replace the content, in its canonical form.  Refuses a wrong one (422) and what has changed (412)."""
        value, problems = checked(data, self._folder)
        if problems:
            raise problems_refused(problems)
        if if_match is not None and if_match.strip() == tag(b"") and not self._exists():
            if_match, if_none_match = None, "*"
        text = written(value).encode()
        return value, self._folder.write(SIDECAR, text, if_match=if_match, if_none_match=if_none_match)

    def settings(self) -> Settings:
        """What holds now.  A file that is wrong is reported, and defaults hold."""
        problems: tuple[Problem, ...] = ()
        value: Any = EMPTY
        try:
            value, _ = self.read()
        except Refused as error:
            problems = tuple(error.error.problems) or (Problem("cannot-read", "error", str(error), file=SIDECAR),)
        program = value.get("program", {})
        own = sorted(takewhile(lambda path: "/" not in path, (path for path, _, _ in self._folder.walk())))
        named = {"rules": program.get("rules"), "events": program.get("events")}
        rules = [p for p in own if kind_of(p) == "rules"] if named["rules"] is None else named["rules"]
        events = [p for p in own if kind_of(p) == "event"] if named["events"] is None else named["events"]
        default = {f"default_{name}": value is None for name, value in named.items()}
        return Settings(tuple(rules), tuple(events), program.get("options", {}), problems, **default)

    def tag(self) -> str | None:
        """The ETag of the file as it is, right or wrong; None if it cannot be read."""
        try:
            return self._folder.read(SIDECAR).etag
        except Refused:
            return None

    def _exists(self) -> bool:
        try:
            self._folder.read(SIDECAR)
        except Refused as error:
            return error.status != 404
        return True


def options_described(meant: Mapping[str, tuple[str, str]]) -> list[Option]:
    """The options that a project may set.  ``meant``: by name, what each describes or changes, and its meaning."""
    hints = get_type_hints(Options)
    out = []
    for field_ in msgspec.structs.fields(Options):
        hint = hints[field_.name]
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        choices = [text for kind in kinds if get_origin(kind) is Literal for text in get_args(kind)]
        of, text = meant.get(field_.name, (None, ""))
        none = NoneType in kinds and field_.default is not None
        kind = "choice" if choices else next(name for form, name in _KINDS if form <= {*map(_origin, kinds)})
        out.append(Option(field_.name, of, kind, choices, field_.default, none, text))  # type: ignore[arg-type]
    return out


#: kinds of options by the types of their values
_KINDS = (
    ({bool}, "flag"), ({str, int}, "moment"), ({int}, "number"), ({str}, "text"), ({list}, "names"), ({dict}, "paths")
)  # fmt: skip


def _origin(kind: Any) -> Any:
    return get_origin(kind) or kind


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    """Options of a request, checked.  Refuses unknown ones and wrong values (400)."""
    try:
        msgspec.convert(given, Options)
    except msgspec.ValidationError as error:
        raise Refused(400, "bad-request", f"invalid options: {error}") from None
    return given


def split_events(text: str) -> tuple[str | None, str]:
    """``TYPE=PATH`` or ``PATH``."""
    found = _SPLIT.match(text)
    return (found[1], found[2]) if found else (None, text)


def checked(data: bytes, folder: Folder) -> tuple[Any, list[Problem]]:
    """The value of a ``studio.json`` and what is wrong with it."""
    try:
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
        msgspec.json.encode(value)  # refuses lone surrogates
    except json.JSONDecodeError as error:
        span = Span(error.lineno, error.colno, error.lineno, error.colno + 1)
        return None, [Problem("bad-project", "error", f"{SIDECAR} is not JSON: {error.msg}", file=SIDECAR, span=span)]
    except (ValueError, RecursionError) as error:
        return None, [Problem("bad-project", "error", f"{SIDECAR} is not JSON: {error}", file=SIDECAR)]
    try:
        sidecar = msgspec.convert(value, Sidecar)
    except msgspec.ValidationError as error:
        return value, [Problem("bad-project", "error", f"{SIDECAR}: {error}", file=SIDECAR)]
    wrong = list(_wrong(sidecar, folder))
    return value, [Problem("bad-project", "error", f"{SIDECAR}: {text}", file=SIDECAR) for text in wrong]


def _wrong(sidecar: Sidecar, folder: Folder) -> list[str]:
    out = []
    program = sidecar.program
    for path in program.rules or ():
        out += _path(folder, path, f"`{path}` in $.program.rules")
        if kind_of(path) != "rules":
            out.append(f"`{path}` in $.program.rules is not a file of rules")
    for text in program.events or ():
        out += _path(folder, split_events(text)[1], f"`{text}` in $.program.events")
    for name, path in (program.options.facts or {}).items():
        out += _path(folder, path, f"`{path}` in $.program.options.facts[{name}]")
    for name, icon in sidecar.icons.items():
        at = f"$.icons[{name}]"
        if (icon.character is None) == (icon.image is None):
            out.append(f"{at} needs a character or an image, and not both")
        if icon.character is not None and not _one_character(icon.character):
            out.append(f"{at}.character is not one character")
        if icon.image is not None:
            out += _path(folder, icon.image, f"{at}.image")
            if not icon.image.lower().endswith(tuple(IMAGES)):
                out.append(f"{at}.image has an unsupported suffix (use {' '.join(IMAGES)})")
    return out


def _path(folder: Folder, path: str, what: str) -> list[str]:
    try:
        folder.real(path)
    except Refused:
        return [f"{what} is not a path of this project"]
    return []


def _one_character(text: str) -> bool:
    """One character as people count them: the first code point, and what joins itself to it."""
    joined = False
    for i, c in enumerate(text):
        joins = unicodedata.combining(c) or c in "\u200d\ufe0e\ufe0f" or "\U0001f3fb" <= c <= "\U0001f3ff"
        flag = i == 1 and all("\U0001f1e6" <= f <= "\U0001f1ff" for f in text[:2])
        if i and not (joins or joined or flag):
            return False
        joined = c == "\u200d"
    control = any(unicodedata.category(c) in ("Cc", "Cs") for c in text)
    return bool(text) and len(text) <= 16 and not control and not text.isspace()


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON value")


def written(value: Any) -> str:
    """A project as text: keys sorted, one node, icon or list a line, so that differences are small."""
    return _written(value, "") + "\n"


def _written(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value and (not indent or any(isinstance(v, list | dict) for v in value.values())):
        lines = [f"{inner}{_compact(k)}: {_written(v, inner)}" for k, v in sorted(value.items())]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(v, dict) for v in value):
        return "[\n" + ",\n".join(f"{inner}{_compact(v)}" for v in value) + f"\n{indent}]"
    return _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


