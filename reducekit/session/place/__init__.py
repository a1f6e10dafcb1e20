"""The files of a reduction: input, output, journal, other failures."""
