"""Writes the files of the VS Code extension that follow from the languages: grammars for highlighting, and how
comments and brackets look.

``python tools/editor_files.py`` writes them into ``editors/vscode``; a test compares them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from occurs.languages.kit.language import suffixes
from occurs.services import words
from occurs.services.answers import Words

EXTENSION = Path(__file__).parent.parent / "editors" / "vscode"
#: the name of a language as people read it
TITLES = {
    "epl": "EPL (Occurs)",
    "esql": "eSQL (Occurs)",
    "ftl": "FTL (Occurs)",
    "match_recognize": "Row patterns in SQL (Occurs)",
    "phenesthe": "Phenesthe (Occurs)",
    "ptl": "PTL (Occurs)",
    "tesla": "TESLA (Occurs)",
}


def main() -> None:
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def files() -> dict[Path, str]:
    """The generated files by path."""
    known = words()
    out = {}
    for suffix, name in suffixes().items():
        kind = suffix[1:]
        out[EXTENSION / "syntaxes" / f"{kind}.tmLanguage.json"] = _json(grammar(kind, TITLES[name], known[name]))
        out[EXTENSION / "languages" / f"{kind}.json"] = _json(configuration(known[name]))
    return out


def contributed() -> dict[str, Any]:
    """What ``package.json`` says of the languages.  Files of SQL belong to other languages until a person says so."""
    languages = [
        {
            "id": f"occurs-{suffix[1:]}",
            "aliases": [TITLES[name]],
            **({} if suffix == ".sql" else {"extensions": [suffix]}),
            "configuration": f"./languages/{suffix[1:]}.json",
        }
        for suffix, name in suffixes().items()
    ]
    grammars = [
        {
            "language": f"occurs-{suffix[1:]}",
            "scopeName": f"source.occurs.{suffix[1:]}",
            "path": f"./syntaxes/{suffix[1:]}.tmLanguage.json",
        }
        for suffix in suffixes()
    ]
    return {"languages": languages, "grammars": grammars}


def grammar(kind: str, title: str, words: Words) -> dict[str, Any]:
    """A TextMate grammar; the first pattern that matches decides."""
    flag = "i" if words.ignore_case else ""
    spelled = {
        "keyword.other.unit": words.units,
        "keyword.control": [word for word in words.keywords if any(c.isalnum() for c in word)],
        "constant.language": words.constants,
        "storage.type": words.types,
    }
    patterns = [*_comments(words), *(_string(words, mark) for mark in words.strings)]
    if words.quoted_names:
        mark = re.escape(words.quoted_names)
        patterns.append({"name": "variable.other.quoted", "match": f"{mark}[^{mark}\n]+{mark}?"})
    if words.variable_marks:
        patterns.append({"name": "variable.parameter", "match": rf"[{re.escape(words.variable_marks)}]\w+"})
    number = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
    units = _any(spelled.pop("keyword.other.unit"))
    captures = {"1": {"name": "constant.numeric"}, "2": {"name": "keyword.other.unit"}}
    patterns.append({"match": rf"(?<!\w)({number})\s*((?{flag}:{units}))(?!\w)", "captures": captures})
    patterns.append({"name": "constant.numeric", "match": rf"(?<!\w){number}"})
    for scope, texts in spelled.items():
        if texts:
            patterns.append({"name": scope, "match": rf"(?<![\w.])(?{flag}:{_any(texts)})(?!\w)"})
    if words.functions:
        patterns.append({"name": "support.function", "match": rf"(?<!\w)(?i:{_any(words.functions)})(?=\s*\()"})
    if words.operators:
        signs = "|".join(re.escape(o) for o in sorted(words.operators, key=lambda o: (-len(o), o)))
        patterns.append({"name": "keyword.operator", "match": signs})
    scoped = [_scoped(pattern, kind) for pattern in patterns]
    return {"name": title, "scopeName": f"source.occurs.{kind}", "patterns": scoped}


def _comments(words: Words) -> Iterable[dict[str, Any]]:
    for opening, closing in words.block_comments:
        yield {"name": "comment.block", "begin": re.escape(opening), "end": re.escape(closing)}
    for mark in words.line_comments:
        yield {"name": "comment.line", "match": rf"{re.escape(mark)}.*$"}
    for mark in words.line_start_comments:
        yield {"name": "comment.line", "match": rf"^\s*{re.escape(mark)}.*$"}


def _string(words: Words, mark: str) -> dict[str, Any]:
    inside = rf"{re.escape(words.escape)}." if words.escape else mark * 2
    escape = {"name": "constant.character.escape", "match": inside}
    end = f"{mark}|$" if words.escape else f"{mark}(?!{mark})|$"
    return {"name": "string.quoted", "begin": mark, "end": end, "patterns": [escape]}


def _any(texts: Iterable[str]) -> str:
    """An expression for any of some words, the longest first; blanks in them are any blanks."""
    longest = sorted(set(texts), key=lambda text: (-len(text), text))
    return "|".join(r"\s+".join(re.escape(part) for part in text.split()) for text in longest)


def _scoped(value: Any, kind: str) -> Any:
    """The same with the language behind every name of a scope, as grammars have it."""
    if isinstance(value, dict):
        return {k: f"{v}.{kind}" if k == "name" else _scoped(v, kind) for k, v in value.items()}
    return [_scoped(v, kind) for v in value] if isinstance(value, list) else value


def configuration(words: Words) -> dict[str, Any]:
    """How an editor comments lines and closes brackets."""
    marks = {"lineComment": (*words.line_comments, *words.line_start_comments)[0]}
    blocks = {"blockComment": list(words.block_comments[0])} if words.block_comments else {}
    pairs = [["{", "}"], ["[", "]"], ["(", ")"]]
    quotes = [[mark, mark] for mark in (*words.strings, *words.quoted_names)]
    closing = [{"open": a, "close": b, "notIn": ["string", "comment"]} for a, b in (*pairs, *quotes)]
    return {
        "comments": {**marks, **blocks},
        "brackets": pairs,
        "autoClosingPairs": closing,
        "surroundingPairs": [*pairs, *quotes],
    }


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
