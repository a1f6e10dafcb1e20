/* A SAT solver with the functions of IPASIR, and a bug: it does not look at clauses of more
   than three literals. It tries all assignments, so it is for a few variables. */
#include <stdlib.h>

enum { MOST = 100000, VARIABLES = 1000 };
struct solver {
  int literals[MOST], size, most; /* clauses, each closed by 0; the largest variable */
  int assumed[VARIABLES], assumptions;
  int value[VARIABLES], tried;
};

void *ipasir_init(void) { return calloc(1, sizeof(struct solver)); }
void ipasir_release(void *solver) { free(solver); }
void ipasir_add(void *solver, int literal) {
  struct solver *s = solver;
  if (s->size < MOST) s->literals[s->size++] = literal;
  if (abs(literal) > s->most) s->most = abs(literal);
}
void ipasir_assume(void *solver, int literal) {
  struct solver *s = solver;
  if (s->assumptions < VARIABLES) s->assumed[s->assumptions++] = literal;
  if (abs(literal) > s->most) s->most = abs(literal);
}
static int holds(struct solver *s, int literal) {
  int value = s->value[abs(literal) % VARIABLES];
  return literal > 0 ? value : -value;
}
static int falsified(struct solver *s) {
  int open = 0, length = 0;
  for (int i = 0; i < s->size; i++) {
    if (s->literals[i] == 0) {
      if (!open && length <= 3) return 1; /* the bug */
      open = length = 0;
    } else {
      length++;
      open |= holds(s, s->literals[i]) >= 0;
    }
  }
  return 0;
}
static int search(struct solver *s, int variable) {
  if (s->tried++ > 20000 || falsified(s)) return 0;
  if (variable > s->most) return 1;
  if (s->value[variable]) return search(s, variable + 1);
  for (int value = 1; value >= -1; value -= 2) {
    s->value[variable] = value;
    if (search(s, variable + 1)) return 1;
  }
  s->value[variable] = 0;
  return 0;
}
int ipasir_solve(void *solver) {
  struct solver *s = solver;
  for (int v = 0; v < VARIABLES; v++) s->value[v] = 0;
  for (int i = 0; i < s->assumptions; i++)
    s->value[abs(s->assumed[i]) % VARIABLES] = s->assumed[i] > 0 ? 1 : -1;
  s->assumptions = 0;
  s->tried = 0;
  return search(s, 1) ? 10 : s->tried > 20000 ? 0 : 20;
}
int ipasir_val(void *solver, int literal) {
  return holds(solver, literal) > 0 ? literal : -literal;
}
int ipasir_failed(void *solver, int literal) { (void)solver; (void)literal; return 1; }
