"""Functions of pipes as values: ``fn("$0 + 1")``, ``fn.add``, ``@function`` (pipes.md, 2.3)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from occurs.errors import DefinitionProblem, OccursError, did_you_mean
from occurs.expr.tree import Binary, Call, Expr, IsNull, Ref, Unary, rewrite
from occurs.operators.process import palettes
from occurs.operators.process.function_kinds import FUNCTIONS
from occurs.operators.process.kinds import Kind, kind_named
from occurs.operators.process.tree import Foreign, Input, UserFunction
from occurs.operators.process.values import Fault, as_python
from occurs.pipes.constants import constant
from occurs.pipes.sources import Untaken, of_kind

#: types of which NaN is a value
_FLOATS = ("number", "any")


def by_rows(run: Callable[..., Any], name: str, gives: Sequence[Kind]) -> Callable[..., Any]:
    """A function of values of Python as one of values of pipes.  Raises Fault if it fails, or gives something else."""

    def apply(*arguments: Any) -> Any:
        values = tuple(map(as_python, arguments))
        with _failing(name, values if len(values) > 1 else values[0] if values else None):
            found = run(*values)
        results = [found] if len(gives) == 1 else list(found)
        if len(results) != len(gives):
            raise Fault("arity", f"makes {len(results)} results of `{name}`, not {len(gives)}", values)
        try:
            kept = tuple(_result(v, k) for v, k in zip(results, gives))
        except Untaken as unfit:
            raise Fault("bad-value", f"as the result of `{name}` {unfit}", found) from unfit
        return kept[0] if len(gives) == 1 else kept

    return apply


def of_arrays(run: Callable[..., Any], name: str, gives: int) -> Callable[..., Any]:
    """A function of arrays.  Raises Fault if it fails, or gives other arrays than it should."""

    def apply(*arrays: Any) -> Any:
        with _failing(name, None):
            found = run(*arrays)
        results = [found] if gives == 1 else list(found)
        lengths = {np.shape(r)[:1] for r in results}
        if len(results) != gives or (arrays and lengths != {(len(arrays[0]),)}):
            many = "an array" if gives == 1 else f"{gives} arrays"
            raise Fault("arity", f"`{name}` must return {many} of the length of its arguments", None)
        return found

    return apply


def _result(value: Any, kind: Kind) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    # a NaN that is computed stays one
    return value if isinstance(value, float) and kind.name in _FLOATS else of_kind(value, kind)


@contextmanager
def _failing(name: str, value: Any) -> Iterator[None]:
    """A user's function at work: what it raises becomes a Fault."""
    try:
        yield
    except OccursError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        words = f"`{name}` failed: {why}" if value is None else f"makes `{name}` fail: {why}"
        raise Fault("bad-value", words, value) from error


Build = Callable[[Sequence[Expr]], tuple[Expr, ...]]


@dataclass(frozen=True, eq=False)
class Function:
    """A function of ``arity`` arguments (None: any number)."""

    name: str
    arity: int | None
    build: Build
    outputs: int = 1

    def results(self, arguments: Sequence[Expr]) -> tuple[Expr, ...]:
        """Its results as expressions of these arguments; raises DefinitionProblem (``arity``) if their number is
        wrong."""
        if self.arity is not None and len(arguments) != self.arity:
            many = f"{self.arity} argument{'s' * (self.arity != 1)}"
            raise DefinitionProblem.of("arity", f"function `{self.name}` takes {many}, not {len(arguments)}")
        return self.build(arguments)

    def expressions(self, inputs: int | None = None) -> tuple[Expr, ...]:
        """Its results as expressions of the inputs ``$0 $1 ..``."""
        many = self.arity if inputs is None else inputs
        if many is None:
            raise DefinitionProblem.of("arity", f"function `{self.name}` takes any number of arguments: set how many")
        return self.results([Input(i) for i in range(many)])

    @property
    def expression(self) -> Expr:
        """Its single result as an expression of the inputs."""
        (found,) = self.expressions()
        return found

    def bind(self, left: Any = None, right: Any = None, **at: Any) -> Function:
        """The function with an argument fixed: ``left=`` is the first, ``right=`` the second, ``_2=`` the third, and so
        on."""
        given = {0: left, 1: right, **{_position(n): v for n, v in at.items()}}
        fixed = {i: _argument(v) for i, v in given.items() if v is not None}
        if self.arity is not None and any(i >= self.arity for i in fixed):
            raise DefinitionProblem.of("arity", f"function `{self.name}` has no argument {max(fixed)} to bind")

        def build(arguments: Sequence[Expr]) -> tuple[Expr, ...]:
            rest = list(arguments)
            whole = [fixed[i] if i in fixed else rest.pop(0) for i in range(len(rest) + len(fixed))]
            return self.results(whole)

        return Function(self.name, None if self.arity is None else self.arity - len(fixed), build, self.outputs)

    def after(self, *inner: Function) -> Function:
        """The function applied to the results of other functions: ``f.after(g)(x)`` is ``f(g(x))``.  The other
        functions take the same arguments."""
        arities = {g.arity for g in inner if g.arity is not None}
        if len(arities) > 1:
            raise DefinitionProblem.of("arity", "the inner functions take different numbers of arguments")

        def build(arguments: Sequence[Expr]) -> tuple[Expr, ...]:
            return self.results([r for g in inner for r in g.results(arguments)])

        name = f"{self.name}({', '.join(g.name for g in inner)})"
        return Function(name, next(iter(arities), None), build, self.outputs)

    def __call__(self, *pipes: Any) -> Any:
        """Lifted over pipes; constants and variables among them are parameters."""
        from occurs.pipes.operators import lift

        return lift(self)(*pipes)

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def _position(name: str) -> int:
    if not name.startswith("_") or not name[1:].isdecimal():
        raise DefinitionProblem.of("arity", f"there is no argument `{name}`: use left, right, _2, _3 ..")
    return int(name[1:])


