"""Tables that Spark reads and writes: of a catalog, of Delta Lake, of Iceberg, and of databases by JDBC.

PySpark is imported when a function that needs it is called, not before.
"""

from __future__ import annotations
