"""What a check is: commands run on a candidate, and a criterion that judges their outcomes."""