def _argument(value: Any) -> Expr:
    from occurs.pipes.pipe import Pipe

    if isinstance(value, Pipe):
        found = value.parameter
        if found is None:
            raise DefinitionProblem.of("sort", "only constants and variables can be bound")
        return found
    return constant(value)


# --- fn ---------------------------------------------------------------------------------------------------------------

_BINARY = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "mod": "mod", "div": "div", "eq": "=", "ne": "!=",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "and", "or": "or",
}  # fmt: skip


class PathFunction(Function):
    """``xpath`` and its kin, whose path was once the first argument."""

    def __call__(self, *args: Any) -> Any:
        if len(args) == 2 and isinstance(args[0], str) and not isinstance(args[1], str):
            text = f"{self.name}(path, doc) is deprecated: write {self.name}(doc, path)"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            args = args[::-1]
        return super().__call__(*args)


class Functions:
    """``fn``: function text as a function, and the functions as attributes (``fn.add``, ``fn.if_``, ``fn.size``)."""

    def __call__(self, text: str) -> Function:
        """The function that a text of pipes.md 2.2 is; SyntaxProblem, DefinitionProblem."""
        from occurs.languages.esql.checks.functions import function as function_of_text

        return of_expression(function_of_text(text), text)

    def __getattr__(self, name: str) -> Function:
        plain = name.removesuffix("_")
        if name.startswith("_"):
            raise AttributeError(name)
        if plain in _BINARY:
            op = _BINARY[plain]
            return Function(plain, 2, lambda a: (Binary(op, a[0], a[1]),))
        if plain in ("not", "neg"):
            return Function(plain, 1, lambda a: (Unary(plain, a[0]),))
        if plain == "is_null":
            return Function(plain, 1, lambda a: (IsNull(a[0]),))
        signature = FUNCTIONS.get(plain)
        if signature is None and plain in palettes.functions():
            return cast("Function", palettes.functions()[plain])
        if signature is None:
            known = [*_BINARY, "not", "neg", "is_null", *FUNCTIONS]
            raise DefinitionProblem.of(
                "unknown-function", f"there is no function `{plain}`", hint=did_you_mean(plain, known, "functions")
            )
        arity = signature.least if signature.least == signature.most else None
        kind = PathFunction if plain.startswith("xpath") else Function
        return kind(plain, arity, lambda a: (Call(plain, tuple(a)),))

    def __dir__(self) -> list[str]:
        keywords = {"and", "or", "not", "if", "in"}
        names = [*_BINARY, "not", "neg", "is_null", *FUNCTIONS]
        return [f"{n}_" if n in keywords else n for n in names]


fn = Functions()

#: the words of COMBINE that functions stand for, when they cumulate
CUMULATIVE = {
    "add": "addition", "multiply": "multiplication", "subtract": "subtraction", "divide": "division",
    "maximum": "maximum", "minimum": "minimum", "and": "conjunction", "or": "disjunction",
}  # fmt: skip


def of_expression(expr: Expr, name: str) -> Function:
    """The function that an expression of the inputs is: it takes as many as it mentions, at least one."""
    used = [n.index for n in expr.walk() if isinstance(n, Input)]

    def build(arguments: Sequence[Expr]) -> tuple[Expr, ...]:
        return (rewrite(expr, lambda n: arguments[n.index] if isinstance(n, Input) else None),)

    many = max(used, default=0) + 1
    if any(isinstance(n, Ref) for n in expr.walk()):
        # attributes are looked for in the inputs themselves, so these stay as they are
        return Function(name, None, lambda a: (expr,))
    return Function(name, many, build)


def as_function(value: Any, inputs: int = 1) -> Expr:
    """An expression of ``inputs`` inputs: of a Function, of function text, or a constant."""
    if isinstance(value, Function):
        found = value.results([Input(i) for i in range(inputs if value.arity is None else value.arity)])
        return found[0]
    if isinstance(value, str):
        raise DefinitionProblem.of("sort", f"{value!r} is a string: write fn({value!r}) for a function")
    return _argument(value)


def function(
    *, inputs: Sequence[Any], outputs: Sequence[Any] = (Any,), vectorised: bool = True
) -> Callable[[Callable[..., Any]], Function]:
    """Makes a Python function usable in pipes; ``inputs`` and ``outputs`` are types (``float``, ``"list<int>"``).

    ``vectorised``: the function takes one NumPy array per input and returns one array, or a tuple with one array per
    output.  Otherwise it is called for every row, with values like those that ``run`` returns.  If an argument is null,
    the results are null and the function is not called.
    """

    def make(run: Callable[..., Any]) -> Function:
        takes, gives = tuple(map(kind_named, inputs)), tuple(map(kind_named, outputs))
        name = getattr(run, "__name__", "function")
        made = of_arrays(run, name, len(gives)) if vectorised else by_rows(run, name, gives)
        user = UserFunction(name, made, takes, gives, vectorised)

        def build(arguments: Sequence[Expr]) -> tuple[Expr, ...]:
            return tuple(Foreign(user, tuple(arguments), k) for k in range(len(gives)))

        return Function(user.name, len(takes), build, len(gives))

    return make
