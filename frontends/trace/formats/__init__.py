"""Traces as something else: another API's calls, CNF, SMT-LIB."""
