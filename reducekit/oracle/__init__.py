"""What a check is: commands run on a candidate, and what makes their ends interesting."""
