"""Looking at a BTOR graph: pictures, layers, dominators, and the values of its nodes."""
