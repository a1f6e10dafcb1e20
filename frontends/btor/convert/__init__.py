"""Conversion between the dialects of BTOR, and to SMT-LIB."""
