"""Why a detection exists, and why an expected one does not (why.md)."""
