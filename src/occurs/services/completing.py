"""What can be written at a place, what is there, and where it is defined: in any text, broken or not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from occurs.checked_texts import Read
from occurs.expr.text import Text
from occurs.expr.typing import noting
from occurs.languages.kit.editing import Begun, Binding, Token, openings
from occurs.languages.kit.language import Known, folder, language
from occurs.model.types import Schema, Type
from occurs.services.answers import Completions, Hover, Item, Place
from occurs.services.renaming import named_uses
from occurs.services.scope import Attribute, Scope, statements
from occurs.services.vocabulary import written

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")


def complete(
    path: str, texts: Mapping[str, str], offset: int, events: Mapping[str, Schema] | None = None
) -> Completions:
    """Say what may stand at a place of a text.

    Args:
        path: The path of the text.
        texts: The texts of the whole program by path.
        offset: The place, as a number of code points.
        events: Types of the input, such as :func:`~occurs.services.known_types` finds.

    Returns:
        What fits, the nearest first: attributes of the type at hand, tags and variables, types, keywords, functions,
        units, snippets; behind `x.` the attributes of `x` only, and nothing in comments and texts.  They are not
        filtered by the word that is typed, which begins at ``start``.

    Examples:
        >>> from occurs.services import complete
        >>> rules = "event Temp(room: string, celsius: int) define Hot() from Temp(cel"
        >>> found = complete("hot.tesla", {"hot.tesla": rules}, len(rules))
        >>> found.start, found.items[1]
        (62, Item(label='celsius', kind='attribute', detail='int, attribute of Temp', insert='celsius'))
    """
    return _answer(lambda: _complete(Scope(path, texts, offset, events)), Completions(offset))


def hover(
    path: str, texts: Mapping[str, str], offset: int, events: Mapping[str, Schema] | None = None
) -> Hover | None:
    """Explain what stands at a place: the schema of a type, the type of an attribute or expression, what a word means.

    Args:
        path: The path of the text.
        texts: The texts of the whole program by path.
        offset: The place, as a number of code points.
        events: Types of the input, such as :func:`~occurs.services.known_types` finds.

    Returns:
        The place of the word and lines of text, the first of them code; None if there is nothing to say.

    Examples:
        >>> from occurs.services import hover
        >>> rules = "event Temp(room: string, celsius: int) define Hot() from Temp(celsius > 30)"
        >>> hover("hot.tesla", {"hot.tesla": rules}, rules.index("celsius > ")).text
        'celsius: int\\nattribute of `Temp`'
    """
    return _answer(lambda: _hover(Scope(path, texts, offset, events)), None)


def definition(
    path: str, texts: Mapping[str, str], offset: int, events: Mapping[str, Schema] | None = None
) -> list[Place]:
    """Find where the name at a place is defined: a type, a tag, a variable, the type of an attribute.

    Args:
        path: The path of the text.
        texts: The texts of the whole program by path.
        offset: The place, as a number of code points.
        events: Types of the input, such as :func:`~occurs.services.known_types` finds.

    Returns:
        The places, none if the name is not defined in the texts.  At the definition of a type itself: all its uses.

    Examples:
        >>> from occurs.services import definition
        >>> rules = {"a.tesla": "event Temp(v: int)", "b.tesla": "define Hot() from Temp(v > 3)"}
        >>> [(p.file, p.span.column) for p in definition("b.tesla", rules, 20)]
        [('a.tesla', 7)]
    """
    return _answer(lambda: _definition_or_uses(Scope(path, texts, offset, events)), [])


def uses(
    path: str, texts: Mapping[str, str], offset: int, events: Mapping[str, Schema] | None = None
) -> list[Place]:
    """Find all places of the type of event at a place, in all texts, where it is defined among them; in EPL also
    those of an attribute or a tag.

    Args:
        path: The path of the text.
        texts: The texts of the whole program by path.
        offset: The place, as a number of code points.
        events: Types of the input, such as :func:`~occurs.services.known_types` finds.

    Returns:
        The places by file and place, none if there is no such name.

    Examples:
        >>> from occurs.services import uses
        >>> rules = {"a.tesla": "event Temp(v: int)", "b.tesla": "define Hot() from Temp(v > 3)"}
        >>> [(p.file, p.span.column) for p in uses("b.tesla", rules, 20)]
        [('a.tesla', 7), ('b.tesla', 19)]
    """
    return _answer(lambda: named_uses(path, texts, offset) or _uses(Scope(path, texts, offset, events)), [])


def _answer(work: Callable[[], Answer], otherwise: Answer) -> Answer:
    """The answer; if it fails, which is logged, there is none."""
    try:
        return work()
    except MemoryError:
        raise
    except Exception:
        log.exception("a question about rules failed")
        return otherwise


# --- completion -------------------------------------------------------------------------------------------------------


def _complete(scope: Scope) -> Completions:
    if not scope.known or scope.hidden:
        return Completions(scope.offset)
    start = _start(scope)
    members = list(_members(scope, start))
    if members or (start > 0 and scope.text[start - 1] == scope.words.access != scope.words.statement_end):
        return Completions(start, tuple(members))
    items = list(_items(scope, start, [t for t in scope.tokens if t.end <= start]))
    return Completions(start, tuple({(i.label, i.kind): i for i in reversed(items)}.values())[::-1])


def _start(scope: Scope) -> int:
    """Where the word begins that is typed, which may be one of several words or signs such as `timer:within`."""
    token = next((t for t in scope.all_tokens if t.start < scope.offset <= t.end), None)
    start = scope.offset
    if token is not None and token.kind in ("word", "name", "variable"):
        start = token.start
    line = scope.text[max(0, scope.offset - 40) : scope.offset]
    for word in scope.words.keywords:
        if not word.isidentifier():
            found = _typed(word, line, scope.words.ignore_case)
            start = min(start, scope.offset - found) if found else start
    return start


def _typed(word: str, line: str, ignore_case: bool) -> int:
    """How many signs of a word the line ends with, if these are more than letters; 0 if it does not."""
    a, b = (word.lower(), line.lower()) if ignore_case else (word, line)
    for n in range(min(len(word), len(line)), 0, -1):
        if b.endswith(a[:n]):
            clear = n == len(b) or not (b[-n - 1].isalnum() and a[0].isalnum())
            return n if clear and not a[:n].isalnum() else 0
    return 0


def _members(scope: Scope, start: int) -> Iterator[Item]:
    """The attributes behind `x.`, `x(..).` or `x[0].`; nothing if ``start`` is not behind an event and a dot."""
    if start == 0 or scope.text[start - 1] != scope.words.access:
        return
    inner = scope.moved(start - 1)
    i = next((i for i, t in enumerate(inner.tokens) if t.end == start - 1), -1)
    if i >= 0 and inner.tokens[i].text in (")", "]"):
        i = inner.opening(i) - 1
    if i < 0 or not inner.tokens[i].named:
        return
    chain = inner.chain(i)
    of = inner.type_of(chain[0].name)
    path = "".join(f"{t.name}." for t in chain[1:])
    for a in inner.types.attributes(of) if of is not None else ():
        if a.name.startswith(path):
            name = a.name[len(path) :]
            yield Item(name, "attribute", _told(a), written(scope.words, name))


def _items(scope: Scope, start: int, before: list[Token]) -> Iterator[Item]:
    """What may stand at ``start``, behind the tokens ``before`` of the statement."""
    words = scope.words
    first = not scope.text[scope.text.rfind("\n", 0, start) + 1 : start].strip()
    begun = _begun(scope, start, first)
    if not before or first:
        yield from (Item(s.label, "snippet", s.detail, s.insert) for s in words.snippets)
    if before and before[-1].kind == "number":
        yield from (Item(u, "unit", "unit of a duration", u) for u in words.units)
    if _declares(before):
        yield from (Item(t, "keyword", "type of an attribute", t) for t in words.types)
    if begun is None or begun.names:
        yield from _names(scope, before)
    for word in words.keywords:
        if begun is None or _fits(word, begun, words.ignore_case):
            yield Item(word, "keyword", meaning(words.meanings, word, words.ignore_case) or "", word)
    if begun is None or not begun.words.isdisjoint(words.constants):  # a value may stand there
        yield from (Item(c, "constant", "a value", c) for c in words.constants)
        yield from (Item(f, "function", words.calls.get(f, ""), f"{f}(") for f in words.functions)
    if begun is None or begun.names:
        yield from (Item(s.label, "snippet", s.detail, s.insert) for s in words.forms)


def _declares(before: list[Token]) -> bool:
    """Whether the type of an attribute may stand behind these tokens: in parentheses, behind a name."""
    if not before or openings(before)[-1] is None:
        return False
    declares = before[0].text.lower() in ("create", "table", "event", "state")
    return before[-1].text == ":" or (declares and before[-1].named)


def _names(scope: Scope, before: list[Token]) -> Iterator[Item]:
    """Attributes of the type at hand, what the statement binds, all types."""
    around = scope.around(len(before)) if before else None
    if around is not None:
        for a in scope.types.attributes(around):
            yield Item(a.name, "attribute", _told(a), written(scope.words, a.name))
    kinds = {"tag": "tag", "variable": "variable", "attribute": "attribute"}
    for b in scope.bound:
        typed = "" if b.type is None else scope.types.shown(b.type) if b.kind == "tag" else f"attribute of {b.type}"
        if b.token is None or b.token.end != scope.offset:  # not the one that is typed
            yield Item(b.name, kinds[b.kind], typed, written(scope.words, b.name))  # type: ignore[arg-type]
    for t in sorted(scope.types.names):
        yield Item(t, "type", scope.types.shown(t), written(scope.words, t))
    for path, e in scope.types.entries:
        if e.output is None and path == scope.path and e.name.isidentifier():
            yield Item(e.name, "variable", e.kind, e.name)


def _begun(scope: Scope, start: int, first: bool) -> Begun | None:
    """What may stand at a place, by the beginning of its statement; None if that cannot be told.

    ``first``: it is the first of its line, where another statement may begin.
    """
    ask: Callable[[str], Begun | None] | None = getattr(language(folder(scope.language)), "begun", None)
    if ask is None:
        return None
    piece = scope.moved(start).piece
    if piece is None or piece.start == start:
        return ask("")
    found = None if piece.broken else ask(piece.words[: start - piece.start])
    if found is not None and first and not scope.words.statement_end:
        begins = ask("")
        found = Begun(found.words | (begins.words if begins is not None else frozenset()), found.names)
    return found


def _fits(word: str, begun: Begun, ignore_case: bool) -> bool:
    own = word.lower() if ignore_case else word
    return own in begun.words or (own[0] == "@" and "@" in begun.words)


def _told(a: Attribute) -> str:
    return f"{a.kind}, attribute of {a.of}" if a.kind is not None else f"attribute of {a.of}"


def meaning(meanings: Mapping[str, str], word: str, ignore_case: bool) -> str | None:
    """What a word means."""
    return meanings.get(word.lower() if ignore_case else word)


# --- hover ------------------------------------------------------------------------------------------------------------


def _hover(scope: Scope) -> Hover | None:
    if not scope.known or scope.hidden or scope.at is None:
        return None
    i = scope.at
    token = scope.tokens[i]
    text = next(filter(None, _meanings(scope, i, token)), None)
    return None if text is None else Hover(scope.source.span(token.start, token.end), text)


def _meanings(scope: Scope, i: int, token: Token) -> Iterator[str | None]:
    """What a token may mean, the nearest first."""
    words = scope.words
    if token.named:
        yield _attribute(scope, i)
        called = i + 1 < len(scope.tokens) and scope.tokens[i + 1].text == "("
        key = token.text.lower()
        if called and token.name not in scope.types.names:
            yield _call(words.calls.get(key))
        yield _unit(scope, i)
        bound = scope.binding(token.name)
        if bound is not None and bound.kind == "tag" and bound.type is not None and bound.name != bound.type:
            yield f"{bound.name}: {scope.types.shown(bound.type)}\nevents of `{bound.type}`"
        if token.name in scope.types.names and not (bound is not None and bound.kind == "attribute"):
            yield _type(scope, token.name)
    if token.kind == "variable" or (token.named and scope.binding(token.name) is not None):
        bound = scope.binding(token.name)
        yield None if bound is None else _bound(scope, bound)
    if token.named:
        yield _output(scope, token.name)
    for form in _forms(scope, i):
        found = meaning(words.meanings, form, words.ignore_case)
        yield None if found is None else f"{form}\n{found}"
    if token.kind == "word" and token.text in (*words.constants, *words.types):
        yield f"{token.text}\n{'a value' if token.text in words.constants else 'a type of attributes'}"
    if token.kind in ("sign", "number"):
        yield _expression(scope, token)


def _expression(scope: Scope, token: Token) -> str | None:
    """The innermost expression around a token with its type, where its language infers types.

    The statement is read and checked alone, at its place, with the types of the program: that takes no time.
    """
    piece = scope.piece
    if piece is None:
        return None
    before = scope.text[: piece.start]
    column = piece.start - (before.rfind("\n") + 1)
    alone = "\n" * before.count("\n") + " " * column + piece.words
    with noting() as noted:
        Read.of([(alone, scope.path, scope.language)]).check(Known(inputs=scope.types.schemas))
    source = Text(alone, scope.path)
    here = source.offsets(scope.source.span(token.start, token.end))
    around = [(source.offsets(span), type) for span, type in noted if type is not Type.NULL]
    around = [one for one in around if one[0][0] <= here[0] and here[1] <= one[0][1]]
    if not around:
        return None
    (start, end), found = min(around, key=lambda one: one[0][1] - one[0][0])
    return f"{' '.join(alone[start:end].split())}: {found}\nan expression"


def _call(found: str | None) -> str | None:
    if found is None:
        return None
    head, _, rest = found.partition(": ")
    return f"{head}\n{rest}" if rest else head


def _forms(scope: Scope, i: int) -> Iterable[str]:
    """The words or signs that token ``i`` is part of, the longest first: `timer:within`, `@Name`, `within`."""
    tokens = scope.tokens
    for begin in range(max(0, i - 2), i + 1):
        for end in range(min(len(tokens), i + 3), i, -1):
            part = tokens[begin:end]
            if end - begin > 1 or begin == i:
                yield "".join(t.text for t in part)
                yield " ".join(t.text for t in part)


def _unit(scope: Scope, i: int) -> str | None:
    if i > 0 and scope.tokens[i - 1].kind == "number" and scope.tokens[i].text in scope.words.units:
        return f"{scope.tokens[i - 1].text} {scope.tokens[i].text}\na duration"
    return None


def _attribute(scope: Scope, i: int) -> str | None:
    """An attribute behind `x.`, or in the parentheses of its type."""
    chain = scope.chain(i)
    if len(chain) > 1:
        of, name = scope.type_of(chain[0].name), ".".join(t.name for t in chain[1:])
    else:
        of, name = scope.around(i), chain[0].name
        if i + 1 < len(scope.tokens) and scope.tokens[i + 1].text == ".":
            return None
    found = next((a for a in scope.types.attributes(of) if a.name == name), None) if of is not None else None
    return None if found is None else _shown(found.name, found.kind, found.of)


def _shown(name: str, kind: str | None, of: str) -> str:
    typed = f"{name}: {kind}" if kind is not None else name
    return f"{typed}\nattribute of `{of}`" + ("" if kind is not None else ", whose type is not known")


def _type(scope: Scope, name: str) -> str:
    """A type with its attributes and where it comes from."""
    found = scope.types.defined(name)
    where = [f"{e.kind} `{e.name}`, {path}" + (f":{e.span.line}" if e.span else "") for path, e in found]
    lines = [scope.types.shown(name), *(where or ["events of the input, which no text declares"])]
    schema = scope.types.schemas.get(name)
    return "\n".join([*lines, *(["intervals, with `time` and `end`"] if schema is not None and schema.lasting else [])])


def _bound(scope: Scope, bound: Binding) -> str:
    """A variable, or an attribute that a statement defines, with its type if that is known."""
    attributes = scope.types.attributes(bound.type) if bound.type is not None else ()
    found = next((a for a in attributes if a.name == bound.name), None)
    if found is not None:
        return _shown(found.name, found.kind, found.of)
    own = f"{bound.name}\n{'an' if bound.kind == 'attribute' else 'a'} {bound.kind} of this statement"
    return _output(scope, bound.name) or own


def _output(scope: Scope, name: str) -> str | None:
    """An attribute of what the statement derives."""
    here = (e for path, e in scope.types.entries if path == scope.path and _within(scope, e.span))
    attributes = (a for e in here if e.output is not None for a in scope.types.attributes(e.output))
    found = next((a for a in attributes if a.name == name), None)
    return None if found is None else _shown(found.name, found.kind, found.of)


def _within(scope: Scope, span: object) -> bool:
    """Whether the statement at the place has this span."""
    return bool(scope.tokens) and scope.source.span(scope.tokens[0].start, scope.tokens[-1].end) == span


# --- places -----------------------------------------------------------------------------------------------------------


def _definition_or_uses(scope: Scope) -> list[Place]:
    found = _definition(scope)
    if not found or scope.at is None:
        return found
    token = scope.tokens[scope.at]
    here = Place(scope.path, scope.source.span(token.start, token.end))
    return (_uses(scope) or found) if here in found else found


def _definition(scope: Scope) -> list[Place]:
    if not scope.known or scope.hidden or scope.at is None:
        return []
    token = scope.tokens[scope.at]
    if not token.named and token.kind != "variable":
        return []
    chain = scope.chain(scope.at)
    name = chain[0].name if len(chain) > 1 else token.name
    bound = next((b for b in scope.bound if b.name == name and b.token is not None), None)
    if len(chain) == 1 and bound is not None and bound.token is not None:
        first = next((b.token for b in reversed(scope.bound) if b.name == name and b.token is not None), bound.token)
        return [Place(scope.path, scope.source.span(first.start, first.end))]
    of = scope.type_of(name) if len(chain) > 1 else name
    found = scope.types.defined(of) if of is not None else []
    if not found and len(chain) == 1:
        around = scope.around(scope.at)
        found = scope.types.defined(around) if around is not None else []
        found = found or [(p, e) for p, e in scope.types.entries if e.name == name and p == scope.path]
    return [Place(path, place) for path, e in found if (place := e.place or e.span) is not None]


def _uses(scope: Scope) -> list[Place]:
    if not scope.known or scope.hidden or scope.at is None:
        return []
    token = scope.tokens[scope.at]
    name = scope.type_of(token.name) if token.named and len(scope.chain(scope.at)) == 1 else None
    if name is None:
        return []
    out = []
    for text, path, of in scope.program.texts:
        source = Text(text, path)
        for tokens in statements(of, text):
            for before, t in zip((None, *tokens), tokens, strict=False):
                attribute = before is not None and before.text == "." and before.end == t.start
                if t.named and t.name == name and not attribute:
                    out.append(Place(path, source.span(t.start, t.end)))
    return sorted(out, key=lambda p: (p.file, p.span.line, p.span.column))

