"""Files of MEdit4CEP: the text of every element, refused elements, and XML that is wrong.

The files are written from the published metamodel, in the form in which the Eclipse Modeling Framework saves objects.
"""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import occurs
from occurs.errors import DefinitionProblem, OccursError, Problem, SyntaxProblem
from occurs.languages.epl.model import dump, from_medit
from occurs.languages.epl.model.to_text import text_of as text_of_model
from occurs.languages.epl.parser import parse

NAMESPACES = (
    'xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xmlns:eventpattern="www.uca.es/modeling/cep/eventpattern"'
)
DOMAIN = """<?xml version="1.0" encoding="ASCII"?>
<domain:CEPDomain xmi:version="2.0" xmlns:xmi="http://www.omg.org/XMI" xmlns:domain="www.uca.es/modeling/cep/domain"
    domainName="Obstetrics" domainDescription="" domainCreationDate="2026-03-01T10:00:00.000+0100">
  <events typeName="Patient" imagePath="img/patient.png">
    <eventProperties name="name" type="String" imagePath="img/name.png"/>
    <eventProperties name="contrDuration" type="Integer"/>
    <eventProperties name="ts" type="Long"/>
  </events>
  <events typeName="Place">
    <eventProperties name="at">
      <eventProperties name="lat" type="Double"/>
      <eventProperties name="lon" type="Float"/>
    </eventProperties>
    <eventProperties name="open" type="Boolean"/>
  </events>
</domain:CEPDomain>
"""
SCHEMAS = """create schema Patient(name string, contrDuration int, ts long);

create schema Place(`at.lat` double, `at.lon` float, open boolean);
"""
#: two contractions of more than 35 that are at most 5 apart; the end of the sequence comes first in the file
DURATION = f"""<?xml version="1.0" encoding="UTF-8"?>
<eventpattern:CEPEventPattern {NAMESPACES} patternName="Duration" domainName="Obstetrics"
    patternCreationDate="2026-03-01T10:00:00.000+0100" patternDeployed="true">
  <links order="1" operand="//@eventPatternElements.2" operator="//@eventPatternElements.0"/>
  <links order="1" operand="//@eventPatternElements.0" operator="//@eventPatternElements.3"/>
  <links order="2" operand="//@eventPatternElements.1" operator="//@eventPatternElements.3"/>
  <links order="1" operand="//@eventPatternElements.2/@eventProperties.1" operator="//@eventPatternElements.4"/>
  <links order="2" operand="//@eventPatternElements.5" operator="//@eventPatternElements.4"/>
  <links order="1" operand="//@eventPatternElements.1/@eventProperties.0" operator="//@eventPatternElements.6"/>
  <links order="2" operand="//@eventPatternElements.2/@eventProperties.0" operator="//@eventPatternElements.6"/>
  <links order="1" operand="//@eventPatternElements.1/@eventProperties.1" operator="//@eventPatternElements.7"/>
  <links order="2" operand="//@eventPatternElements.5" operator="//@eventPatternElements.7"/>
  <links order="2" operand="//@eventPatternElements.2/@eventProperties.2" operator="//@eventPatternElements.8"/>
  <links order="1" operand="//@eventPatternElements.1/@eventProperties.2" operator="//@eventPatternElements.8"/>
  <links order="1" operand="//@eventPatternElements.8" operator="//@eventPatternElements.9"/>
  <links order="2" operand="//@eventPatternElements.10" operator="//@eventPatternElements.9"/>
  <links order="1" operand="//@eventPatternElements.6" operator="//@eventPatternElements.11"/>
  <links order="2" operand="//@eventPatternElements.7" operator="//@eventPatternElements.11"/>
  <links order="3" operand="//@eventPatternElements.9" operator="//@eventPatternElements.11"/>
  <links order="1" operand="//@eventPatternElements.2/@eventProperties.0"
      operator="//@complexEvent/@complexEventProperties.0"/>
  <links order="1" operand="//@eventPatternElements.12" operator="//@complexEvent/@complexEventProperties.1"/>
  <links order="1" operand="//@eventPatternElements.1/@eventProperties.2" operator="//@eventPatternElements.12"/>
  <links order="2" operand="//@eventPatternElements.2/@eventProperties.2" operator="//@eventPatternElements.12"/>
  <eventPatternElements xsi:type="eventpattern:Every" inboundLink="//@links.0" outboundLink="//@links.1"/>
  <eventPatternElements xsi:type="eventpattern:Event" outboundLink="//@links.2" typeName="Patient">
    <eventProperties outboundLink="//@links.5" name="name" type="String"/>
    <eventProperties outboundLink="//@links.7" name="contrDuration" type="Integer"/>
    <eventProperties outboundLink="//@links.10 //@links.18" name="ts" type="Integer"/>
  </eventPatternElements>
  <eventPatternElements xsi:type="eventpattern:Event" outboundLink="//@links.0" typeName="Patient">
    <eventProperties outboundLink="//@links.6 //@links.16" name="name" type="String"/>
    <eventProperties outboundLink="//@links.3" name="contrDuration" type="Integer"/>
    <eventProperties outboundLink="//@links.9 //@links.19" name="ts" type="Integer"/>
  </eventPatternElements>
  <eventPatternElements xsi:type="eventpattern:FollowedBy" inboundLink="//@links.1 //@links.2"/>
  <eventPatternElements xsi:type="eventpattern:GreaterThan" inboundLink="//@links.3 //@links.4"/>
  <eventPatternElements xsi:type="eventpattern:Value" value="35" type="Integer"/>
  <eventPatternElements xsi:type="eventpattern:Equal" inboundLink="//@links.5 //@links.6"/>
  <eventPatternElements xsi:type="eventpattern:GreaterThan" inboundLink="//@links.7 //@links.8"/>
  <eventPatternElements xsi:type="eventpattern:Subtraction" inboundLink="//@links.9 //@links.10"/>
  <eventPatternElements xsi:type="eventpattern:LessEqual" inboundLink="//@links.11 //@links.12"/>
  <eventPatternElements xsi:type="eventpattern:Value" value="5" type="Integer"/>
  <eventPatternElements xsi:type="eventpattern:And" inboundLink="//@links.13 //@links.14 //@links.15"/>
  <eventPatternElements xsi:type="eventpattern:Subtraction" inboundLink="//@links.18 //@links.19"/>
  <complexEvent typeName="Duration">
    <complexEventProperties inboundLink="//@links.16" name="patientId"/>
    <complexEventProperties inboundLink="//@links.17" name="last_delay"/>
  </complexEvent>
</eventpattern:CEPEventPattern>
"""
DURATION_TEXT = """@Name('Duration')
@Tag(name='domainName', value='Obstetrics')
insert into Duration
select a1.name as patientId, a2.ts - a1.ts as last_delay
from pattern [every a1=Patient(a1.contrDuration > 35) -> \
a2=Patient(a2.name = a1.name and a2.contrDuration > 35 and a2.ts - a1.ts <= 5)];
"""

