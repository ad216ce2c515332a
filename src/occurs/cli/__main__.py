"""``python -m occurs.cli``: the command where its script is not on PATH."""

from occurs.cli import main

if __name__ == "__main__":
    main(prog_name="occurs")
