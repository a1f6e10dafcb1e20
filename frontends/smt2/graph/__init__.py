"""A script as one graph of shared terms: building it from a document, printing and reducing it."""

# How to read this folder, and how to write a move
#
# A script becomes a graph (`build`, `model`), in which equal terms are one node. A move names nodes
# and what takes their place (`moves`, `closing` and what that lists), the graph is printed with the
# replacements (`printing`, `listing`), and the engine sees edits of commands. `descent` puts the
# moves in order; `analysis` tells what a move may do where, and `site` adds terms.
#
# A move is a generator: it takes a `Site` (a graph and facts about it), adds the nodes that it
# needs and yields candidates. What holds for all of them:
#
# - Progress is not a move's business. The engine accepts only what is smaller in the format's
#   order, and that order has no infinite descent. So a move may propose what is longer in the
#   graph, as a negation that is pushed inwards is on its way: it costs the printing, nothing else.
#   For the same reason two moves that undo each other are no loop.
# - Nodes are added, never changed, and numbers are never reused. A search looks ahead, so several
#   graphs are alive at once; they share their lists, and what one of them adds must not be seen by
#   the others. A node that no root reaches is no part of a script.
# - A move is lazy and depends on nothing but the graph. What follows a failure is known before its
#   verdict, is computed only if it is asked for, and must be the same when a run is resumed.
# - A candidate is closed, well-sorted and declared: a hoist gives constants to variables that would
#   leave their binder, `Site.fits` and `is_visible` compare with the commands that declare
#   something, and sorts are compared before a node takes another one's place. A solver rejects the
#   rest before it comes to what fails.
# - The first candidate of a kind should be the one that removes most. The search takes single
#   steps, so a list of n arguments is halved by the move itself (`drops`), from one success to the
#   next (`Candidate.run`).
#
# Where it belongs: what replaces one node by something below it, or by a leaf, is a function in
# `moves`, listed in `kinds`, tried at each node from the heaviest down. What compares pairs of
# nodes, or changes many at once, is a closing move: it is tried on a graph in which no kind helps
# any more, and its success starts the kinds again on what is new. A move that leaves the others
# less to do goes to `closing.LATE`, one that hardly ever helps to `closing.RARE`, which only
# thorough effort tries.
