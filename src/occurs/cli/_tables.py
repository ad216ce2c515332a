"""Output options that name tables of Spark, or addresses in file systems that Spark reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from occurs.connect.places import is_address, is_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from occurs.connect.sparktables.address import Folder
    from occurs.connect.sparktables.write import Target
    from occurs.hosts.spark.batch import SparkDetections


@dataclass
class OutputTables:
    """The tables and addresses among output options, by option, and ``others``: options that name something else, or
    nothing."""

    targets: Mapping[str, Target | Folder]
    others: Mapping[str, str | None]
    _session: list[SparkSession] = field(default_factory=list)

    @classmethod
    def of(cls, options: Mapping[str, str | None], *, overwrite: bool) -> OutputTables:
        """From option to what it names.  Raises UsageProblem for an address that cannot be written to."""
        found = {o: text for o, text in options.items() if text is not None and (is_table(text) or is_address(text))}
        if not found:
            return cls({}, options)
        from occurs.connect.sparktables.address import Folder
        from occurs.connect.sparktables.place import TablePlace
        from occurs.connect.sparktables.write import Target

        targets: dict[str, Target | Folder] = {}
        for option, text in found.items():
            if is_table(text):
                targets[option] = Target(TablePlace.parse(text), option, overwrite)
            else:
                targets[option] = Folder(text, option, overwrite)
        return cls(targets, {option: text for option, text in options.items() if option not in targets})

    def open(self, session: Callable[[], SparkSession], types: Iterable[str]) -> None:
        """Find out before any work if they can be written; ``types``: of the detections.  Raises UsageProblem."""
        if not self.targets:
            return
        self._session.append(session())
        for target in self.targets.values():
            target.check(self._session[0], types)

    def put(self, option: str, tables: Mapping[str, pa.Table]) -> bool:
        """Write detections if ``option`` names one of them; false if it does not."""
        if option not in self.targets:
            return False
        self.targets[option].write(self._session[0], tables)
        return True

    def put_frames(self, option: str, found: SparkDetections) -> None:
        """Write all detections of a run on Spark, from its tasks, to what ``option`` names."""
        self.targets[option].write_frames(found)

    def rows(self, option: str, table: pa.Table | None) -> bool:
        """Write rows that are not events if ``option`` names one of them; false if it does not."""
        if option not in self.targets:
            return False
        table = pa.table({"reason": pa.array([], pa.string())}) if table is None else table
        self.targets[option].rows(self._session[0], table)
        return True
