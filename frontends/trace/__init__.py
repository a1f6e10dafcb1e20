"""API traces: their formats, and models of the interfaces that they call."""
