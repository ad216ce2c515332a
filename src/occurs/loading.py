"""Texts to programs: which language a file is in, and what becomes of files that cannot be read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from occurs.connect.places import user_path
from occurs.errors import InputProblem, UsageProblem, did_you_mean
from occurs.languages.kit.language import names, suffixes
from occurs.program import Program


def load(
    *paths: str | Path,
    language: str | None = None,
    max_formula: int | None = None,
    values: Mapping[Any, Any] | None = None,
) -> Program:
    """Load a program from one or more files of rules, in any mix of languages.

    Args:
        paths: The files.  The suffix selects the language: ``.tesla``, ``.epl``, ``.phen``, ``.ftl``, ``.ptl``,
            ``.esql`` or ``.sql``.
        language: The language of all files, whatever their suffixes: ``tesla``, ``epl``, ``phenesthe``, ``ftl``,
            ``ptl``, ``esql`` or ``match_recognize``.
        max_formula: The maximum number of subformulas with free variables per temporal trigger.  None means 64.
        values: The values of variables (``create variable``) and parameters (``?:name``) of EPL, by their names;
            parameters without a name are ``"1"``, ``"2"``, and so on.

    Returns:
        The program.  Its ``problems`` are the warnings and notices of the rules.

    Raises:
        SyntaxProblem: If a text is not in its language.
        DefinitionProblem: If the rules contradict each other or refer to unknown names.  Both errors list all problems
            of all files.
        InputProblem: If a file does not exist or is not text (``missing-file``).
        UsageProblem: If the language of a file is unknown (``unknown-language``), or the rules take no value of a
            name.

    Examples:
        >>> import occurs, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "hot.tesla")
        >>> _ = path.write_text("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        >>> occurs.load(path)
        Program(Hot)
    """
    _prepare_notebook()
    texts: list[tuple[str, str | None, str]] = []
    for path in map(Path, paths):
        one = _language(language, str(path)) if language else language_of(path)
        texts.append((text_of(path), str(path), one))
    folders = {str(path): path.parent.absolute() for path in map(Path, paths)}
    return Program(texts, max_formula=max_formula, folders=folders, values=values)


def language_of(path: str | Path) -> str:
    """The language of a file by its suffix.  Raises UsageProblem (``unknown-language``)."""
    return _language(suffixes().get(Path(path).suffix), str(path))


def text_of(path: Path) -> str:
    """The text of a file.  Raises InputProblem (``missing-file``, with the nearest names)."""
    path = user_path(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        near = [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, near, f"files in {path.parent}")
        raise InputProblem.of("missing-file", f"there is no file {path}", file=str(path), hint=hint) from None
    except (UnicodeDecodeError, OSError) as error:
        raise InputProblem.of("missing-file", f"{path} cannot be read as text: {error}", file=str(path)) from error


def parse(
    text: str,
    language: str = "tesla",
    *,
    name: str | None = None,
    max_formula: int | None = None,
    values: Mapping[Any, Any] | None = None,
) -> Program:
    """Make a program from a text of rules.

    Args:
        text: The rules.
        language: Their language: ``tesla``, ``epl``, ``phenesthe``, ``ftl``, ``ptl``, ``esql`` or
            ``match_recognize``.
        name: The name that messages use in place of a file name.
        max_formula: The maximum number of subformulas with free variables per temporal trigger.  None means 64.
        values: The values of variables (``create variable``) and parameters (``?:name``) of EPL, by their names;
            parameters without a name are ``"1"``, ``"2"``, and so on.

    Returns:
        The program.  Its ``problems`` are the warnings and notices of the rules.

    Raises:
        SyntaxProblem: If the text is not in the language.
        DefinitionProblem: If the rules contradict each other or refer to unknown names.
        UsageProblem: If the language is unknown (``unknown-language``), or the rules take no value of a name.

    Examples:
        >>> import occurs
        >>> occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
        Program(Hot)
    """
    _prepare_notebook()
    return Program([(text, name, _language(language, name or "<text>"))], max_formula=max_formula, values=values)


def _prepare_notebook() -> None:
    """In a notebook, errors in rules are shown as they print themselves."""
    if "IPython" in sys.modules:
        from occurs.notebook.shell import show_errors

        show_errors()


def _language(language: str | None, file: str) -> str:
    if language is None or language not in names():
        if language is not None:
            hint = did_you_mean(language, names(), "languages")
            raise UsageProblem.of("unknown-language", f"unknown language `{language}`", hint=hint)
        known = ", ".join(f"{suffix} ({name})" for suffix, name in suffixes().items())
        hint = f"specify it with --language NAME (Python: language=..); known suffixes: {known}"
        raise UsageProblem.of("unknown-language", f"the language of {file} is unknown", hint=hint)
    return language
