"""Addresses of live databases."""

from __future__ import annotations

from pathlib import Path

from occurs.connect.changes.store import Store
from occurs.errors import UsageProblem

_HINT = "use sqlite:PATH or postgresql://user@host:5432/database"


def open_feed(url: str, *, keep: bool = False, role: str | None = None) -> Store:
    """The change log of the database at ``url``: ``sqlite:PATH`` (also ``sqlite:///PATH``) or ``postgresql://..``.

    ``keep``: what is done is kept, as the log is; ``role``: of PostgreSQL, who may watch.  Raises UsageProblem,
    ResourceProblem.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite" and rest:
        from occurs.connect.changes.sqlite import SQLiteFeed

        if role is not None:
            text = f"--role {role}: SQLite has no roles"
            raise UsageProblem.of("bad-option", text, hint="everyone with write access to the file can watch it")
        # three strokes as in the addresses of other libraries: a fourth begins an absolute path; it may be forgotten
        if rest.startswith("///"):
            rest = rest[3:] if Path(rest[3:]).is_file() or not Path(rest[2:]).is_file() else rest[2:]
        return SQLiteFeed(rest, keep=keep)
    if scheme in ("postgresql", "postgres") and rest.startswith("//"):
        try:
            from occurs.connect.changes.postgres import PostgresFeed
        except ImportError as error:
            text = f"PostgreSQL needs a driver that is not installed: {error}"
            raise UsageProblem.of("missing-package", text, hint="pip install 'occurs[postgresql]'") from error
        return PostgresFeed(url, keep=keep, role=role)
    raise UsageProblem.of("bad-option", f"--database {url}: unsupported database", hint=_HINT)
