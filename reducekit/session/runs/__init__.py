"""Runs on the input itself, before and after the search."""
