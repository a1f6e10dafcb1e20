"""What several formats share: kinds of items, and the solver of what must be equal."""
