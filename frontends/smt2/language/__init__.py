"""The language: texts, commands, scopes, terms, sorts, and what is valid."""
