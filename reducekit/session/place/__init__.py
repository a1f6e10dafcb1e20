"""The files of a reduction: input, output, journal, and what stands beside them."""
