"""The simulator of CPN Tools as an engine of its own: files are handed over and checked there as CPN Tools does it.

The simulator is a heap image of Standard ML of New Jersey.  ``OCCURS_CPN_TOOLS`` names the image, ``OCCURS_SML`` the
runtime (``sml``); tests are skipped where there is no image.  The file alone says what the net is: nothing here knows
how Occurs reads it, except :func:`beside`, which goes with both.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.nets.colours import Colour
from occurs.nets.cpn_read import read
from occurs.nets.firing import advanced, enabled, fire
from occurs.nets.ml import value_text
from occurs.nets.net import Marking, Net

IMAGE = os.environ.get("OCCURS_CPN_TOOLS", "")
#: answers of the simulator's functions, line by line: truth values, integers, strings
_ANSWERS = r"""
fun occurs f a =
  let val (b, i, s) = f a in
    print ("\n@R " ^ String.concatWith " " (map Bool.toString b));
    print ("\n@I " ^ String.concatWith " " (map Int.toString i) ^ "\n");
    app (fn x => print ("@S" ^ String.toString x ^ "\n")) s
  end
  handle InternalError s => print ("\n@E" ^ String.toString s ^ "\n")
       | CPN'Error s => print ("\n@E" ^ String.toString s ^ "\n")
       | e => print ("\n@E" ^ String.toString (exnMessage e) ^ "\n");
