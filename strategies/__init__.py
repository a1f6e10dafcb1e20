"""Algorithms, one a file, over abstract changes: no format, no process, no file."""
