"""Occurs Studio: a page on a directory, where people write, see, run and question rules (docs/studio.md).

The server process does not import the engine.  An engine process does, from which the language worker, the net worker
and the processes of jobs are forked (on Linux; elsewhere each of them imports the engine).
"""
