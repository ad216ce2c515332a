"""What the folders of the languages share: statements, expressions, problems, and what a language offers."""
