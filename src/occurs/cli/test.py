"""``occurs test``: the test cases of rules, without pytest."""

from __future__ import annotations

import time
from pathlib import Path

import click

from occurs.cli._messages import show
from occurs.cli._output import counted
from occurs.connect.places import user_path
from occurs.errors import InputProblem, OccursError, Problem, UsageProblem
from occurs.testing.rules import RuleCase, Verdict, load, update, verdict


@click.command("test")
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--update-cases", is_flag=True, help="Write what was detected into the files of cases.")
@click.option("--coverage", is_flag=True, help="Print which clauses of the rules no case depends on.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Fail if less is covered (implies --coverage).",
)
def command(paths: tuple[str, ...], update_cases: bool, coverage: bool, fail_under: float | None) -> None:
    """Run the test cases of rules.

    Runs the cases of all *.case files in PATHS, which are files and directories, and prints how the detections of each
    case differ from those that it expects.  Exit status 1 if a case fails, 2 if a file of cases is wrong.
    """
    began = time.monotonic()
    ran: list[RuleCase] = []
    failed = updated = 0
    wrong: list[Problem] = []
    for file in _files(paths):
        try:
            cases = load(file)
        except OccursError as error:
            wrong += error.problems
            continue
        except ValueError as error:
            wrong.append(Problem("bad-case", str(error)))
            continue
        changes: dict[int, Verdict] = {}
        for case in cases:
            found = verdict(case)
            ran.append(case)
            if found.failure is None:
                continue
            if update_cases and found.out is not None:
                changes[case.line] = found
                continue
            failed += 1
            click.echo(f"FAILED {file}:{case.line}: {case.name}\n{found.failure}\n")
        if changes:
            update(file, changes)
            updated += len(changes)
            click.echo(f"updated {counted(len(changes), 'case')} in {file}")
    low = _covered(ran, fail_under) if coverage or fail_under is not None else False
    show(wrong)
    summary = f"{counted(len(ran), 'case')}: {len(ran) - failed} passed, {failed} failed"
    click.echo(f"{summary}{f', {updated} updated' if updated else ''} in {time.monotonic() - began:.1f} s", err=True)
    if wrong:
        raise SystemExit(2)
    if failed or low:
        raise SystemExit(1)


def _files(paths: tuple[str, ...]) -> list[Path]:
    """The files of cases.  Raises InputProblem for a path that does not exist, UsageProblem if there are none."""
    out: dict[Path, None] = {}
    for text in paths:
        path = user_path(text)
        if path.is_dir():
            out |= dict.fromkeys(sorted(p for p in path.rglob("*.case") if p.is_file()))
        elif path.is_file():
            out[path] = None
        else:
            raise InputProblem.of("missing-file", f"there is no file or directory {path}", file=str(path))
    if not out:
        raise UsageProblem.of("bad-option", f"no *.case files in {', '.join(paths)}")
    return list(out)


def _covered(cases: list[RuleCase], least: float | None) -> bool:
    """Print the coverage; whether it is too low."""
    from occurs.testing.coverage import coverage

    found = coverage(cases)
    click.echo(found.report)
    low = least is not None and found.percent < least
    if low:
        click.echo(f"the coverage of {found.percent:.1f} % is below --fail-under {least:g}", err=True)
    return low