"""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
#: a string of ML
_STRING = r'"(?:[^"\\]|\\.)*"'
#: kinds of arcs in the order in which a transition's arcs are handed over
_ARCS = ("PtoT", "TtoP", "BOTHDIR", "INHIBITOR", "RESET")

#: what the editor of CPN Tools writes into a region that nobody has filled in
_EMPTY = ("[]", "@+", "input ();\noutput ();\naction ();")

#: a place or transition of an instance of a page: the id in the file, the number of the instance
At = tuple[str, int]
Answer = tuple[list[bool], list[int], list[str]]
#: a token as text, with its time on places of timed colours
Token = tuple[str, float | None]


class Refused(Exception):
    """CPN Tools refuses a net, with its message."""


def _literal(text: str) -> str:
    escaped = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03d}" for b in text.encode())
    return f'"{"".join(escaped)}"'


def unescaped(text: str) -> str:
    """A string of ML without its escapes; bytes beyond ASCII stay one character each."""
    return re.sub(r"\\(\d{3}|.)", lambda m: chr(int(m[1])) if m[1].isdigit() else _ESCAPES.get(m[1], m[1]), text)


class Image:
    """A running heap image."""

    def __init__(self) -> None:
        command = [os.environ.get("OCCURS_SML", "sml"), f"@SMLload={IMAGE}"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, encoding="latin1"
        )
        self._calls = 0
        self.run(_ANSWERS)

    def run(self, text: str) -> list[str]:
        """Evaluates declarations; what is printed, in lines."""
        self._calls += 1
        end = f"@@{self._calls}"
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f'{text}\n;val _ = print "\\n{end}\\n";\n')
        self._process.stdin.flush()
        lines: list[str] = []
        for line in self._process.stdout:
            if line.rstrip("\n").endswith(end):
                return lines
            lines.append(line.rstrip("\n"))
        raise Refused(f"the simulator has ended: {lines[-10:]}")

    def call(self, function: str, truths: Sequence[bool], numbers: Sequence[int], strings: Sequence[str]) -> Answer:
        """Calls a function as the editor of CPN Tools does (a packet of truth values, integers and strings)."""
        packet = (
            (["false", "true"][t] for t in truths),
            (f"{n}".replace("-", "~") for n in numbers),
            map(_literal, strings),
        )
        lines = self.run(f"occurs CPN'SimGlue.{function} ({', '.join('[' + ', '.join(part) + ']' for part in packet)})")
        said = [line for line in lines if line[:2] in ("@R", "@I", "@S", "@E")]
        wrong = [line for line in said if line.startswith("@E")]
        if wrong or not said:
            raise Refused(unescaped(wrong[0][2:]) if wrong else "\n".join(lines[-10:]))
        numbers = [int(n.replace("~", "-")) for n in said[1][2:].split()]
        return [t == "true" for t in said[0][2:].split()], numbers, [unescaped(line[2:]) for line in said[2:]]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def _texts(node: ET.Element, path: str) -> list[str]:
    return [(found.text or "").strip() for found in node.findall(path)]


def _text(node: ET.Element, path: str) -> str:
    return next(iter(_texts(node, path)), "")


def _id(node: ET.Element | None) -> str:
    assert node is not None
    return node.get("id") or node.get("idref") or ""


def _name(text: str | None) -> str:
    """A name as an identifier of ML, as Access/CPN makes it."""
    kept = re.sub(r"[^a-zA-Z'_0-9\s\-.].*", "", (text or "").strip(), flags=re.DOTALL).strip()
    return re.sub(r"[\s\-.]", "_", kept)


@dataclass
class CpnTools:
    """A file in the simulator, with its initial marking.

    Attributes:
        places: The places of all instances of pages; an instance comes before those that its transitions stand for.
        transitions: The transitions of all instances, without substitution transitions.
    """

    data: bytes
    seed: int = 1
    places: list[At] = field(default_factory=list)
    transitions: list[At] = field(default_factory=list)

    def __post_init__(self) -> None:
        net = ET.fromstring(self.data).find("cpnet")
        assert net is not None
        self._net = net
        self._pages = net.findall("page")
        self._fused = {_id(e): _id(f) for f in net.findall("fusion") for e in f.findall("fusion_elm")}
        self._image = Image()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._image.close()

    def __enter__(self) -> CpnTools:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def marking(self) -> dict[At, str]:
        """The tokens of each place as CPN Tools prints them."""
        _, _, texts = self._simulate([31, len(self.places), *(n for _, n in self.places)], [p for p, _ in self.places])
        return dict(zip(self.places, texts, strict=True))

    def enabled(self) -> list[At]:
        """The transitions that can fire at the current time."""
        numbers = [35, len(self.transitions), *(n for _, n in self.transitions)]
        truths, _, _ = self._simulate(numbers, [t for t, _ in self.transitions])
        return [t for t, can in zip(self.transitions, truths, strict=True) if can]

    def fire(self, transition: At) -> None:
        """Fires a transition with values and tokens that the simulator draws."""
        _, _, (_, _, message) = self._simulate([12, transition[1]], [transition[0]])
        if "rror" in message:
            raise Refused(message)

    def wait(self) -> bool:
        """Goes to the next time at which a transition may be enabled; false if there is none."""
        return self._simulate([24], [])[0][0]

    @property
    def time(self) -> float:
        return float(self._simulate([2], [])[2][0])

    def _simulate(self, numbers: Sequence[int], strings: Sequence[str], truths: Sequence[bool] = ()) -> Answer:
        return self._image.call("simulate", truths, numbers, strings)

    def _open(self) -> None:
        real = any(
            o.get("name") == "realtimestamp" and _text(o, "value/boolean") == "true" for o in self._net.iter("option")
        )
        start = '("real", "Real.fromInt 0"' if real else '("intinf", "IntInf.fromInt 0"'
        self._image.run(f"val _ = CPN'bootstrap {start}, \"/dev/null\"); val _ = CPN'Settings.use_manbind := true;")
        self._image.call("syntax_check", [], [1], [])
        self._image.call("misc", [False] * 9, [10], ["", "1", "", "", "", ""])
        self._image.call("misc", [False, False], [11], [str(self.seed)])
        for block in self._net.findall("globbox"):
            for declaration in _declarations(block):
                self._declare(declaration)
        for page, prime in self._sorted():
            self._check(page, prime)
        for fusion in self._net.findall("fusion"):
            self._simulate([3, 1, 0, 0], [_id(fusion)], [False])
        for kind, numbers in (("place", [3, 1, 0, 0]), ("trans", [3, 0, 0, 1])):
            for node in (n for page in self._pages for n in page.findall(kind)):
                self._simulate(numbers, [_id(node)], [False])
        self._instances(*self._simulate([3, 0, 0, 0], [], [False]))
        self._simulate([5], [])
        self._simulate([21], [])

    def _declare(self, node: ET.Element) -> None:
        truths: list[bool] = []
        if node.tag == "ml":
            numbers, strings = [1, 18], [_id(node), (node.text or "").strip()]
        elif node.tag == "globref":
            numbers, strings = [1, 16], [_id(node), _text(node, "id"), _text(node, "ml")]
        elif node.tag == "var":
            names = _texts(node, "id")
            numbers, strings = [1, 20, len(names)], [_id(node), _text(node, "type/id"), *names]
        else:
            kinds = [n for n in node if n.tag not in ("id", "layout", "timed", "declare", "label")]
            kind, of = _colour(kinds[0])
            declared = _texts(node, "declare/id")
            truths = [node.find("timed") is not None]
            numbers = [1, *kind, 0, 0, 0, len(declared)]
            strings = [_id(node), *of, _text(node, "id"), *declared]
        _, _, said = self._image.call("create_decl", truths, numbers, strings)
        if len(said) > 1 and said[1]:
            raise Refused(f"declaration {_id(node)}: {said[1]}")

    def _sorted(self) -> Iterator[tuple[ET.Element, bool]]:
        """Every page after those that its transitions stand for; is it a page that none stands for?"""
        left = {_id(p): {_subpage(t) for t in _substituted(p)} for p in self._pages}
        used = {sub for subs in left.values() for sub in subs}
        pages = {_id(p): p for p in self._pages}
        while left:
            ready = [p for p, subs in left.items() if not subs & left.keys()]
            if not ready:
                raise Refused("a page is part of itself")
            for page in ready:
                del left[page]
                yield pages[page], page not in used

    def _check(self, page: ET.Element, prime: bool) -> None:
        own = [p for p in page.findall("place") if _id(p) not in self._fused]
        fused = [p for p in page.findall("place") if _id(p) in self._fused]
        attributes = page.find("pageattr")
        assert attributes is not None
        numbers = [2, int(prime), 0, 0, len(own), len(fused)]
        strings = [_id(page), _name(attributes.get("name"))]
        truths = [True]
        for place in (*own, *fused):
            group = [self._fused[_id(place)]] if _id(place) in self._fused else []
            strings += [_id(place), *group, _name(place.findtext("text"))]
            strings += [_text(place, "type/text"), _text(place, "initmark/text")]
        substituted = list(_substituted(page))
        numbers.append(len(substituted))
        for transition in substituted:
            subst = transition.find("subst")
            assert subst is not None
            pairs = re.findall(r"\(\s*([^,()\s]*)\s*,\s*([^,()\s]*)\s*\)", subst.get("portsock") or "")
            strings += [_id(transition), _name(transition.findtext("text")), _subpage(transition)]
            strings += [end for pair in pairs for end in pair]
            numbers.append(len(pairs))
        transitions = [t for t in page.findall("trans") if t.find("subst") is None]
        numbers.append(len(transitions))
        for transition in transitions:
            truths.append(True)
            regions = [_text(transition, f"{region}/text") for region in ("cond", "time", "code")]
            regions = ["" if text in _EMPTY else text for text in regions]
            strings += [_id(transition), _name(transition.findtext("text")), *regions]
            strings += ["", _text(transition, "priority/text")]
            arcs = [a for a in page.findall("arc") if _id(a.find("transend")) == _id(transition)]
            for kind in _ARCS:
                of_kind = [a for a in arcs if (a.get("orientation") or "").lower() == kind.lower()]
                numbers.append(len(of_kind))
                for arc in of_kind:
                    strings += [_id(arc), _id(arc.find("placeend")), _text(arc, "annot/text")]
        _, counts, said = self._image.call("syntax_check", truths, numbers, strings)
        wrong = [f"{said[2 * k]}: {said[2 * k + 1]}" for k in range(max(counts[0], 0)) if said[2 * k + 1]]
        if wrong or counts[0] < 0:
            raise Refused("; ".join(wrong) or "a page has a syntax error")

    def _instances(self, truths: list[bool], numbers: list[int], strings: list[str]) -> None:
        """Numbers the instances: CPN Tools says for each by which transition of which instance it is there."""
        truth, number, string = iter(truths), iter(numbers), iter(strings)
        at: dict[tuple[str, tuple[str, str, int] | None], int] = {}
        for _ in range(next(number)):
            page = next(string)
            for k in range(1, next(number) + 1):
                above = (next(string), next(string), next(number)) if next(truth) else None
                at[page, above] = k
        pages = {_id(p): p for p in self._pages}

        def visit(page: ET.Element, above: tuple[str, str, int] | None) -> None:
            k = at.get((_id(page), above), 1)
            self.places += [(_id(p), k) for p in page.findall("place")]
            self.transitions += [(_id(t), k) for t in page.findall("trans") if t.find("subst") is None]
            for transition in _substituted(page):
                visit(pages[_subpage(transition)], (_id(page), _id(transition), k))

        primes = {_id(p) for p, prime in self._sorted() if prime}
        for page in self._pages:
            if _id(page) in primes:
                visit(page, None)


def _declarations(block: ET.Element) -> Iterator[ET.Element]:
    for node in block:
        if node.tag == "block":
            yield from _declarations(node)
        elif node.tag in ("color", "var", "ml", "globref"):
            yield node


def _substituted(page: ET.Element) -> Iterator[ET.Element]:
    return (t for t in page.findall("trans") if t.find("subst") is not None)


def _subpage(transition: ET.Element) -> str:
    subst = transition.find("subst")
    return "" if subst is None else subst.get("subpage") or ""


def _colour(node: ET.Element) -> tuple[list[int], list[str]]:
    """The number of a kind of colours with the sizes of its lists, and its texts."""
    bounds = [*_texts(node, "with/ml"), "", ""][:2]
    ids = _texts(node, "id")
    match node.tag:
        case "unit":
            return [1], [_text(node, "with/*")]
        case "bool":
            return [2], [*_texts(node, "with/*"), "", ""][:2]
        case "int" | "intinf" | "real":
            return [{"int": 3, "intinf": 24, "real": 4}[node.tag]], bounds
        case "string":
            return [5], [*bounds, *[*_texts(node, "and/ml"), "", ""][:2]]
        case "enum" | "product":
            return [6 if node.tag == "enum" else 9, len(ids)], ids
        case "index":
            return [7], [*ids[:1], *_texts(node, "ml")[:2]]
        case "list":
            return [8], [*ids[:1], *bounds]
        case "record":
            fields = [_texts(f, "id") for f in node.findall("recordfield")]
            return [10, len(fields)], [text for f in fields for text in f]
        case "union":
            cases = [(_text(f, "id"), _text(f, "type/id")) for f in node.findall("unionfield")]
            return [11, len(cases)], [text for c in cases for text in c]
        case "subset" if node.find("by") is not None:
            return [12], [*ids[:1], _text(node, "by/ml")]
        case "subset":
            return [13, 1], [*ids[:1], _text(node, "with/ml").strip("[]")]
        case "time":
            return [14], []
        case "alias":
            return [15], ids[:1]
    raise Refused(f"a colour of kind {node.tag}")


def _plain(text: str) -> str:
    """A value without blanks outside of strings, and without brackets around all of it."""
    text = "".join(p if p.startswith('"') else re.sub(r"\s+", "", p) for p in re.split(f"({_STRING})", text))
    inner = re.fullmatch(r"\((.*)\)", text, re.DOTALL)
    outside = "" if inner is None else _outside(inner[1])
    # `(a),(b)` has no brackets around all of it, and `(a,b)` is a product
    return text if inner is None or "," in outside or ")" in outside else _plain(inner[1])


def _outside(text: str) -> str:
    """What is in no bracket and no string; a bracket that closes too early stays."""
    text = re.sub(_STRING, "", text)
    while (less := re.sub(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}", "", text)) != text:
        text = less
    return text


def tokens_of(text: str) -> Counter[Token]:
    """A printed marking as tokens."""
    found: Counter[Token] = Counter()
    if text in ("empty", "tempty"):
        return found
    for part in re.split(r"\+\++\n", text):
        number, _, value = part.partition("`")
        at = re.fullmatch(r"(.*)@\[?([\d.,]+)\]?", value, re.DOTALL)
        for time in [None] if at is None else map(float, at[2].split(",")):
            found[_plain(value if at is None else at[1]), time] += int(number)
    return found


def _shown(value: Any, colour: Colour) -> str:
    return _plain(unescaped(value_text(value, colour)))


def _tokens(net: Net, marking: Marking, place: str) -> Counter[Token]:
    """The tokens of a place as CPN Tools prints them."""
    colour, holder = net.places[place].colour, net.holder(place)
    timed = holder in net.timed
    return Counter(
        {
            ((_shown(token[0], colour), float(token[1])) if timed else (_shown(token, colour), None)): n
            for token, n in marking.tokens.get(holder, Counter()).items()
            if n
        }
    )


def _as_there(net: Net, marking: Marking, there: dict[str, str]) -> Marking | str:
    """The marking, if it is the one of CPN Tools, with the times of the tokens there; otherwise the first difference.

    CPN Tools draws which one of equal tokens that are ready it takes; Occurs takes the latest.
    """
    after = marking.copy()
    for place, text in there.items():
        ours, theirs = _tokens(net, marking, place), tokens_of(text)
        if ours == theirs:
            continue
        holder, colour = net.holder(place), net.places[place].colour
        without_times = [sorted(v for v, _ in tokens.elements()) for tokens in (ours, theirs)]
        if holder not in net.timed or without_times[0] != without_times[1]:
            return f"{place}: {dict(ours)}, in CPN Tools {dict(theirs)}"
        values = sorted((v for v, _ in marking.tokens[holder].elements()), key=lambda v: _shown(v, colour))
        times = [t for _, t in sorted(theirs.elements(), key=lambda token: token[0]) if t is not None]
        after.tokens[holder] = Counter((v, int(t) if t == int(t) else t) for v, t in zip(values, times, strict=True))
    return after


def beside(data: bytes, seed: int = 1, limit: int = 60) -> int:
    """Goes with both, to the end or ``limit`` firings; how many.

    Before each firing the same transitions are enabled, at the same time; CPN Tools fires one, and a binding of Occurs
    leads to the marking that is then there.

    Raises:
        Refused: CPN Tools does not take the file, or stops at a code segment.
        AssertionError: They differ.
    """
    net, _ = read(data, "net.cpn")
    rng, marking = random.Random(seed), net.initial
    with CpnTools(data, seed) as other:
        places = dict(zip(net.places, other.places, strict=True))
        names = dict(zip(other.transitions, net.transitions, strict=True))

        def here(marking: Marking, there: dict[At, str]) -> Marking | str:
            return _as_there(net, marking, {p: there[at] for p, at in places.items()})

        assert here(marking, other.marking()) == marking, "the initial marking"
        for done in range(limit):
            ready = other.enabled()
            if not ready:
                while not ready and other.wait():
                    ready = other.enabled()
                later = advanced(net, marking)
                assert (later is None) == (not ready), f"after {done} firings one ends"
                if later is None:
                    return done
                marking = later
                assert marking.time == other.time, f"the time after {done} firings"
            elements = enabled(net, marking)
            assert {e[0] for e in elements} == {names[t] for t in ready}, f"what is enabled after {done} firings"
            chosen = rng.choice(ready)
            other.fire(chosen)
            there = other.marking()
            reached = [here(fire(net, marking, e), there) for e in elements if e[0] == names[chosen]]
            same = [r for r in reached if isinstance(r, Marking)]
            assert same, f"firing {done + 1}, {names[chosen]}: {reached}"
            marking = same[0]
    return limit


__all__ = ["IMAGE", "CpnTools", "Refused", "beside", "tokens_of", "unescaped"]
