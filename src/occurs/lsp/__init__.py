"""The language server: rules in any editor that speaks the Language Server Protocol (LSP 3.17).

``occurs lsp`` starts it.  Its answers are those of :mod:`occurs.services`.
"""
