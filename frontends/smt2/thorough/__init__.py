"""What `--effort thorough` adds: ways out of local minima, which take many checks."""
