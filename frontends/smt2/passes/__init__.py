"""What may be changed in a script: one kind of change a file, or a few of a kind."""