# --- short files ------------------------------------------------------------------------------------------------------


def element(kind: str, **own: object) -> str:
    """An element of a pattern; an event has the properties n and k."""
    inside = '<eventProperties name="n" type="Integer"/><eventProperties name="k" type="String"/>'
    attributes = "".join(f' {n}="{v}"' for n, v in own.items())
    return f'<eventPatternElements xsi:type="eventpattern:{kind}"{attributes}>{inside if kind == "Event" else ""}</eventPatternElements>'  # noqa: E501


def path(end: str) -> str:
    """`2` is the element 2, `2.1` its property 1, `*` the complex event, `*.0` its property 0."""
    here, _, prop = end.partition(".")
    if here == "*":
        return "//@complexEvent" + (f"/@complexEventProperties.{prop}" if prop else "")
    return f"//@eventPatternElements.{here}" + (f"/@eventProperties.{prop}" if prop else "")


def pattern(elements: list[str], links: str, head: str = 'patternName="x"', rest: str = "") -> str:
    """A file, one element a line; ``links``: `operand>operator` each, in the order of the operands.

    The complex event X has the property n, which is the first one of element 0.
    """
    counts: dict[str, int] = {}
    lines = []
    for link in [*links.split(), "0.0>*.0"]:
        operand, operator = link.split(">")
        order = counts[operator] = counts.get(operator, 0) + 1
        lines.append(f'<links order="{order}" operand="{path(operand)}" operator="{path(operator)}"/>')
    event = '<complexEvent typeName="X"><complexEventProperties name="n"/></complexEvent>'
    return "\n".join(
        [f"<eventpattern:CEPEventPattern {NAMESPACES} {head}>", *elements, *lines, event + rest,
         "</eventpattern:CEPEventPattern>"]
    )  # fmt: skip


