"""Ships that do not exist, off a coast, as Parquet: what they are is said in ``ais.py``.

``python examples/maritime/events.py`` writes the files to ``out/maritime``; where they are already, it leaves them.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
from ais import maritime

FOLDER = Path("out/maritime")
VESSELS, DAYS = 60, 3
TYPES = (
    *("ais", "stop_start", "stop_end", "fast", "slow", "entersPort", "leavesPort", "entersFishingArea"),
    *("leavesFishingArea", "gap_start", "gap_end"),
)


def write(folder: Path = FOLDER) -> dict[str, Path]:
    """Event type -> its Parquet file in ``folder``, which is made if it is not there."""
    paths = {name: folder / f"{name}.parquet" for name in TYPES}
    if not all(path.exists() for path in paths.values()):
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in maritime(VESSELS, DAYS, seed=1).items():
            half = paths[name].with_suffix(".part")
            pq.write_table(table, half)
            half.replace(paths[name])
    return paths


if __name__ == "__main__":
    for name, path in write().items():
        print(f"{name}: {pq.read_metadata(path).num_rows:,} events in {path}")
