"""A program over a stream that is read, judged and written by this process: sources, sinks, a checkpoint and a loop.

It has a room of its own because it stands above the hosts and the connectors, which know nothing of one another, and
below the command: ``cli -> follow -> program, hosts, connect``.
"""