A, B = element("Event", typeName="A"), element("Event", typeName="B")
ONE, TEXT = element("Value", value=1, type="Integer"), element("Value", value="it's", type="String")


def shown(text: str) -> str:
    """The pattern of the text of a file, which is EPL that Occurs accepts."""
    found = from_medit.text_of(text, "x.pattern")
    assert not [p for p in occurs.parse(found, "epl").problems if p.severity == "error"]
    head, body = found.split("\nfrom pattern [")
    assert head == "@Name('x')\ninsert into X\nselect a1.n as n"
    return body.removesuffix("];\n")


def problems(text: str, file: str = "x.pattern") -> list[Problem]:
    with pytest.raises(OccursError) as caught:
        from_medit.text_of(text, file)
    return caught.value.problems


def said(text: str) -> list[tuple[str, int | None, str]]:
    return [(p.kind, p.line, p.message) for p in problems(text)]


# --- whole files ------------------------------------------------------------------------------------------------------


def test_a_domain_becomes_schemas() -> None:
    assert from_medit.text_of(DOMAIN) == SCHEMAS


def test_a_pattern_becomes_a_statement_that_detects() -> None:
    assert from_medit.text_of(DURATION) == DURATION_TEXT
    program = occurs.parse(SCHEMAS.replace("ts long", "ts int") + DURATION_TEXT, "epl")
    rows = [("A", 12, 1), ("B", 10, 1), ("A", 45, 15), ("B", 45, 17), ("A", 15, 21), ("B", 38, 23), ("B", 38, 26),
            ("A", 36, 30), ("A", 45, 34), ("B", 38, 34), ("A", 15, 37), ("B", 38, 39)]  # fmt: skip
    start = datetime(2026, 3, 1, tzinfo=UTC)
    events = [
        {"time": start + timedelta(minutes=ts), "name": n, "contrDuration": d, "ts": ts} for n, d, ts in rows
    ]  # fmt: skip
    found = program.detect({"Patient": pa.Table.from_pylist(events)}).arrow("Duration").to_pylist()
    assert [(d["patientId"], d["last_delay"]) for d in found] == [("B", 3), ("A", 4), ("B", 5)]


def test_a_pattern_becomes_a_model_with_the_same_text() -> None:
    assert text_of_model(dump(from_medit.model_of(DURATION))) == DURATION_TEXT


def test_objects_may_be_named_by_id_and_stand_beside_a_diagram() -> None:
    text = re.sub(r"^<\?xml.*\n", "", DURATION)
    for place in ("//@eventPatternElements.10", "//@eventPatternElements.12"):
        text = text.replace(f'"{place}"', f'"_id{place[-2:]}"')
    text = text.replace('Value" value="5"', 'Value" xmi:id="_id10" value="5"')
    text = text.replace('Subtraction" inboundLink="//@links.18', 'Subtraction" xmi:id="_id12" inboundLink="//@links.18')
    text = text.replace('"//@', '"/0/@')
    both = f"<xmi:XMI {NAMESPACES}>{text}<n:Diagram xmlns:n='notation'/></xmi:XMI>"
    assert from_medit.text_of(both) == DURATION_TEXT


