"""Benchmarks: each module runs as `python -m benchmarks.NAME` from the checkout."""
