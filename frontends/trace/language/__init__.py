"""The text of a trace: calls, and the view of them that passes change."""
