/* A solver with the functions of ipasir.h that tries all assignments: for tests of replays.

   With BUG it dies of the second assumption for a solve, with WRONG it takes every formula for
   unsatisfiable, with LIAR for satisfiable, with CORE no assumption has failed, with PART it lacks
   a function. */
#include <stdlib.h>
#include <string.h>

typedef struct { int *lits, size, room, *assumed, assumptions, solved, most; unsigned model; } S;

const char *ipasir_signature(void) { return "tiny"; }
void *ipasir_init(void) { return calloc(1, sizeof(S)); }
void ipasir_release(void *p) { S *s = p; free(s->lits); free(s->assumed); free(s); }

static int variable(S *s, int lit) {
    int v = abs(lit);
    if (v > s->most) s->most = v;
    return v;
}

void ipasir_add(void *p, int lit) {
    S *s = p;
    if (s->solved) s->assumptions = s->solved = 0;
    if (s->size == s->room) s->lits = realloc(s->lits, sizeof(int) * (s->room = 2 * s->room + 16));
    s->lits[s->size++] = lit;
    variable(s, lit);
}

void ipasir_assume(void *p, int lit) {
    S *s = p;
    if (s->solved) s->assumptions = s->solved = 0;
    s->assumed = realloc(s->assumed, sizeof(int) * (s->assumptions + 1));
    s->assumed[s->assumptions++] = lit;
    variable(s, lit);
#ifdef BUG
    if (s->assumptions == 2) abort();
#endif
}

static int holds(unsigned model, int lit) { return (int) (model >> abs(lit) & 1) == (lit > 0); }

int ipasir_solve(void *p) {
    S *s = p;
    if (s->solved) s->assumptions = 0;
    s->solved = 1;
#ifdef WRONG
    return 20;
#endif
#ifdef LIAR
    s->model = 0;
    return 10;
#endif
    if (s->most > 16) return 0;
    for (unsigned model = 0; model < 2u << s->most; model += 2) {
        int all = 1, some = 0;
        for (int i = 0; i < s->assumptions; i++) all &= holds(model, s->assumed[i]);
        for (int i = 0; all && i < s->size; i++) {
            if (s->lits[i]) some |= holds(model, s->lits[i]);
            else { all &= some; some = 0; }
        }
        if (all) { s->model = model; return 10; }
    }
    return 20;
}

int ipasir_val(void *p, int lit) { return holds(((S *) p)->model, lit) ? lit : -lit; }
#ifndef PART
#ifdef CORE
int ipasir_failed(void *p, int lit) { return 0; }
#else
int ipasir_failed(void *p, int lit) { return 1; }
#endif
#endif
