"""Row patterns (MATCH_RECOGNIZE): matches of contiguous rows of a partition."""
