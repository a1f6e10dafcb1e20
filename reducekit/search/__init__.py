"""Pure search: proposes candidates and takes verdicts; runs nothing."""
