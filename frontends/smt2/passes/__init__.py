"""The passes on scripts, grouped by what they change."""
