/* A random simulator of AIGER circuits with one seeded fault: exits with 0 if the fault shows.

   oracle FAULT K FILE: 64 runs of 16 steps, right and wrong; the values of some property differ. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "aiger.h"

enum { STEPS = 16 };
typedef uint64_t Word;
static aiger *a;
static const char *fault;
static unsigned k, *level, *fan, *width;
static unsigned char (*toggles)[64];

static int is(const char *name) { return !strcmp(fault, name); }

static Word draw(Word x) { /* splitmix64 */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static Word of(const Word *v, unsigned literal) { return v[literal / 2] ^ -(Word)(literal & 1); }

static int latch(unsigned literal) { return aiger_is_latch(a, literal & ~1u) != 0; }

/* Operands of an inner gate, both negated: NOT x AND NOT y with x, y gates. */
static int nor(aiger_and *g, aiger_and **x, aiger_and **y) {
  if (!(g->rhs0 & 1) || !(g->rhs1 & 1)) return 0;
  *x = aiger_is_and(a, g->rhs0 & ~1u), *y = aiger_is_and(a, g->rhs1 & ~1u);
  return *x && *y;
}

static int wrong(aiger_and *g) {
  aiger_and *x, *y;
  unsigned own = g->lhs / 2;
  if (is("deep")) return level[own] >= k;
  if (is("fan")) return fan[own] >= k;
  if (is("latchand")) return latch(g->rhs0) && latch(g->rhs1);
  if (is("norands")) return nor(g, &x, &y);
  if (is("xor"))
    return nor(g, &x, &y) && ((x->rhs0 == (y->rhs0 ^ 1) && x->rhs1 == (y->rhs1 ^ 1)) ||
                              (x->rhs0 == (y->rhs1 ^ 1) && x->rhs1 == (y->rhs0 ^ 1)));
  if (is("mux"))
    return nor(g, &x, &y) && (x->rhs0 == (y->rhs0 ^ 1) || x->rhs1 == (y->rhs1 ^ 1) ||
                              x->rhs0 == (y->rhs1 ^ 1) || x->rhs1 == (y->rhs0 ^ 1));
  return 0;
}

static void step(Word *v, unsigned n, int bad) {
  for (unsigned i = 0; i < a->num_inputs; i++)
    v[a->inputs[i].lit / 2] = draw(draw(i + 1) + n);
  for (unsigned i = 0; i < a->num_ands; i++) {
    aiger_and *g = a->ands + i;
    Word x = of(v, g->rhs0), y = of(v, g->rhs1);
    v[g->lhs / 2] = bad && wrong(g) ? x : x & y;
  }
}

static void advance(Word *v, Word *next, int bad) {
  for (unsigned i = 0; i < a->num_latches; i++) {
    aiger_symbol *l = a->latches + i;
    next[i] = of(v, l->next);
    if (bad && is("nextneg") && l->next & 1) next[i] = ~next[i];
    if (bad && is("inlatch") && aiger_is_input(a, l->next & ~1u)) next[i] = v[l->lit / 2];
    if (bad && is("toggle"))
      for (unsigned r = 0; r < 64; r++)
        if ((next[i] ^ v[l->lit / 2]) >> r & 1 && ++toggles[i][r] >= k)
          toggles[i][r]--, next[i] ^= (Word)1 << r;
  }
  for (unsigned i = 0; i < a->num_latches; i++) v[a->latches[i].lit / 2] = next[i];
}

static int differ(aiger_symbol *s, unsigned n, const Word *v, const Word *w) {
  for (unsigned i = 0; i < n; i++)
    if (of(v, s[i].lit) != of(w, s[i].lit)) return 1;
  return 0;
}

int main(int argc, char **argv) {
  fault = argv[1], k = atoi(argv[2]), a = aiger_init();
  if (aiger_open_and_read_from_file(a, argv[argc - 1])) return 2;
  unsigned top = a->maxvar + 1, shape = 0;
  level = calloc(top, 4), fan = calloc(top, 4), width = calloc(top, 4);
  for (unsigned i = 0; i < a->num_ands; i++) {
    aiger_and *g = a->ands + i;
    unsigned x = level[g->rhs0 / 2], y = level[g->rhs1 / 2], own = g->lhs / 2;
    width[level[own] = 1 + (x > y ? x : y)]++;
    fan[g->rhs0 / 2]++, fan[g->rhs1 / 2]++;
  }
  if (is("constr")) return a->num_constraints < k;
  for (unsigned i = 0; i < a->num_justice; i++) shape += a->justice[i].size >= k;
  if (is("shape")) return !shape;
  for (unsigned i = 0; i < top; i++) shape |= width[i] >= k;
  if (is("level")) return !shape;
  Word *v = calloc(top, 8), *w = calloc(top, 8), *next = calloc(a->num_latches + 1, 8);
  toggles = calloc(a->num_latches + 1, 64);
  for (unsigned i = 0; i < a->num_latches; i++) {
    aiger_symbol *l = a->latches + i;
    Word begin = l->reset > 1 ? draw(~(Word)i) : -(Word)l->reset;
    v[l->lit / 2] = w[l->lit / 2] = begin;
    if ((is("reset1") && l->reset == 1) || (is("uninit") && l->reset > 1)) w[l->lit / 2] = 0;
  }
  for (unsigned n = 0; n < STEPS; n++) {
    step(v, n, 0), step(w, n, 1);
    if (differ(a->outputs, a->num_outputs, v, w) || differ(a->bad, a->num_bad, v, w) ||
        differ(a->constraints, a->num_constraints, v, w) ||
        differ(a->fairness, a->num_fairness, v, w))
      return 0;
    for (unsigned i = 0; i < a->num_justice; i++)
      for (unsigned j = 0; j < a->justice[i].size; j++)
        if (of(v, a->justice[i].lits[j]) != of(w, a->justice[i].lits[j])) return 0;
    advance(v, next, 0), advance(w, next, 1);
  }
  return 1;
}
