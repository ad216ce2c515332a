"""The program of a project at one moment: its files, and unsaved texts in the place of some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from occurs.studio.files import BOM, SIDECAR, Content, Folder, kind_of
from occurs.studio.http import Refused
from occurs.studio.limits import LIMITS
from occurs.studio.marks import MARK
from occurs.studio.project import Project, Settings
from occurs.studio.shapes import Problem


@dataclass(frozen=True)
class Program:
    """The texts of a program by path, without byte order marks, and what is wrong with its files.

    ``marked``: the paths of texts that have such a mark.
    """

    texts: dict[str, str]
    problems: list[Problem]
    settings: Settings
    marked: frozenset[str]


def read(folder: Folder, project: Project, unsaved: Mapping[str, str], path: str | None = None) -> Program:
    """The program with the texts in ``unsaved`` that belong to it.

    ``path``: a file of rules that is asked about, which is read in any case.  Refuses it if it cannot be (404, 422),
    and hostile paths (403).
    """
    settings = project.settings()
    problems = list(settings.problems)
    texts: dict[str, str] = {}
    for one in settings.rules:
        if one in unsaved:
            continue
        try:
            texts[one] = _text(folder.read(one))
        except UnicodeDecodeError as error:
            text = f"{one} is not UTF-8: byte 0x{error.object[error.start]:02x} at offset {error.start:,}"
            problems.append(Problem("not-utf-8", "error", text, file=one))
        except Refused as error:
            hint = f"program.rules of {SIDECAR} names it" if error.status == 404 else None
            problems += error.error.problems or [Problem(error.error.kind, "error", str(error), hint, one)]
    for one, text in unsaved.items():
        if kind_of(folder.check(one)) != "rules" or not (one == path or settings.has(one)):
            continue
        if len(text.encode(errors="surrogatepass")) > LIMITS.rule_text:
            raise Refused(413, "too-large", f"{one}: a file of rules has at most {LIMITS.rule_text >> 20} MB")
        texts[one] = text
    if path is not None and path not in texts:
        try:
            texts[path] = _text(folder.read(path))
        except UnicodeDecodeError:
            raise Refused(422, "problems", f"{path} is not UTF-8") from None
    marked = frozenset(one for one, text in texts.items() if text.startswith(MARK))
    return Program({one: texts[one].removeprefix(MARK) for one in sorted(texts)}, problems, settings, marked)


def _text(content: Content) -> str:
    """A text with its mark."""
    return MARK * content.data.startswith(BOM) + content.text
