"""``occurs warm``: compile all kernels before they are needed."""

from __future__ import annotations

import os

import click

from occurs import kernelcache
from occurs.cli._progress import counting
from occurs.errors import ResourceProblem


@click.command("warm")
@click.option(
    "--processes", "-p", type=click.IntRange(1), metavar="N", default=os.cpu_count() or 1, show_default="one per core",
    help="How many processes compile at a time.",
)  # fmt: skip
def command(processes: int) -> None:
    """Compile all kernels now, so that no later run waits for it; for images of containers and clusters.

    Compiled kernels are kept in OCCURS_CACHE, or in `occurs` in the cache folder of the user.
    """
    from occurs.kernelwork import all_lines, warm

    place = kernelcache.folder()
    if place is None:
        raise ResourceProblem.of("cannot-write", "there is no folder for compiled kernels", hint="set OCCURS_CACHE")
    lines = all_lines()
    with counting("compiling", len(lines)) as told:
        warm(lines, processes, told)
    files = [file for file in place.iterdir() if file.name.endswith(kernelcache.versions())]
    size = sum(file.stat().st_size for file in files) / 1e6
    click.echo(f"{len(lines)} kernels are compiled: {len(files)} files, {size:.0f} MB in {place}", err=True)
