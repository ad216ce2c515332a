"""The net worker: a process that keeps the open nets, and answers one JSON line after another."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from occurs.services.answers import NetOpened
from occurs.studio.limits import LIMITS
from occurs.studio.worker import plain, serve


def main() -> None:
    """Answer the lines of standard input until it ends."""
    # tokens are many and in no cycles: looking for cycles among them takes as long as all else
    gc.set_threshold(100_000, 20, 20)
    serve(calls)


def calls() -> Mapping[str, Callable[..., Any]]:
    """The calls by name; this loads the engine."""
    from occurs.services import nets, offered

    opened: dict[str, nets.OpenNet] = {}
    limits = nets.Limits(LIMITS.net_nodes, LIMITS.net_events)

    def kept(id: str, net: nets.OpenNet) -> dict[str, Any]:
        found = shown(net.opened())
        opened[id] = net
        return found

    def shown(found: NetOpened) -> dict[str, Any]:
        # a drawing has no integers that JavaScript would round
        return {
            "net": found.net, "state": plain(found.state), "rows": plain(found.rows), "problems": found.problems,
        }  # fmt: skip

    def rules(
        id: str, texts: Mapping[str, str], events: Sequence[str], options: Mapping[str, Any], default: bool,
        more: Mapping[str, Any],
    ) -> Any:  # fmt: skip
        if default:
            events = offered(events, texts, options)
        return kept(id, nets.of_rules(texts, events, options, limits=limits, **more))

    def file(id: str, path: str, data: str, black: bool) -> Any:
        return kept(id, nets.of_net_file(path, data.encode("iso-8859-1"), black=black, limits=limits))

    def run(id: str, steps: int | None, row: int | None, breaks: Mapping[str, Any] | None) -> Any:
        where = None if breaks is None else nets.Breaks(frozenset(breaks["transitions"]), breaks["places"])
        return plain(opened[id].run(steps, row, where))

    def fire(id: str, transition: str, binding: Mapping[str, str] | None) -> Any:
        return plain(opened[id].fire(transition, binding))

    def back(id: str, n: int) -> Any:
        return plain(opened[id].back(n))

    def reset(id: str, seed: int | None) -> Any:
        return plain(opened[id].reset(seed))

    def export(id: str, format: nets.Format, theme: str) -> str:
        return opened[id].export(format, theme)

    def edit(id: str, changes: Sequence[Mapping[str, Any]]) -> Any:
        return shown(opened[id].edit([nets.Change(**change) for change in changes]))

    def close(id: str) -> None:
        opened.pop(id, None)

    made: list[Callable[..., Any]] = [rules, file, run, fire, back, reset, edit, export, close]
    return {one.__name__: one for one in made}


if __name__ == "__main__":
    main()
