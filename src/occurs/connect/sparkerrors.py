"""What Spark says when it fails, in our words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from urllib.parse import unquote

from occurs.errors import CheckpointProblem, InputProblem, LimitProblem, OccursError, Problem, ResourceProblem, Span

#: before the problems in the text of an exception; spelled in two so that a traceback does not show it
_MARK = "occurs-" + "problems:"

_FILE = re.compile(r"\[FAILED_READ_FILE[\w.]*\] Encountered error while reading file (\S+?)\.\s")
#: a worker that cannot import what a task of ours needs
_LACKING = re.compile(r"ModuleNotFoundError: No module named '(occurs|numba|numpy|pyarrow|pandas|lark)\b")
_CAUSE = re.compile(r"^(?:: |Caused by: )?[\w.$]+(?:Exception|Error): (\S.*)$", re.MULTILINE)


@contextmanager
def spark_errors() -> Iterator[None]:
    """A block in which problems of the data that Spark meets are raised as errors of Occurs.

    Spark computes a DataFrame when an action such as ``collect`` needs it, and raises what a task has raised as an
    exception of its own.  Within this block a row that cannot be used, an overflow, or a limit that is exceeded is
    raised as on the local host.  All other exceptions pass.

    Raises:
        InputProblem: If rows cannot be used, or a match cannot be followed by another.
        LimitProblem: If a limit is exceeded.

    Examples:
        An action on the DataFrame of a query::

            with occurs.spark_errors():
                rows = occurs.sql(spark, query).collect()
    """
    try:
        yield
    except OccursError:
        raise
    except Exception as error:  # Py4J, gRPC and PySpark each raise their own
        ours = translate(error)
        if ours is None:
            raise
        raise ours from None


@contextmanager
def errors_as(ours_of: Callable[[Exception, bool], OccursError | None]) -> Iterator[None]:
    """Errors as those that ``ours_of`` makes of them; ours, and those of which it makes none, pass unchanged.

    ``ours_of`` takes an error, and whether it comes from Spark or from what Spark calls.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except OccursError:
        raise
    except Exception as error:
        foreign = isinstance(error, PySparkException) or type(error).__module__.startswith(("py4j", "grpc"))
        ours = ours_of(error, foreign)
        if ours is None:
            raise
        raise ours from error


def own_errors() -> AbstractContextManager[None]:
    """Errors of Spark and of its workers as errors of ours; those that are ours already, and faults, pass."""
    return errors_as(_translated)


def _translated(error: Exception, foreign: bool) -> OccursError | None:
    """InputProblem for a file that Spark cannot read, ResourceProblem for any other failure of Spark."""
    ours = translate(error)
    if ours is not None or not foreign:
        return ours
    text = str(error)
    file = _FILE.search(text)
    if file:
        path = re.sub("^file:/+", "/", unquote(file[1]))
        hint = "its content does not match its suffix, or a part of it is missing"
        return InputProblem.of("bad-value", f"{path} cannot be read", file=path, hint=hint)
    causes = [c for c in _CAUSE.findall(text) if not c.startswith("Exception thrown in awaitResult")]
    first = causes[0] if causes else next((line for line in text.splitlines() if line.strip()), repr(error))
    return ResourceProblem.of("spark-failed", f"the Spark job failed: {first}")


@contextmanager
def problems_in_text() -> Iterator[None]:
    """Errors of ours become errors with the problems in their text: Spark hands on the text of an exception only."""
    try:
        yield
    except OccursError as error:
        problems = [{**asdict(p), "related": [], "value": repr(p.value)} for p in error.problems]
        text = json.dumps({"class": type(error).__name__, "problems": problems})
        raise RuntimeError(f"{error}\n{_MARK}{text}") from error


def translate(error: BaseException) -> OccursError | None:
    """The error that a worker raised within :func:`problems_in_text`, out of what Spark says; None if there is none."""
    text = str(error)
    at = text.find(_MARK)
    while at >= 0:
        at += len(_MARK)
        try:
            data, _ = json.JSONDecoder().raw_decode(text, at)
        except json.JSONDecodeError:  # the mark in a line of source code that the traceback shows
            at = text.find(_MARK, at)
            continue
        problems = []
        for p in data["problems"]:
            span = Span(**p["span"]) if p["span"] else None
            problems.append(Problem(**{**p, "span": span, "related": ()}))
        kinds = {kin.__name__: kin for kin in (CheckpointProblem, LimitProblem)}
        return kinds.get(data["class"], InputProblem)(problems)
    lacking = _LACKING.search(text)
    if lacking:
        hint = "call occurs.ship(spark) before the first job, or install Occurs and its packages there"
        return ResourceProblem.of("workers", f"a worker of the cluster lacks the package {lacking[1]}", hint=hint)
    return None
