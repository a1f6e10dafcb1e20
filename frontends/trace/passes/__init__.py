"""The passes on traces, one kind of change per module."""
