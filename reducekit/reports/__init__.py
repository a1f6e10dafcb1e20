"""Reports of a reduction, drawn from its journal: an HTML page, a curve, the text of an issue."""
