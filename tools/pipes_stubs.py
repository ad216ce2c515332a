"""Writes what type checkers and the documentation read of the processors in Python: stubs beside the modules that make
them of their declarations.

    python tools/pipes_stubs.py
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "src/occurs/pipes"
_HEAD = '''"""{doc}"""

# made by tools/pipes_stubs.py: do not edit
{imports}'''
_IMPORTS = {
    "processors": """from collections.abc import Callable
from typing import Any

from occurs.pipes.box import Box
from occurs.pipes.pipe import Pipe
""",
    "": "from occurs.pipes.pipe import Pipe\n",
}


def _def(name: str, made: Callable[..., Any], doc: str | None) -> str:
    """A function without its body."""
    parts = []
    for p in inspect.signature(made).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        text = ("*" if p.kind is p.VAR_POSITIONAL else "") + p.name
        typed = p.annotation is not p.empty
        text += f": {p.annotation}" if typed else ""
        default = repr(p.default).replace("'", '"')
        parts.append(text + (f" = {default}" if typed else f"={default}") * (p.default is not p.empty))
    returns = inspect.signature(made).return_annotation
    line = f"def {name}({', '.join(parts)}) -> {returns}:"
    if len(line) > 112:
        several = "".join(f"    {part},\n" for part in parts)
        line = f"def {name}(\n{several}) -> {returns}:"
    return f"{line}\n" + textwrap.indent(_doc(doc), "    ") if doc else f"{line} ...\n"


def _doc(text: str) -> str:
    return textwrap.fill(f'"""{" ".join(text.split())}"""', 108) + "\n"


def stubs() -> dict[str, str]:
    """The text of every stub, by the name of its file."""
    from occurs.pipes import plot, processors, signal, stats

    doc = "The processors in Python: boxes, methods of pipes, functions."
    out = [_HEAD.format(doc=doc, imports=_IMPORTS["processors"])]
    names = "".join(f'    "{name}",\n' for name in sorted(processors.__all__))
    out.append(f"__all__ = [\n{names}]\n")
    methods = {n: m for n, m in vars(processors.Methods).items() if inspect.isfunction(m)}
    body = "".join(_def(n, m, m.__doc__) + "\n" for n, m in methods.items()).rstrip() + "\n"
    out.append("class Methods:\n" + textwrap.indent(_doc("The processors as methods of pipes.") + "\n" + body, "    "))
    for name in processors.__all__:
        made = getattr(processors, name)
        if inspect.isclass(made):
            (base,) = made.__bases__
            body = _doc(made.__doc__ or "") + "\n" + _def("__init__", made.__init__, None)
            out.append(f"class {name}({base.__name__}):\n" + textwrap.indent(body, "    "))
        else:
            out.append(_def(name, made, made.__doc__))
    found = {"processors.pyi": "\n".join(out)}
    for module in (plot, signal, stats):
        name = module.__name__.rpartition(".")[2]
        every = [_def(n, m, m.__doc__) for n, m in processors.functions(name).items()]
        found[f"{name}.pyi"] = "\n".join([_HEAD.format(doc=module.__doc__, imports=_IMPORTS[""]), *every])
    return found


if __name__ == "__main__":
    for file, text in stubs().items():
        (FOLDER / file).write_text(text)
