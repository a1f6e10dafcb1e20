/* What MiniSat's C++ class has only in its header, as C functions: for replays.

   The class is the library's own; this file makes the calls that take or return a vector, a
   literal or a three-valued Boolean, or that read a member. Variables count from 1 as in traces,
   a literal is true (1), false (-1) or neither (0). It compiles with MiniSat 2.2.0, where a
   polarity is a Boolean, and with what came after. */
#if __has_include(<minisat/core/Solver.h>)
#include <minisat/core/Solver.h>
#else
#include <core/Solver.h>
#endif

using namespace Minisat;

static vec<Lit> literals; /* of the clause or the assumptions that come next */

static Lit lit(int literal) { return mkLit(abs(literal) - 1, literal < 0); }

static int number(lbool value) { return value == l_True ? 1 : value == l_False ? -1 : 0; }

template <class Polarity>
static void set(
    Solver *solver, void (Solver::*function)(Var, Polarity), int variable, bool value
) {
    (solver->*function)(variable - 1, Polarity(value));
}

extern "C" {

int reducekit_new_var(Solver *solver) { return solver->newVar() + 1; }

void reducekit_literal(Solver *, int literal) { literals.push(lit(literal)); }

bool reducekit_add_clause(Solver *solver) {
    bool okay = solver->addClause(literals);
    literals.clear();
    return okay;
}

bool reducekit_solve(Solver *solver) {
    bool found = solver->solve(literals);
    literals.clear();
    return found;
}

int reducekit_solve_limited(Solver *solver) {
    lbool found = solver->solveLimited(literals);
    literals.clear();
    return found == l_True ? 1 : found == l_False ? 0 : -1;
}

bool reducekit_okay(Solver *solver) { return solver->okay(); }

int reducekit_value(Solver *solver, int literal) { return number(solver->value(lit(literal))); }

int reducekit_model_value(Solver *solver, int literal) {
    return number(solver->modelValue(lit(literal)));
}

/* Whether an assumption has failed: the conflict has its negation. */
bool reducekit_conflict(Solver *solver, int literal) {
    for (int each = 0; each < solver->conflict.size(); each++)
        if (solver->conflict[each] == ~lit(literal)) return true;
    return false;
}

/* MiniSat's polarity is the sign that a decision gives to the variable. */
void reducekit_set_polarity(Solver *solver, int literal) {
    set(solver, &Solver::setPolarity, abs(literal), literal < 0);
}

void reducekit_set_decision_var(Solver *solver, int literal) {
    solver->setDecisionVar(abs(literal) - 1, literal > 0);
}

void reducekit_set_conf_budget(Solver *solver, int budget) { solver->setConfBudget(budget); }

void reducekit_set_prop_budget(Solver *solver, int budget) { solver->setPropBudget(budget); }

void reducekit_budget_off(Solver *solver) { solver->budgetOff(); }

int reducekit_n_vars(Solver *solver) { return solver->nVars(); }

int reducekit_n_clauses(Solver *solver) { return solver->nClauses(); }

int reducekit_n_learnts(Solver *solver) { return solver->nLearnts(); }
}