# --- single elements --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("elements", "links", "text"),
    [
        ([A], "", "every a1=A"),
        ([A, element("GreaterThan"), ONE], "0.0>1 2>1", "every a1=A(a1.n > 1)"),
        ([A, element("Every")], "0>1", "every a1=A"),
        ([A, element("EveryDistinct")], "0>1 0.0>1 0.1>1", "every-distinct(a1.n, a1.k) a1=A"),
        ([A, B, element("FollowedBy")], "0>2 1>2", "a1=A -> a2=B"),
        ([A, B, element("And")], "0>2 1>2", "a1=A and a2=B"),
        ([A, B, element("Or")], "0>2 1>2", "a1=A or a2=B"),
        ([A, B, element("Not"), element("And")], "0>3 1>2 2>3", "a1=A and not a2=B"),
        ([A, B, element("Repeat", count=3), element("FollowedBy")], "0>3 1>2 2>3", "a1=A -> [3] a2=B"),
        ([A, B, element("Until"), B, element("FollowedBy")], "0>4 1>2 3>2 2>4", "a1=A -> a2=B until a3=B"),
        (
            [A, B, element("Until"), B, element("FollowedBy"), element("Range", lowEndpoint=2, highEndpoint=4)],
            "0>4 5>2 1>5 3>2 2>4",
            "a1=A -> [2:4] a2=B until a3=B",
        ),
        ([A, element("While"), element("LessThan"), ONE], "0>1 2>1 0.0>2 3>2", "a1=A while (a1.n < 1)"),
        (
            [A, element("FollowedBy"), element("TimeInterval", weeks=1, seconds=30)],
            "0>1 2>1",
            "a1=A -> timer:interval(7 days 30 sec)",
        ),
        (
            [A, element("FollowedBy"), element("TimeSchedule", minute=0, hour=8, dayOfWeek=1)],
            "0>1 2>1",
            "a1=A -> timer:at(0, 8, *, *, 1, *)",
        ),
        ([A, element("Equal"), TEXT], "0.1>1 2>1", "every a1=A(a1.k = 'it\\'s')"),
        *(
            ([A, element(kind), ONE], "0.0>1 2>1", f"every a1=A(a1.n {sign} 1)")
            for kind, sign in (("Equal", "="), ("NotEqual", "!="), ("LessThan", "<"), ("LessEqual", "<="),
                               ("GreaterThan", ">"), ("GreaterEqual", ">="))
        ),
        *(
            ([A, element("Equal"), element(kind), ONE], "2>1 3>1 0.0>2 3>2", f"every a1=A(a1.n {sign} 1 = 1)")
            for kind, sign in (("Addition", "+"), ("Subtraction", "-"), ("Multiplication", "*"), ("Division", "/"),
                               ("Modulus", "%"))
        ),
        (
            [A, element("Or"), element("Equal"), ONE, element("Not"), element("LessThan"), element("Every")],
            "2>1 4>1 0.0>2 3>2 5>4 0.0>5 3>5 0>6",
            "every a1=A(a1.n = 1 or not a1.n < 1)",
        ),
        # with an And of conditions the tool writes a pattern, which detects once, and no stream
        (
            [A, element("And"), element("Equal"), ONE, element("LessThan")],
            "2>1 4>1 0.0>2 3>2 0.0>4 3>4",
            "a1=A(a1.n = 1 and a1.n < 1)",
        ),
    ],
)  # fmt: skip
def test_the_text_of_each_element(elements: list[str], links: str, text: str) -> None:
    assert shown(pattern(elements, links)) == text


def test_what_is_inside_a_within_timer() -> None:
    inner = "".join(e.replace("eventPatternElements", "withinTimerElements") for e in (B, element("Every")))
    within = element("WithinTimer", minutes=5).replace("></", f">{inner}</")
    text = pattern([A, within, element("FollowedBy")], "0>2 1>2")
    inside = "//@eventPatternElements.1/@withinTimerElements"
    link = f'<links order="1" operand="{inside}.0" operator="{inside}.1"/><complexEvent'
    assert shown(text.replace("<complexEvent", link, 1)) == "a1=A -> (every a2=B) where timer:within(5 min)"


def test_an_event_that_is_linked_to_the_complex_event_gives_all_its_columns() -> None:
    text = pattern([A, element("Every")], "0>1 0>*").replace("0.0", "")
    text = re.sub(r"<links[^>]*complexEventProperties[^>]*>|<complexEventProperties[^>]*>", "", text)
    assert "select a1.*\nfrom pattern [every a1=A]" in from_medit.text_of(text)


def test_nested_properties_are_dotted_names() -> None:
    nested = '<eventProperties name="at"><eventProperties name="lat" type="Integer"/></eventProperties>'
    event = re.sub(r"</eventPatternElements>$", nested + "</eventPatternElements>", A)
    text = pattern([event, element("GreaterThan"), ONE], "0.2>1 2>1")
    assert [k for k, *_ in said(text)] == ["sort"]  # the property around it has no value
    text = text.replace(path("0.2"), path("0.2") + "/@eventProperties.0")
    assert shown(text) == "every a1=A(a1.`at.lat` > 1)"


