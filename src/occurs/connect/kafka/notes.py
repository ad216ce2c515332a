"""What a sink notes durably before it writes a micro-batch: its number and when its writing began."""

from __future__ import annotations

from pathlib import Path

from occurs.connect.whole import durable, sealed, unsealed
from occurs.errors import CheckpointProblem, ResourceProblem

#: batches remembered; a checkpoint set back by more is read back from the start of the topic
KEPT = 100
_VERSION = 1


class Notes:
    """The file ``kafka-sink-IDENTITY.json`` of a directory: batch number -> when its writing began, in milliseconds.

    Raises CheckpointProblem (``bad-checkpoint``) for a file that is none of these, ResourceProblem (``disk``).
    """

    def __init__(self, directory: Path, identity: str):
        self.path = directory / f"kafka-sink-{identity}.json"

    def begin(self, batch: int, now: int) -> int | None:
        """Note ``batch`` if it is new: None, and its writing may begin.

        Else the time since when records of it may be in the topic: of its first start, 0 if that is forgotten.
        """
        started = self._read()
        if batch in started:
            return started[batch]
        if started and batch < max(started):
            return 0
        kept = dict(sorted({**started, batch: now}.items())[-KEPT:])
        entry = {"version": _VERSION, "started": {str(b): t for b, t in kept.items()}}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with durable(self.path) as out:
                out.write(sealed(entry))
        except OSError as error:
            raise ResourceProblem.of("disk", f"{self.path} cannot be written: {error.strerror}") from error
        return None

    def _read(self) -> dict[int, int]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ResourceProblem.of("disk", f"{self.path} cannot be read: {error.strerror}") from error
        try:
            found = unsealed(data)
            if found["version"] == _VERSION:
                return {int(batch): int(time) for batch, time in found["started"].items()}
            why = f"it has version {found['version']}, but this Occurs reads version {_VERSION}"
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            why = f"it is damaged ({error!r})"
        hint = "use a new checkpoint, or restore the file from a backup"
        raise CheckpointProblem.of("bad-checkpoint", f"{self.path}: {why}", file=str(self.path), hint=hint)
