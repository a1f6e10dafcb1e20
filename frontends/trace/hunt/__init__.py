"""Random traces for `generate` and `hunt`: made with a solver's feedback, played and checked."""