def test_annotations_of_the_pattern() -> None:
    head = 'patternName="x" patternDescription="hot &amp; dry" domainName="d" patternPriority="2"'
    text = from_medit.text_of(pattern([A], "", head))
    assert text.startswith("@Name('x')\n@Description('hot & dry')\n@Tag(name='domainName', value='d')\n@Priority(2)\n")


def test_attributes_may_be_elements() -> None:
    count = element("Repeat").replace("></", "><count>2</count></")
    assert shown(pattern([A, B, count, element("FollowedBy")], "0>3 1>2 2>3")) == "a1=A -> [2] a2=B"


# --- what is refused --------------------------------------------------------------------------------------------------


def test_all_unsupported_elements_are_told_with_their_lines() -> None:
    window = element("SlidingTimeInterval", seconds=5).replace("></", f">{B.replace('eventPatternElements', 'eventPatternConditions')}</")  # noqa: E501
    value = element("Value", value="current_timestamp", type="String")
    actions = '<actions xsi:type="eventpattern:Email" to="a@b.c"/><actions xsi:type="eventpattern:Twitter"/>'
    elements = [A, window, element("GroupBy"), element("Avg"), element("Equal"), value, element("Every"),
                element("TimeInterval", months=1), element("FollowedBy")]  # fmt: skip
    links = "0.0>2 0.0>3 0.1>4 5>4 0>6 6>8 7>8 1>8"
    text = pattern(elements, links, rest="\n" + actions)
    text = text.replace(path("1") + '"', path("1") + '/@eventPatternConditions.0"')
    text = text.replace(path("0.0") + '" operator="' + path("*.0"), path("3") + '" operator="' + path("*.0"))
    found = said(text)
    assert {kind for kind, *_ in found} == {"unsupported"}
    assert [(line, re.findall(r"\((\w+)\)", message)[0]) for _, line, message in found] == [
        (3, "SlidingTimeInterval"), (4, "GroupBy"), (5, "Avg"), (7, "Value"), (9, "TimeInterval"),
        (21, "Email"), (21, "Twitter"),
    ]  # fmt: skip
    assert found[2][2] == "//@eventPatternElements.3 (Avg): a pattern reads single events and cannot aggregate"


@pytest.mark.parametrize("kind", sorted(from_medit.REFUSED))
def test_each_refused_class_is_told_once(kind: str) -> None:
    assert [(k, line) for k, line, _ in said(pattern([A, element(kind)], ""))] == [("unsupported", 3)]


def test_a_join_is_refused() -> None:
    text = pattern([A, B, element("Equal")], "1.0>2 0.0>2")
    assert said(text) == [
        ("unsupported", 3, "//@eventPatternElements.1 (Event): events without a pattern operator are a join, which is"
         " not supported")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("elements", "links", "kind", "message"),
    [
        ([A, element("Evry")], "0>1", "unknown-name", "(Evry): there is no such class"),
        ([A, element("Link")], "", "sort", "a Link cannot be here"),
        ([A, element("Repeat", cuont=2)], "0>1", "unknown-attribute", "it has no attribute `cuont`"),
        ([A, element("Repeat", count="two")], "0>1", "type-mismatch", "`count` must be a whole number, not `two`"),
        ([A, element("Repeat")], "0>1", "bad-bound", "`count` is 0"),
        ([A, element("Every")], "0>1 7>1", "unknown-name", "its `operand` is not in this file: `//@"),
        ([A, element("FollowedBy")], "0>1", "arity", "(FollowedBy): there is one link to it, but it takes 2 or more"),
        ([A, element("Equal"), ONE], "0.1>1 2>1", "type-mismatch", "(Equal)"),
        ([A, element("Equal"), element("Value", value=1)], "0.0>1 2>1", "unknown-name", "there is no type `Unknown`"),
        ([A, element("FollowedBy"), element("TimeSchedule")], "0>1 2>1", "bad-bound", "it has none of minute, hour"),
        ([A, element("FollowedBy"), element("TimeSchedule", hour=24)], "0>1 2>1", "bad-bound", "`24` is not valid"),
        ([A, element("Every"), element("Every")], "1>2 2>1", "cycle", "the links form a cycle"),
        ([A, element("EventProperty", name="n", type="Integer"), element("Every")], "0>2", "sort", "it must be inside"),
    ],
)  # fmt: skip
def test_wrong_patterns(elements: list[str], links: str, kind: str, message: str) -> None:
    assert any(k == kind and message in m and line is not None for k, line, m in said(pattern(elements, links)))


