"""The model of a solver's API: calls, states, options, and the classification of outcomes."""
