"""What a sink notes durably before it writes a micro-batch: its number and when its writing began."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from occurs.errors import CheckpointProblem, ResourceProblem
from occurs.model.nesting import read_json

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
        self._write(json.dumps({"version": _VERSION, "started": {str(b): t for b, t in kept.items()}}))
        return None

    def _read(self) -> dict[int, int]:
        try:
            text = self.path.read_text()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ResourceProblem.of("disk", f"{self.path} cannot be read: {error.strerror}") from error
        try:
            found = read_json(text)
            if found["version"] == _VERSION:
                return {int(batch): int(time) for batch, time in found["started"].items()}
            why = f"it is of version {found['version']}, and this is version {_VERSION}"
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            why = f"it is damaged ({error!r})"
        hint = "start with a new checkpoint, or put back the file as it was"
        raise CheckpointProblem.of("bad-checkpoint", f"{self.path}: {why}", file=str(self.path), hint=hint)

    def _write(self, text: str) -> None:
        """All or nothing, and on the disk before this returns."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            with os.fdopen(handle, "w") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            os.replace(name, self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)  # the new name itself
            finally:
                os.close(folder)
        except OSError as error:
            raise ResourceProblem.of("disk", f"{self.path} cannot be written: {error.strerror}") from error