def test_conditions_on_later_events_are_told_with_their_lines() -> None:
    text = pattern([A, B, element("FollowedBy"), element("Equal")], "0>2 1>2 0.0>3 1.0>3")
    assert [(k, line) for k, line, _ in said(text)] == [("unbound-variable", 5)]


def test_links_to_other_files_and_without_ends() -> None:
    text = pattern([A, element("Every")], "0>1").replace(f'"{path("0")}"', '"b.pattern#//@eventPatternElements.0"')
    assert ("unsupported", 4) in [(k, line) for k, line, _ in said(text)]
    text = pattern([A, element("Every")], "0>1").replace(f'operand="{path("0")}"', "")
    assert ("unknown-name", 4, "//@links.0 (Link): it has no `operand`") in said(text)
    text = pattern([A, element("Every")], "0>1").replace("<eventPatternElements ", '<eventPatternElements xmi:id="i" ')
    assert ("duplicate-id", 3) in [(k, line) for k, line, _ in said(text)]


def test_wrong_domains() -> None:
    text = DOMAIN.replace('"Place"', '"Patient"').replace('name="ts" type="Long"', 'name="name" type="Date"')
    text = text.replace('name="at"', 'name="at" type="String"').replace('name="open" type="Boolean"', 'name=" "')
    text = text.replace("</domain:", '<events typeName="Empty"/><links/></domain:')
    assert [(p.kind, p.line) for p in problems(text, "x.domain")] == [
        ("unknown-attribute", 2), ("duplicate-name", 7), ("unknown-name", 7), ("duplicate-name", 9),
        ("type-mismatch", 10), ("unknown-name", 14), ("unknown-name", 14), ("arity", 16),
    ]  # fmt: skip
    text = re.sub(r"<events.*</events>", "", DOMAIN, flags=re.S)
    assert [p.message for p in problems(text)] == ["/ (CEPDomain): the domain has no events"]
    with pytest.raises(DefinitionProblem, match="has no pattern"):
        from_medit.model_of(DOMAIN)


def test_a_pattern_has_one_complex_event() -> None:
    second = '\n<complexEvent typeName="Y"><complexEventProperties name="n"/></complexEvent>'
    found = said(pattern([A], "", rest=second))
    assert "exactly one complex event" in found[0][2]
    assert ("arity", 5) in [(k, line) for k, line, _ in found]


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_told_or_read(seed: int) -> None:
    """Names, numbers and paths at random places are replaced by others of the file."""
    rng = random.Random(seed)
    words = re.findall(r'"([^"]*)"|<(\w+)', DURATION)
    parts = re.split(r'("[^"]*")', DURATION)
    for at in rng.sample(range(11, len(parts) - 1, 2), 3):
        parts[at] = f'"{rng.choice(words)[0]}"'
    damaged = "".join(parts)
    try:
        assert parse(from_medit.text_of(damaged, "x.pattern"))[1] == []
    except OccursError:
        assert all(p.message and p.file == "x.pattern" for p in problems(damaged))


# --- wrong XML --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (DURATION[:900], "syntax", "this is not a valid XML file"),
        ("", "syntax", "this is not a valid XML file"),
        ("select * from A;", "syntax", "this is not a valid XML file"),
        ('<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>', "entity", "entities are not allowed"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', "entity", "entities are not allowed"),
        ('<!DOCTYPE a SYSTEM "http://example.org/a.dtd"><a/>', "sort", "found `a`"),
        ("<a>" * 300 + "</a>" * 300, "syntax", "nested more than 200 levels deep"),
        ("<n:Diagram xmlns:n='notation'/>", "sort", "found `Diagram`"),
        (f"<xmi:XMI {NAMESPACES}/>", "sort", "found nothing"),
        ("<CEPDomain/>", "sort", "found `CEPDomain`"),
    ],
)
def test_wrong_files(text: str, kind: str, message: str) -> None:
    [problem] = problems(text)
    assert (problem.kind, problem.file) == (kind, "x.pattern")
    assert message in problem.message


@pytest.mark.parametrize("end", range(0, len(DURATION) - 1, 97))
def test_torn_files(end: int) -> None:
    with pytest.raises(SyntaxProblem):
        from_medit.text_of(DURATION[:end])
