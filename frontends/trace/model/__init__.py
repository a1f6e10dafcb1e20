"""What is known of a solver's API: calls, states, options, and how outcomes are told apart."""
