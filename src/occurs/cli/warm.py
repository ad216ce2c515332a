"""``occurs warm``: compile all kernels before they are needed."""

from __future__ import annotations

import os

import click

from occurs.cli._progress import counting
from occurs.errors import ResourceProblem
from occurs.kernel import cache


@click.command("warm")
@click.option(
    "--processes", "-p", type=click.IntRange(1), metavar="N", default=os.cpu_count() or 1, show_default="one per core",
    help="Number of processes that compile in parallel.",
)  # fmt: skip
def command(processes: int) -> None:
    """Compile all kernels in advance.

    Later runs then start without compiling, for example in a container image.
     Compiled kernels are stored in the folder OCCURS_CACHE, or in `occurs` in
    the cache folder of the user.
    """
    from occurs.kernel.work import all_lines, warm

    place = cache.folder()
    if place is None:
        raise ResourceProblem.of(
            "cannot-write", "there is no folder for compiled kernels", hint="set OCCURS_CACHE to a writable folder"
        )
    lines = all_lines()
    with counting("compiling", len(lines)) as told:
        warm(lines, processes, told)
    files = [file for file in place.iterdir() if file.name.endswith(cache.versions())]
    size = sum(file.stat().st_size for file in files) / 1e6
    click.echo(f"{len(lines)} kernels compiled: {len(files)} files, {size:.0f} MB, in {place}", err=True)
