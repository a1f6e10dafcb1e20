"""Random BTOR files: one from parameters and a seed, or an endless series for a hunt."""
