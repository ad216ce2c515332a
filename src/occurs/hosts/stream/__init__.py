"""The streaming host: see :mod:`occurs.hosts.stream.detect`."""
