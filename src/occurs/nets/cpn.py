"""Files of CPN Tools (`.cpn`): nets written so that it loads and runs them, and read back."""

from occurs.nets.cpn_read import read
from occurs.nets.cpn_write import write

__all__ = ["read", "write"]
