"""What ``--events`` and ``--out`` name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from occurs.connect.places import split_type, user_path
from occurs.errors import UsageProblem
from occurs.follow.sources import Folders, Replay, Source


def source_of(texts: Sequence[str], speed: float | None) -> Source:
    """The source that ``--events`` names.  Raises UsageProblem and InputProblem."""
    spelled = [split_type(text)[1] for text in texts]
    if "-" in spelled:
        text = "--events -: standard input is a history and cannot be followed"
        hint = "use `occurs run`, which reads it to its end; to follow events, move files into a directory"
        raise UsageProblem.of("unsupported", text, hint=hint)
    topics = [text.startswith("kafka:") for text in spelled]
    if any(topics):
        from occurs.follow.topics import Topics

        if not all(topics) or speed is not None:
            raise UsageProblem.of("bad-option", "--events: Kafka topics cannot be combined with files or with --speed")
        return Topics(texts)
    directories = [user_path(text).is_dir() for text in spelled]
    if speed is not None or not any(directories):
        missing = [t for t in spelled if not user_path(t).exists()]
        if missing and speed is None and not Path(missing[0]).suffix:
            return Folders(texts)  # says that there is no such directory
        return Replay(texts, speed)
    if not all(directories):
        file = texts[directories.index(False)]
        text = f"--events {file} is a file, but others are directories"
        raise UsageProblem.of(
            "bad-option", text, hint="pass only directories to follow them, or use --speed to replay all of them"
        )
    return Folders(texts)
