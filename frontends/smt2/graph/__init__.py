"""A script as one graph of shared terms: built from a document, printed, and made smaller."""
