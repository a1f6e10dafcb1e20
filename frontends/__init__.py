"""Formats, one a folder: reading, what may be changed, printing; no searching, no running."""
