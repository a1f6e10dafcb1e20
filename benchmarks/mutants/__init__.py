"""Mutation testing of the rooms that decide what a result is."""
