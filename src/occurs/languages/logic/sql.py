"""Which tables a SELECT reads, and of which only the rows with one value (temporal-logic.md 4.1, *Reads*).

The text is cut into tokens, no more; that it is one SELECT in the dialect of SQLite is for the checks to see to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<text>[xX]?'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    | (?P<parameter>[:@$]\w+)
    | (?P<name>[^\W\d]\w*)
    | (?P<number>\d[\w.]*|\.\d\w*)
    | (?P<sign>==|<>|!=|<=|>=|\|\||<<|>>|->>|->|.)""",
    re.VERBOSE | re.DOTALL,
)
#: what ends the list of tables of a FROM, and the conditions of a WHERE
_ENDS = ("where", "group", "order", "having", "limit", "window", "union", "except", "intersect")
_COMPOUND = ("union", "except", "intersect")
_NO_ALIAS = (*_ENDS, "join", "left", "right", "full", "inner", "outer", "cross", "natural", "on", "using", "indexed")


@dataclass(frozen=True)
class Token:
    """A piece of SQL: ``kind`` is ``name`` (also quoted), ``parameter`` (without its colon), ``text``, ``number`` or
    ``sign``; ``word`` is a bare name in lower case, else empty.  ``depth``: how many parentheses and CASEs are open."""

    kind: str
    value: str
    depth: int
    word: str = ""


def tokens(sql: str) -> list[Token]:
    """All tokens but blanks and comments."""
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(sql):
        kind, text = str(match.lastgroup), match.group()
        word = text.lower() if kind == "name" else ""
        depth -= text == ")" or word == "end"
        if kind == "quoted":
            close = text[-1]
            found.append(Token("name", text[1:-1].replace(close * 2, close), depth))
        elif kind == "parameter":
            found.append(Token(kind, text[1:], depth))
        elif kind != "skip":
            found.append(Token(kind, text, depth, word))
        depth += text == "(" or word == "case"
    return found


def parameters(sql: str) -> list[str]:
    """The names of all ``:name``."""
    return list(dict.fromkeys(t.value for t in tokens(sql) if t.kind == "parameter"))


@dataclass(frozen=True)
class Source:
    """A name in the FROM of a SELECT: a table, a view or a relation; ``depth``: of the parentheses it stands in."""

    name: str
    alias: str
    depth: int


def sources(sql: str) -> list[Source]:
    """Everything that stands where a table may stand, subqueries included, in text order."""
    return list(_sources(tokens(sql)))


def _sources(all_: Sequence[Token]) -> Iterator[Source]:
    #: depths at which the list of a FROM is open
    lists: set[int] = set()
    expected = False
    for i, token in enumerate(all_):
        lists = {d for d in lists if d <= token.depth}
        if token.word in ("from", "join"):
            # `is distinct from` begins no list
            expected = i == 0 or all_[i - 1].word != "distinct"
            lists |= {token.depth} if expected else set()
        elif token.word == "in":
            expected = True
        elif token.word in _ENDS or token.word in ("select", "values", "with"):
            lists.discard(token.depth)
            expected = False
        elif token.value == "," and token.kind == "sign":
            expected = token.depth in lists
        elif token.value == "(" and token.kind == "sign":
            # a subquery, or tables in parentheses
            lists |= {token.depth + 1} if expected and token.depth in lists else set()
            expected = expected and token.depth in lists
        elif token.kind == "name" and expected:
            expected = False
            yield Source(token.value, _alias(all_[i + 1 : i + 3]) or token.value, token.depth)
        else:
            expected = False


def _alias(behind: Sequence[Token]) -> str | None:
    """The alias in the tokens behind the name of a table."""
    behind = behind[1:] if behind and behind[0].word == "as" else behind[:1]
    usable = behind and behind[0].kind == "name" and behind[0].word not in _NO_ALIAS
    return behind[0].value if usable else None


def restrictions(sql: str, columns: Mapping[str, Sequence[str]]) -> dict[str, dict[str, str]]:
    """Per table of ``columns`` of which only rows with certain values are read: column to parameter.

    These are the top-level conjuncts ``column = :parameter`` of the WHERE of a single SELECT, if the table stands in it
    once.  SQL looks at no case of names; the tables and columns here are as they are declared.
    """
    all_ = tokens(sql)
    if not all_ or all_[0].word != "select" or any(t.depth == 0 and t.word in _COMPOUND for t in all_):
        return {}
    declared = {name.lower(): name for name in columns}
    found = list(_sources(all_))
    here = {s.alias.lower(): declared.get(s.name.lower()) for s in found if s.depth == 0}
    once = {t for t in columns if [s.name.lower() for s in found].count(t.lower()) == 1}
    out: dict[str, dict[str, str]] = {}
    for part in _conjuncts(all_):
        for owner, column, parameter in _equation(part):
            named = {c.lower(): c for c in columns.get(here.get(owner.lower()) or "", ())} if owner else {}
            tables = [here[owner.lower()]] if named else []
            if not owner:
                tables = [t for t in here.values() if t and column.lower() in {c.lower() for c in columns[t]}]
            if len(tables) == 1 and (table := tables[0]) in once and table is not None:
                names = {c.lower(): c for c in columns[table]}
                if column.lower() in names:
                    out.setdefault(table, {})[names[column.lower()]] = parameter
    return out


def _conjuncts(all_: Sequence[Token]) -> Iterator[list[Token]]:
    """The operands of AND in the outermost WHERE; none if there is an OR beside them."""
    start = next((i + 1 for i, t in enumerate(all_) if t.word == "where" and t.depth == 0), len(all_))
    stop = next((i for i in range(start, len(all_)) if all_[i].depth == 0 and all_[i].word in _ENDS), len(all_))
    where = all_[start:stop]
    if any(t.depth == 0 and t.word == "or" for t in where):
        return
    part: list[Token] = []
    between = False
    for token in where:
        between = between or (token.word == "between" and token.depth == 0)
        if token.word == "and" and token.depth == 0 and not between:
            yield part
            part = []
            continue
        if token.word == "and" and token.depth == 0:
            between = False
        part.append(token)
    yield part


def _equation(part: Sequence[Token]) -> Iterator[tuple[str, str, str]]:
    """(alias or nothing, column, parameter) of ``[alias.]column = :parameter``, either way round."""
    for one in (list(part), list(reversed(part))):
        if len(one) in (3, 5) and one[-1].kind == "parameter" and one[-2].value in ("=", "=="):
            names = one[:-2] if one[0] is part[0] else list(reversed(one[:-2]))
            if all(t.kind == "name" for t in names[::2]) and [t.value for t in names[1::2]] in ([], ["."]):
                yield (names[0].value if len(names) == 3 else "", names[-1].value, one[-1].value)
