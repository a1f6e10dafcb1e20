"""The passes on BTOR files, one kind of change per module."""
