"""The broker of the tests itself."""

from __future__ import annotations

import uuid

import pytest

import broker


@pytest.mark.slow
def test_a_cluster_id_may_begin_with_a_dash(kafka, tmp_path, monkeypatch):
    monkeypatch.setattr("broker.uuid.uuid4", lambda: uuid.UUID(bytes=b"\xf8" * 16))
    made = broker.Broker(tmp_path / "broker")
    assert "cluster.id=-" in (tmp_path / "broker" / "data" / "meta.properties").read_text()
    assert made.server != kafka.server
