"""What people type and read at a command line: keys, habits, settings, advice, the manual."""
