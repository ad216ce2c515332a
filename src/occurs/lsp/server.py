"""The server: requests of an editor to :mod:`occurs.services`, and their answers back.

All questions run in one thread beside the one that reads messages, as services share what they keep.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from occurs import services
from occurs.languages.kit.language import suffixes
from occurs.lsp.places import Document
from occurs.lsp.programs import Files, files_of
from occurs.model.types import Schema
from occurs.services.answers import Item, Outline, Problem
from occurs.services.answers import Place as Found
from occurs.version import __version__

Answer = TypeVar("Answer")
#: seconds without a change after which a program is checked
QUIET = 0.2
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "notice": lsp.DiagnosticSeverity.Information,
}
_KIND = {
    "type": lsp.CompletionItemKind.Class,
    "attribute": lsp.CompletionItemKind.Field,
    "tag": lsp.CompletionItemKind.Variable,
    "variable": lsp.CompletionItemKind.Variable,
    "keyword": lsp.CompletionItemKind.Keyword,
    "constant": lsp.CompletionItemKind.Constant,
    "function": lsp.CompletionItemKind.Function,
    "unit": lsp.CompletionItemKind.Unit,
    "snippet": lsp.CompletionItemKind.Snippet,
}


class Asked(Protocol):
    """The parameters of a question about a place."""

    text_document: lsp.TextDocumentIdentifier
    position: lsp.Position


class Server(LanguageServer):
    """The language server of one editor."""

    def __init__(self) -> None:
        super().__init__("occurs", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._worker = ThreadPoolExecutor(1, "occurs")
        self._changes = 0
        #: the documents whose problems the editor shows
        self._shown: set[str] = set()

    # --- documents and programs ---------------------------------------------------------------------------------------

    def files(self, uri: str) -> tuple[Files, str]:
        """The program of a document, and the path of the document in it."""
        path = _path(uri)
        if path is None:  # not saved yet
            document = self.workspace.get_text_document(uri)
            name = f"untitled{_suffix(document.language_id)}"
            return Files(None, {name: document.source}), name
        open_ = {p: self.workspace.get_text_document(uri).source for p, uri in self._open().items()}
        found = files_of(path, open_, self._top(path))
        assert found.root is not None
        return found, path.relative_to(found.root).as_posix()

    def _open(self) -> dict[Path, str]:
        """The files that are open, with their addresses as the editor writes them."""
        return {path: uri for uri in tuple(self.workspace.text_documents) if (path := _path(uri)) is not None}

    def uris(self, files: Files, uri: str) -> dict[str, str]:
        """The addresses of the texts of a program; ``uri``: of a document that is not a file."""
        if files.root is None:
            return dict.fromkeys(files.texts, uri)
        known = self._open()
        places = {path: files.root / path for path in files.texts}
        return {path: known.get(place) or str(from_fs_path(str(place))) for path, place in places.items()}

    def _top(self, path: Path) -> Path | None:
        """The folder of the workspace that a file is in."""
        folders = [_path(uri) for uri in self.workspace.folders] or [_path(self.workspace.root_uri or "")]
        inside = [f for f in folders if f is not None and path.is_relative_to(f)]
        return max(inside, key=lambda f: len(f.parts), default=None)

    def document(self, files: Files, path: str) -> Document:
        """A text of a program, with its places."""
        return Document(files.texts[path], lsp.PositionEncodingKind(self.workspace.position_encoding).value)

    async def ask(self, work: Callable[[], Answer]) -> Answer:
        """Answer a question in the thread of the services."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    # --- problems -----------------------------------------------------------------------------------------------------

    async def changed(self) -> None:
        """Check the programs of all open documents once nothing has changed for a while."""
        self._changes += 1
        now = self._changes
        await asyncio.sleep(QUIET)
        if now != self._changes:
            return
        found = await self.ask(lambda: self._all_problems(tuple(self.workspace.text_documents)))
        if now != self._changes:
            return
        gone: dict[str, list[lsp.Diagnostic]] = {uri: [] for uri in self._shown - found.keys()}
        self._shown = {uri for uri, problems in found.items() if problems}
        for uri, problems in {**gone, **found}.items():
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, problems))

    def _all_problems(self, uris: Iterable[str]) -> dict[str, list[lsp.Diagnostic]]:
        """The problems of all files of the programs that these documents belong to."""
        out: dict[str, list[lsp.Diagnostic]] = {}
        for uri in uris:
            if uri in out:  # of a program that was checked
                continue
            files, path = self.files(uri)
            uris_of = self.uris(files, uri)
            documents = {p: self.document(files, p) for p in files.texts}
            out |= {u: [] for u in uris_of.values()}
            for problem in services.check(files.texts).problems:
                at = path if problem.file is None or problem.file not in files.texts else problem.file
                out[uris_of[at]].append(_diagnostic(problem, documents, uris_of, at))
        return out

    # --- questions ----------------------------------------------------------------------------------------------------

    def types(self, files: Files) -> dict[str, Schema]:
        """The types in the files of events, which are named as seen from the folder of the program."""
        if files.root is None or not files.events:
            return {}
        os.chdir(files.root)
        events = files.events if files.chosen else services.offered(files.events, files.texts, files.options)
        return services.known_types(events, files.options)

    async def at(
        self,
        params: Asked,
        work: Callable[[str, Mapping[str, str], int, Mapping[str, Schema]], Answer],
    ) -> tuple[Files, Document, Answer]:
        """Ask about the place of a document."""

        def answer() -> tuple[Files, Document, Answer]:
            files, path = self.files(params.text_document.uri)
            document = self.document(files, path)
            return files, document, work(path, files.texts, document.offset(params.position), self.types(files))

        return await self.ask(answer)

    def locations(self, uri: str, files: Files, places: Collection[Found]) -> list[lsp.Location]:
        """Places in the files of a program."""
        uris = self.uris(files, uri)
        made = {path: self.document(files, path) for path in {p.file for p in places}}
        return [lsp.Location(uris[p.file], made[p.file].range(p.span)) for p in places]


