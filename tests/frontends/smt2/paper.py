"""The example of the ddSMT paper.

Niemetz and Biere, ddSMT: A Delta Debugger for the SMT-LIB v2 Format, SMT 2013.
"""

FIGURE_1 = """\
(set-logic UFNIA)
(declare-sort sort1 0)
(declare-fun x () sort1)
(declare-fun y () sort1)
(assert (= x y))
(push 1)
(define-sort sort2 () Bool)
(declare-fun x () sort2)
(declare-fun y () sort2)
(assert (and (as x Bool) (as y Bool)))
(assert (! (not (as x Bool)) :named z))
(assert z)
(pop 1)
(assert (forall ((z Int)) (exists ((zz Int)) (= z zz))))
(check-sat)
(get-value ((let ((x 1) (y 1)) (= x y))))
(exit)
"""
"""Figure 1, without its indentation."""
