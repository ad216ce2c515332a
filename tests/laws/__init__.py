"""The laws that every operator and language keeps (operators.md, section 5), as functions over one case."""
