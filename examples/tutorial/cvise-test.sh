#!/bin/sh
# As C-Vise wants it: without arguments, the file lies in the current folder.
grep -q '(bvsub' in.smt2 && [ "$(z3 in.smt2)" = sat ]
