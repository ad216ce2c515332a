"""The processors in Python, made of their declarations: boxes to be connected by hand, methods of pipes, functions.

A class of boxes has the name of its processor (pipes.md, 4.2 and 4.3); functions are given as ``fn(..)``, inner
processors as callables from pipes to pipes.  The declaration of a processor holds all its facts
(:mod:`occurs.operators.process.declared`); ``processors.pyi`` declares the same for type checkers, and is written by
``tools/pipes_stubs.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING
from inspect import Parameter, Signature
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.operators.process import declared
from occurs.operators.process.declared import Call, Processor, processors
from occurs.operators.process.kinds import ANY, Kind
from occurs.operators.process.tree import CUMULATIVE
from occurs.pipes import callables
from occurs.pipes.box import Box
from occurs.pipes.callables import Function, as_function
from occurs.pipes.constants import duration, whole


class Methods:
    """The processors as methods of pipes."""

    __slots__ = ()


def _calls() -> Iterator[tuple[type[Processor], Call]]:
    """Every processor with its names in Python."""
    for cls in processors():
        for call in cls.calls:
            yield cls, Call(call) if isinstance(call, str) else call


def _arguments(cls: type[Processor], call: Call) -> list[Parameter]:
    """The parameters of a call as arguments."""
    found = []
    for name, (field, kind) in cls.parameters().items():
        if name in call.fixed:
            continue
        given = field.default is not MISSING and name not in call.needed
        several = isinstance(kind, declared.Names)
        found.append(
            Parameter(
                field.metadata["python"] or name,
                Parameter.VAR_POSITIONAL if several else Parameter.POSITIONAL_OR_KEYWORD,
                default=field.default if given else Parameter.empty,
                annotation=kind.python,
            )
        )
    return found


def _processor(cls: type[Processor], call: Call, given: dict[str, Any], who: str, sources: Sequence[Kind]) -> Processor:
    """The processor that the arguments of a call make; ``who``: what problems call it."""
    values = dict(call.fixed)
    for name, (field, kind) in cls.parameters().items():
        if name not in values:
            value = given[field.metadata["python"] or name]
            unset = value is None and field.default is None
            values[name] = None if unset else _value(kind, value, who, cls.inside(sources))
    return cls(**values)


def _value(kind: declared.Parameter, value: Any, who: str, inner: Sequence[Kind]) -> Any:
    """An argument as the value of a parameter; raises DefinitionProblem if it is not one."""
    from occurs.pipes.pipe import inner_of, operand

    match kind:
        case declared.Whole():
            return whole(value, kind.least, who)
        case declared.Length():
            return duration(value)
        case declared.Function():
            return as_function(value) if kind.inputs else operand(value)
        case declared.Combination():
            return _combination(value)
        case declared.Phi():
            return inner_of(value, inner, kind.what)
        case declared.Signatures():
            wrong = kind.problem(value)
            if wrong is not None:
                raise DefinitionProblem.of(*wrong)
        case declared.OnBad() if value not in ("error", "null"):
            raise DefinitionProblem.of("unknown-name", f"on_bad must be error or null, not {value!r}")
    return value


def _combination(value: Any) -> Any:
    """A function of two arguments, or a word of eSQL in lower case (``"bag union"``)."""
    if isinstance(value, str) and value in CUMULATIVE:
        return value
    word = callables.CUMULATIVE.get(value.name) if isinstance(value, Function) and value.arity == 2 else None
    return as_function(value, 2) if word is None else word


def _box(cls: type[Processor], call: Call, base: type[Box]) -> type[Box]:
    """The class of boxes of a processor."""
    own = _arguments(cls, call)
    if cls.several:
        own.append(Parameter("n", Parameter.POSITIONAL_OR_KEYWORD, default=2, annotation="int"))
    named = Parameter("name", Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
    me = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    signature = Signature([me, *own, named], return_annotation="None")

    def __init__(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = bound.arguments
        inputs = whole(given["n"], cls.several, cls.__name__) if cls.several else len(cls.ports)
        processor = _processor(cls, call, given, cls.__name__, [ANY] * inputs)
        Box.__init__(given["self"], processor, inputs, processor.outputs(inputs), name=given["name"])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    text = {"__init__": __init__, "__doc__": call.doc or cls.__doc__, "__module__": __name__}
    return type(call.name, (base,), text)


def _function(cls: type[Processor], call: Call) -> Callable[..., Any]:
    """A method of pipes, or a function."""
    module, _, name = call.name.rpartition(".")
    ports = ["self", *cls.ports[1:]] if call.name[0] == "." else [call.port] if module else list(cls.ports)
    typed = {p: Parameter.empty if p == "self" else "Pipe" for p in ports}
    pipes = [Parameter(p, Parameter.POSITIONAL_OR_KEYWORD, annotation=a) for p, a in typed.items()]
    signature = Signature([*pipes, *_arguments(cls, call)], return_annotation="Pipe")
    who = name if module else cls.__name__

    def apply(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        sources = [bound.arguments[p] for p in ports]
        processor = _processor(cls, call, bound.arguments, who, [s.item_type for s in sources])
        return Box(processor, len(sources), sources=sources).out()

    apply.__signature__ = signature  # type: ignore[attr-defined]
    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = call.doc or cls.__doc__
    return apply


def functions(module: str) -> dict[str, Callable[..., Any]]:
    """The functions of a module (``signal``), by name."""
    found = [(cls, call) for cls, call in _calls() if call.name.startswith(f"{module}.")]
    return {call.name.rpartition(".")[2]: _function(cls, call) for cls, call in found}


__all__: list[str] = []
for _cls, _call in _calls():
    if _call.name[0].isupper():
        _first = globals().get(_cls.__name__, Box) if _call.fixed else Box
        globals()[_call.name] = _box(_cls, _call, _first)
        __all__ += [_call.name]
    elif "." not in _call.name:
        globals()[_call.name] = _function(_cls, _call)
        __all__ += [_call.name]
    elif _call.name[0] == ".":
        _made = _function(_cls, _call)
        _made.__qualname__ = f"Pipe{_call.name}"
        setattr(Methods, _call.name[1:], _made)
