"""The broker of the tests itself."""

from __future__ import annotations

import pytest


@pytest.mark.slow
def test_a_cluster_id_may_begin_with_a_dash(kafka):
    assert "cluster.id=-" in (kafka.folder / "data" / "meta.properties").read_text()
