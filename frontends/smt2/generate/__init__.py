"""Random scripts of any logic, well sorted by construction."""
