"""What an editor asks of rules, without HTTP: problems, outline, completion, hover, words, canonical text, plan,
drawings of EPL.

All functions take the texts of the whole program, a mapping from paths to texts; the suffix of a path says the
language.  They keep nothing between calls but what makes the next one faster, raise nothing whatever the texts are
(:func:`plan` does for rules that are wrong, :func:`draw` and :func:`model` for a statement that is not there), and
touch neither actions nor databases.  Places are lines and columns from 1, offsets count code points.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from occurs.services.checks import check
    from occurs.services.choosing import known_types, offered
    from occurs.services.completing import complete, definition, hover, uses
    from occurs.services.drawing import change_domain, draw, graph, medit_text, model, model_text
    from occurs.services.formatting import format_text
    from occurs.services.peeking import peek
    from occurs.services.planning import plan
    from occurs.services.renaming import rename
    from occurs.services.vocabulary import words

__all__ = [
    "change_domain", "check", "complete", "definition", "draw", "format_text", "graph", "hover", "known_types",
    "medit_text", "model", "model_text", "offered", "peek", "plan", "rename", "uses", "words",
]  # fmt: skip

_WHERE = {
    "change_domain": "drawing",
    "check": "checks",
    "complete": "completing",
    "definition": "completing",
    "draw": "drawing",
    "format_text": "formatting",
    "graph": "drawing",
    "hover": "completing",
    "known_types": "choosing",
    "medit_text": "drawing",
    "model": "drawing",
    "model_text": "drawing",
    "offered": "choosing",
    "peek": "peeking",
    "plan": "planning",
    "rename": "renaming",
    "uses": "completing",
    "words": "vocabulary",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
