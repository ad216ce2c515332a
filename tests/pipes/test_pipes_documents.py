"""Documents that nest too deep: refused alike by the engine and by the reference."""

from __future__ import annotations

import pytest

from occurs.languages.esql.semantics import documents as reference_documents
from occurs.languages.esql.semantics import values as reference_values
from occurs.operators.process import documents, values

READERS = [(documents, values.Fault), (reference_documents, reference_values.Fault)]
FORMS = [("read_xml", "<a>", "</a>"), ("read_json", "[", "]"), ("read_json", '{"a":', "}")]


@pytest.mark.share(3)
@pytest.mark.parametrize(("module", "fault"), READERS)
@pytest.mark.parametrize(("reader", "opening", "closing"), FORMS)
def test_a_document_nests_up_to_the_bound(module, fault, reader, opening, closing):
    read = getattr(module, reader)
    read(opening * 100 + "1" + closing * 100)
    for depth in (101, 2_000, 100_000):
        for text in (opening * depth + "1" + closing * depth, opening * depth):
            with pytest.raises(fault) as caught:
                read(text)
            assert caught.value.kind == "bad-value"


@pytest.mark.parametrize(("module", "fault"), READERS)
def test_what_only_looks_deep_is_read(module, fault):
    assert module.read_json('["' + "[" * 2_000 + '"]').value == ["[" * 2_000]
    assert len(module.read_json("[" + ",".join(["{}"] * 2_000) + "]").value) == 2_000
    assert len(module.xpath(module.read_xml("<a>" + "<b>x</b>" * 2_000 + "</a>"), "//b", {})) == 2_000


@pytest.mark.parametrize(("module", "fault"), READERS)
def test_a_path_that_nests_too_deep_is_a_fault(module, fault):
    document = module.read_xml("<a>x</a>")
    for path in ("(" * 2_000 + "1" + ")" * 2_000, "a[" * 3_000):
        with pytest.raises(fault):
            module.xpath(document, path, {})
