"""Changes of a net by texts: what they do, and where they are refused."""

from __future__ import annotations

import pytest
from odd_nets import wild
from small_nets import NEXT, example_1, figure_3

from occurs.errors import DefinitionProblem
from occurs.nets.drawing import drawing
from occurs.nets.editing import Change, edited
from occurs.nets.ml import marking_text
from occurs.nets.net import P_HN, Net
from occurs.nets.simulate import Simulator


def refused(net: Net, *changes: Change) -> list[tuple[str, str | None]]:
    with pytest.raises(DefinitionProblem) as error:
        edited(net, changes)
    return [(p.kind, p.node) for p in error.value.problems]


def test_texts_that_stand_in_the_drawing_change_nothing() -> None:
    for net in (example_1(), figure_3(NEXT)):
        changes = []
        for page in drawing(net, lambda place: ()):
            changes += [Change(t.transition.name, "guard", t.guard) for t in page.transitions]
            changes += [Change(t.transition.name, "priority", str(t.transition.priority)) for t in page.transitions]
            for place in net.places.values():
                changes.append(Change(place.name, "initial", marking_text(place.initial, place.colour)))
            for arc in page.arcs:
                line = arc.line
                into = None if line.into and line.out else line.into
                changes.append(Change(line.arc.transition, "arc", arc.text, line.arc.place, into))
        assert edited(net, changes) == net


def test_new_texts_change_runs() -> None:
    net = edited(example_1(), [Change("Process", "guard", "[m mod 5 = 0, m > 10]"), Change("M", "initial", "3`()")])
    simulator = Simulator(net)
    assert len(net.places["M"].initial) == 3
    assert [name for name, _ in simulator.run().firings].count("Process") == 0
    urgent = edited(example_1(), [Change("incr", "priority", "P_HN"), Change("Process", "priority", "200")])
    assert (urgent.transitions["incr"].priority, urgent.transitions["Process"].priority) == (P_HN, 200)
    doubled = edited(example_1(), [Change("incr", "arc", "n + 2", "C", False)])
    assert Simulator(doubled).step() is not None
    assert doubled.outputs["incr"] != example_1().outputs["incr"]
    assert doubled.inputs["incr"] == example_1().inputs["incr"]
    assert edited(example_1(), [Change("Process", "guard", "")]).transitions["Process"].guard == ()


def test_fused_places_change_together() -> None:
    net = wild()
    fused = [p.name for p in net.places.values() if p.fusion == "in!"]
    assert len(fused) > 1
    empty = edited(net, [Change(fused[-1], "initial", "")])
    assert all(empty.places[name].initial == () for name in fused)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (Change("nix", "initial", "1"), "unknown-name"),
        (Change("Process", "initial", "1"), "unknown-name"),
        (Change("C", "guard", ""), "unknown-name"),
        (Change("Process", "arc", "n", "nix"), "unknown-name"),
        (Change("Process", "arc", "n", "M"), "unknown-name"),
        (Change("Process", "guard", "[m mod"), "syntax"),
        (Change("Process", "guard", "[mm = 1]"), "unknown-name"),
        (Change("Process", "guard", "[m + 1]"), "guard"),
        (Change("C", "initial", '"a"'), "bad-value"),
        (Change("C", "initial", "n"), "bad-value"),
        (Change("incr", "priority", "~1"), "bad-value"),
        (Change("incr", "priority", "soon"), "unknown-name"),
        (Change("Process", "arc", "(n, m)", "C", False), "inscription"),
    ],
)
def test_wrong_changes_are_refused_at_their_element(change: Change, kind: str) -> None:
    assert set(refused(example_1(), change)) == {(kind, change.element)}


def test_all_that_is_wrong_is_told_and_nothing_is_changed() -> None:
    wrong = [Change("C", "initial", "("), Change("nix", "guard", ""), Change("Process", "guard", "[")]
    assert [node for _, node in refused(example_1(), *wrong)] == ["nix", "C", "Process"]


def test_a_change_that_takes_a_variable_from_its_users_is_refused() -> None:
    found = refused(example_1(), Change("Process", "arc", "(n, 3)", "P", True))
    assert {kind for kind, _ in found} == {"bindable"}
    assert {node for _, node in found} == {"Process"}


def test_rules_of_black_transitions_hold_for_changes() -> None:
    net = figure_3(NEXT)
    name = next(t.name for t in net.transitions.values() if t.black)
    black = net.transitions[name].black
    assert black is not None
    assert "black-number" in {kind for kind, _ in refused(net, Change(name, "arc", "(1, m)", black.f, True))}
