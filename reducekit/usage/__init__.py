"""What users type and read on the command line: keys, habits, settings, advice, the manual."""
