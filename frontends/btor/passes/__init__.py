"""What may be changed in a BTOR file: one kind of change a file."""
