"""The graph of a BTOR file and its text: read it, check it against the rules, print it."""