def _path(uri: str) -> Path | None:
    """The file of an address; None if it is not one of a file."""
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return None if path is None else Path(path)


def _suffix(language_id: str | None) -> str:
    """The suffix of rules in the language that an editor calls `tesla` or `occurs-tesla`."""
    name = (language_id or "").removeprefix("occurs-")
    return next((suffix for suffix, of in suffixes().items() if name in (of, suffix[1:])), "")


def _diagnostic(
    problem: Problem, documents: Mapping[str, Document], uris: Mapping[str, str], at: str
) -> lsp.Diagnostic:
    message = problem.message if problem.hint is None else f"{problem.message}\nhint: {problem.hint}"
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uris[file], documents[file].range(r.span)), r.message)
        for r in problem.related
        if (file := r.file or "") in documents
    ]
    place = documents[at].range(problem.span if problem.file == at else None)
    return lsp.Diagnostic(
        place, message, _SEVERITY[problem.severity], problem.kind, source="occurs", related_information=related or None
    )


def _item(item: Item, n: int, place: lsp.Range) -> lsp.CompletionItem:
    """An item; ``n`` keeps the order, which is that of nearness."""
    snippet = "${" in item.insert
    form = lsp.InsertTextFormat.Snippet if snippet else lsp.InsertTextFormat.PlainText
    text = _tabs(item.insert) if snippet else item.insert
    edit = lsp.TextEdit(place, text)
    return lsp.CompletionItem(
        item.label, kind=_KIND[item.kind], detail=item.detail, sort_text=f"{n:05}", insert_text_format=form,
        text_edit=edit,
    )  # fmt: skip


def _tabs(insert: str) -> str:
    """The stops of a snippet as the protocol writes them: numbered, and other signs with a meaning escaped."""
    out, numbers = [], dict[str, int]()
    for part in re.split(r"(\$\{\w+\})", insert):
        if part.startswith("${") and part.endswith("}"):
            name = part[2:-1]
            number = numbers.setdefault(name, len(numbers) + 1)
            out.append(f"${{{number}:{name}}}")
        else:
            out.append(re.sub(r"([\\$}])", r"\\\1", part))
    return "".join(out)


def _symbol(entry: Outline, place: lsp.Range) -> lsp.DocumentSymbol:
    reads = f"reads {', '.join(entry.reads)}" if entry.reads else None
    detail = " ".join(filter(None, [entry.kind, reads]))
    return lsp.DocumentSymbol(entry.name or entry.kind, lsp.SymbolKind.Class, place, place, detail)


def server() -> Server:
    """A server with all that it answers."""
    made = Server()

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    @made.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    @made.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def changed(_: Any) -> None:
        await made.changed()

    @made.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "$", "@", ":"]))
    async def complete(params: lsp.CompletionParams) -> lsp.CompletionList:
        _, document, found = await made.at(params, services.complete)
        place = lsp.Range(document.position(found.start), params.position)
        return lsp.CompletionList(False, [_item(item, n, place) for n, item in enumerate(found.items)])

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        _, document, found = await made.at(params, services.hover)
        if found is None:
            return None
        code, _, rest = found.text.partition("\n")
        text = "\n\n".join([f"```\n{code}\n```", *rest.splitlines()])
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), document.range(found.span))

    @made.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        files, _, places = await made.at(params, services.definition)
        return made.locations(params.text_document.uri, files, places)

    @made.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        files, _, places = await made.at(params, services.uses)
        return made.locations(params.text_document.uri, files, places)

    @made.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        def here(path: str, *rest: object) -> list[Found]:
            return [p for p in services.uses(path, *rest) if p.file == path]  # type: ignore[arg-type]

        _, document, places = await made.at(params, here)
        return [lsp.DocumentHighlight(document.range(p.span)) for p in places]

    @made.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        _, document, found = await made.at(params, lambda p, t, o, e: services.rename(p, t, o, None, e))
        if found.name is None or found.span is None:
            return None
        return lsp.PrepareRenamePlaceholder(document.range(found.span), found.name)

    @made.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        files, _, found = await made.at(params, lambda p, t, o, e: services.rename(p, t, o, params.new_name, e))
        if found.problems:
            raise JsonRpcException(found.problems[0].message, lsp.LSPErrorCodes.RequestFailed)
        changes = {}
        uris = made.uris(files, params.text_document.uri)
        for path, edits in found.edits.items():
            document = made.document(files, path)
            changes[uris[path]] = [lsp.TextEdit(document.between(e.start, e.to), e.insert) for e in edits]
        return lsp.WorkspaceEdit(changes)

    @made.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def format_(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        def edits() -> list[lsp.TextEdit] | None:
            files, path = made.files(params.text_document.uri)
            found = services.format_text(path, files.texts[path])
            if found.text == files.texts[path]:
                return None  # also what is wrong stays as it is: its problems are shown anyway
            document = made.document(files, path)
            return [lsp.TextEdit(document.between(0, len(document.text)), found.text)]

        return await made.ask(edits)

    @made.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        def found() -> list[lsp.DocumentSymbol]:
            files, path = made.files(params.text_document.uri)
            document = made.document(files, path)
            entries = [e for e in services.check(files.texts).outline if e.file == path]
            return [_symbol(e, document.range(e.span)) for e in entries]

        return await made.ask(found)

    return made
