"""Texts to programs: which language a file is in, and what becomes of files that cannot be read."""

from __future__ import annotations

from pathlib import Path

from occurs.errors import InputProblem, UsageProblem, did_you_mean
from occurs.program import Program

_SUFFIXES = {".tesla": "tesla"}
_LANGUAGES = ("tesla",)


def load(*paths: str | Path, language: str | None = None) -> Program:
    """A program from one or many files; the language is the suffix (``.tesla``).

    Raises SyntaxProblem or DefinitionProblem with all problems of all files, InputProblem (``missing-file``).
    """
    texts: list[tuple[str, str | None]] = []
    for path in map(Path, paths):
        _language(language or _SUFFIXES.get(path.suffix), str(path))
        try:
            texts.append((path.read_text(encoding="utf-8-sig"), str(path)))
        except FileNotFoundError:
            near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
            hint = did_you_mean(path.name, near, "files there")
            raise InputProblem.of("missing-file", f"there is no file {path}", file=str(path), hint=hint) from None
        except (UnicodeDecodeError, OSError) as error:
            raise InputProblem.of("missing-file", f"{path} cannot be read as text: {error}", file=str(path)) from error
    return Program(texts)


def parse(text: str, language: str = "tesla", *, name: str | None = None) -> Program:
    """A program from a string; ``name`` stands for the file in messages."""
    _language(language, name or "<text>")
    return Program([(text, name)])


def _language(language: str | None, file: str) -> None:
    if language not in _LANGUAGES:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in _SUFFIXES.items())
        raise UsageProblem.of("unknown-language", f"no language is known for {file}", hint=f"suffixes: {known}")
