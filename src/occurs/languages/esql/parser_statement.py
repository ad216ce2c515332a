"""Statements: LET, DEFINE, queries without a name, phrases (pipes.md, 2.2)."""

from __future__ import annotations

from occurs.errors import did_you_mean
from occurs.expr.names import Name
from occurs.languages.esql import syntax
from occurs.languages.esql.parser_expr import Expressions
from occurs.languages.esql.words import CATEGORIES

_AT_END = ("NOTHING", "FINITE", "NULL")


class Statements(Expressions):
    """Reads one statement."""

    def statement(self) -> syntax.Statement:
        """Raises Backtrack if it cannot be read."""
        start = self.at
        if self.accept("LET"):
            name = self.name()
            self.expect("BE")
            pipe = self.pipe()
            self._end()
            return syntax.Let(name, pipe, self.span(start))
        if self._is_phrase():
            return self._phrase()
        defined: Name | None = None
        about = False
        if self.accept("DEFINE"):
            defined = self.name()
            if self.accept("WITH"):
                self.expect("ABOUT")
                about = True
            self.expect("AS")
        pipe = self.pipe()
        at_end = None
        if self.accept("AT"):
            self.expect("END")
            token = next((t for w in _AT_END if (t := self.accept(w))), None)
            if token is None:
                raise self.fail("one of them")
            at_end = token.word
        self._end()
        return syntax.Definition(defined, pipe, about, at_end, self.span(start))

    def _end(self) -> None:
        if self.token.kind not in ("stop", "end"):
            raise self.fail("`.`")

    # --- phrases -----------------------------------------------------------------------------------------------------

    def _is_phrase(self) -> bool:
        """Whether the statement has the form of a phrase: WHEN in front, or IS THE and a category behind words."""
        if self.sees("WHEN"):
            return True
        for i, token in enumerate(self.tokens):
            if token.word == "IS" and token.kind == "word":
                after = self.tokens[i + 1 : i + 3]
                return i > 0 and [t.word for t in after[:1]] == ["THE"] and after[1].word.lower() in CATEGORIES
            if token.kind not in ("word", "parameter") and token.word not in ("(", ")"):
                return False
        return False

    def _phrase(self) -> syntax.Phrase:
        start = self.at
        declared: dict[str, str] = {}
        if self.accept("WHEN"):
            while True:
                at = self.at
                name = self.expect("a parameter").word[1:]
                self.words("IS", "A")
                category = self._category()
                if name in declared:
                    self.source.report("duplicate-name", f"`@{name}` is declared twice", self.span(at))
                declared[name] = category
                if not self.accept(","):
                    break
            self.expect(":")
        pattern = self._pattern(declared)
        self.words("IS", "THE")
        category = self._category()
        self.parameters = declared
        body = self.pipe()
        self._end()
        ordered = tuple(sorted(declared.items()))
        return syntax.Phrase(pattern, ordered, category, body, self.span(start))

    def _category(self) -> str:
        token = self.token
        word = token.word.lower()
        if token.kind != "word" or word not in CATEGORIES:
            if token.kind == "word":
                raise self.say("syntax", f"`{token.word}` is not a category of phrases",
                               did_you_mean(word, CATEGORIES, "categories"))  # fmt: skip
            raise self.fail("a category (processor, function, number, boolean, text)")
        self.at += 1
        return word

    def _pattern(self, declared: dict[str, str]) -> tuple[str, ...]:
        """Words and parameters; parentheses around a parameter mean nothing."""
        out: list[str] = []
        start = self.at
        while not self.sees("IS", "THE"):
            open_ = self.accept("(")
            if self.token.kind == "word" and open_ is None:
                out.append(self.next().word)
                continue
            at = self.at
            if self.token.kind != "parameter":
                raise self.fail("a parameter" if open_ else "`IS THE`")
            name = self.next().word[1:]
            if name not in declared:
                hint = "declare it: `WHEN @P IS A PROCESSOR: ..`"
                hint = did_you_mean(name, declared, "parameters") if declared else hint
                self.source.report("unknown-name", f"there is no parameter `@{name}`", self.span(at), hint)
            elif f"@{name}" in out:
                self.source.report("duplicate-name", f"`@{name}` occurs twice in the pattern", self.span(at))
            if open_:
                self.expect(")")
            out.append(f"@{name}")
        place = self.span(start)
        if not out or out[0].startswith("@"):
            self.source.report(
                "syntax", "a pattern must start with a word", place, "write for example `THE DOUBLE OF @P`"
            )
        for name in declared:
            if f"@{name}" not in out:
                self.source.report("unknown-name", f"`@{name}` is not in the pattern", place)
        return tuple(out)
