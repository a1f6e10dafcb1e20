"""The passes on scripts, grouped by what they change."""

# A pass here is a list of changes to the text of a script; `reducekit.format.Pass` tells how to
# write one. Terms are mostly left to the pass *graph*, which sees equal terms as one. The others
# are for what is no term, and so no node of the graph: commands, scopes, declared sorts,
# parameters, attributes, names and notations.
#
# Each change carries along what it needs, as a solver stops at the first error: a declaration goes
# with its users, a parameter with an argument at each call, a sort with all its spellings. So no
# combination of changes leaves a name without its declaration. Terms stay well-sorted; where that
# does not follow from the change, it is checked (`spelling.text_is_sorted`). Only *untyped* ignores
# sorts, for failures of parsers and sort checkers, as do the passes of other algorithms (`syntax`).
#
# Their order is in `smt2/schedule.py`: what removes most with the fewest checks comes first.
