"""What several formats share: kinds of items, and what they offer apart from reductions."""
