"""A script as one graph of shared terms: building it from a document, printing and reducing it."""
