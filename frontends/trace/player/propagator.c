/* An external propagator of CaDiCaL (IPASIR-UP) whose answers are those of a trace: for replays.

   It knows clauses, "lemmas", and the solver does not. Of three lemmas one is added as soon as
   the solver asks, one is propagated by, and one is only looked at; each is added when the
   assignment falsifies it. So every callback has an answer, the same in each replay, and what the
   solver answers is right for its own clauses and the lemmas together.

   What `force_backtrack` calls ask for is done at the first decision above that level, each once:
   elsewhere the solver ignores it.

   It is C, as a class of C++ is a structure that begins with a pointer to its virtual functions
   (Itanium C++ ABI): so one file serves every version and namespace. `early` is 1 for versions
   before 2.1, which tell of one assignment at a time and do not ask what may be forgotten. */
#include <stdlib.h>
#include <string.h>

typedef struct { int *at, size, room; } Ints;
typedef struct { int *begin, *end, *room; } Vector; /* std::vector<int> */
typedef struct {
    void **functions;
    char lazy, forgettable, rest[62];
} Propagator;

static Propagator propagator;
static void *owner;            /* the solver that it is connected to */
static int early;
static Ints lemmas;            /* literals, each lemma ended by a 0 */
static Ints starts;            /* where each complete lemma begins */
static Ints observed, trail, levels, fixed;
static Ints backtracks;        /* levels to backtrack to */
static void (*backtrack)(void *, size_t);
static int asked, reached;     /* how many of them were asked for, and were backtracked to */
static signed char *values;    /* of variables: 1, -1, or 0 for none */
static char *watched;          /* whether a variable is observed */
static int variables, forced, adding, decided;
static int *reasons;           /* of variables: the lemma that was propagated by, from 1 on */
static int changes;            /* assignments and backtracks so far */
static int *added, *tried;     /* of lemmas: `changes` when it was added, or propagated by, or -1 */
static int explained;          /* the next literal of a reason */
static unsigned said;          /* a hash of all that the solver reported and was answered */

/* Variables of a trace of mobical as the solver has them, from 1 on: it makes variables of its own
   (factor.cpp), and mobical's later ones come after these. */
static Ints map;
static int (*vars)(void *);

static void push(Ints *some, int number) {
    if (some->size == some->room)
        some->at = realloc(some->at, sizeof(int) * (some->room = 2 * some->room + 64));
    some->at[some->size++] = number;
}

static void know(int variable) {
    if (variable <= variables) return;
    int size = 2 * variable + 1;
    values = realloc(values, size);
    watched = realloc(watched, size);
    reasons = realloc(reasons, sizeof(int) * size);
    for (int each = variables ? variables + 1 : 0; each < size; each++)
        values[each] = watched[each] = reasons[each] = 0;
    variables = size - 1;
}

static int value(int literal) {
    int variable = abs(literal);
    if (variable > variables) return 0;
    return literal < 0 ? -values[variable] : values[variable];
}

static int note(int number) {
    said = (said ^ (unsigned) number) * 16777619u;
    return number;
}

/* Returns whether the solver may see a lemma: it wants observed variables. */
static int usable(int lemma) {
    for (int *each = lemmas.at + starts.at[lemma]; *each; each++)
        if (!watched[abs(*each)]) return 0;
    return 1;
}

/* Returns how many literals are not false, up to two, of which `unit` is one; 2 also stands for a
   lemma that is satisfied or cannot be used. */
static int open_literals(int lemma, int *unit) {
    int found = 0;
    for (int *each = lemmas.at + starts.at[lemma]; *each; each++) {
        int is = value(*each);
        if (is > 0) return 2;
        if (is) continue;
        *unit = *each;
        if (++found == 2) return 2;
    }
    return usable(lemma) ? found : 2;
}

static void hold(int literal) { values[abs(literal)] = literal < 0 ? -1 : 1; }

static void assign(int literal) {
    changes++;
    know(abs(note(literal)));
    hold(literal);
    push(&trail, literal);
}

static void gone(void *self) { (void) self; }

/* Up to 2.0, what holds for good may be reported at any level. */
static void assigned_one(void *self, int literal, char for_good) {
    (void) self;
    assign(literal);
    if (for_good) push(&fixed, literal);
}

static void assigned(void *self, const Vector *literals) {
    (void) self;
    for (int *each = literals->begin; each != literals->end; each++) assign(*each);
}

static void new_level(void *self) {
    (void) self;
    push(&levels, note(trail.size));
}

static void backtracked(void *self, size_t level) {
    (void) self;
    changes++;
    note((int) level);
    if ((size_t) levels.size <= level) return;
    int size = levels.at[level];
    while (trail.size > size) values[abs(trail.at[--trail.size])] = 0;
    levels.size = (int) level;
    /* What was assigned at an earlier level, too, is so still. */
    for (int each = 0; each < size; each++) hold(trail.at[each]);
    for (int each = 0; each < fixed.size; each++) hold(fixed.at[each]);
}

static char found_model(void *self, const Vector *model) {
    (void) self;
    for (int lemma = 0; lemma < starts.size; lemma++) {
        int holds = !usable(lemma);
        for (int *each = lemmas.at + starts.at[lemma]; *each && !holds; each++)
            for (int *literal = model->begin; literal != model->end && !holds; literal++)
                holds = *literal == *each;
        if (holds) continue;
        forced = note(lemma) + 1;
        return 0;
    }
    return 1;
}

static int decide(void *self) {
    (void) self;
    if (asked < backtracks.size && levels.size > backtracks.at[asked]) {
        int level = backtracks.at[asked++];
        backtrack(owner, level);
        reached += levels.size == level;
    }
    if (++decided % 5) return 0;
    for (int each = 0; each < observed.size; each++) {
        int literal = observed.at[each];
        if (watched[abs(literal)] && !value(literal)) return note(literal);
    }
    return 0;
}

static int propagate(void *self) {
    (void) self;
    /* 1.9 proves no empty clause from a propagation that is refuted without a decision. */
    for (int lemma = early && !levels.size ? starts.size : 1; lemma < starts.size; lemma += 3) {
        int unit = 0;
        if (tried[lemma] == changes || open_literals(lemma, &unit) != 1) continue;
        tried[lemma] = changes;
        reasons[abs(unit)] = lemma + 1;
        return note(unit);
    }
    return 0;
}

static int reason(void *self, int literal) {
    (void) self;
    int lemma = abs(literal) <= variables ? reasons[abs(literal)] : 0;
    if (!lemma) return 0;
    int next = lemmas.at[starts.at[lemma - 1] + explained];
    explained = next ? explained + 1 : 0;
    return note(next);
}

static char has_clause(void *self, char *forgettable) {
    (void) self;
    int found = forced - 1, unit;
    forced = 0;
    for (int lemma = 0; lemma < starts.size && found < 0; lemma++) {
        /* The solver may ask again before it tells what has changed. */
        int falsified = added[lemma] != changes && !open_literals(lemma, &unit);
        if (falsified || (lemma % 3 == 0 && added[lemma] < 0 && usable(lemma))) found = lemma;
    }
    if (found < 0) return 0;
    if (!early) *forgettable = found % 2;
    added[note(found)] = changes;
    adding = starts.at[found];
    return 1;
}

static int clause_literal(void *self) {
    (void) self;
    return note(lemmas.at[adding++]);
}

static void *functions[] = {
    gone, gone, assigned, new_level, backtracked, found_model, decide, propagate, reason, has_clause,
    clause_literal,
};

/* From now on, until a solver is made without it, variables are mapped. */
void reducekit_begin(void *solver, int (*count)(void *)) {
    (void) solver;
    vars = count;
    map.size = 0;
}

/* Returns a literal as the solver has it. What is `known` from now on keeps its variable. */
int reducekit_map(void *solver, int literal, int known) {
    int variable = abs(literal);
    if (known && !map.size) push(&map, 0);
    if (variable >= map.size) {
        int first = vars(solver) - map.size + 1;
        if (!known) return literal < 0 ? -first - variable : first + variable;
        while (map.size <= variable) push(&map, first + map.size);
    }
    return literal < 0 ? -map.at[variable] : map.at[variable];
}

/* mobical asks what follows from the assumptions as soon as they are propagated. */
int reducekit_propagate(void *solver, int (*all)(void *), void (*implied)(void *, Vector *)) {
    Vector literals = {0, 0, 0};
    int result = all(solver);
    if (!result) implied(solver, &literals);
    return result;
}

void *reducekit_propagator(void *solver, int before_2_1) {
    owner = solver;
    early = before_2_1;
    functions[2] = early ? (void *) assigned_one : (void *) assigned;
    propagator = (Propagator) {functions, 0, 0, {0}};
    lemmas.size = starts.size = observed.size = trail.size = levels.size = fixed.size = 0;
    backtracks.size = asked = reached = 0;
    forced = adding = decided = explained = changes = 0;
    if (variables) {
        memset(values, 0, variables + 1);
        memset(watched, 0, variables + 1);
        memset(reasons, 0, sizeof(int) * (variables + 1));
    }
    return &propagator;
}

void reducekit_lemma(void *solver, int literal) {
    static int begin;
    if (solver != owner) return;
    if (lemmas.size == 0 || lemmas.at[lemmas.size - 1] == 0) begin = lemmas.size;
    if (literal) know(abs(literal));
    push(&lemmas, literal);
    if (literal) return;
    added = realloc(added, sizeof(int) * (starts.size + 1));
    tried = realloc(tried, sizeof(int) * (starts.size + 1));
    added[starts.size] = tried[starts.size] = -1;
    push(&starts, begin);
}

/* What was eliminated cannot be observed (external.cpp), and is not. */
void reducekit_observe(
    void *solver, void (*add)(void *, int), char (*eliminated)(void *, int), int literal, int mapped
) {
    int known = mapped ? reducekit_map(solver, literal, 0) : literal;
    if (!literal || solver != owner || eliminated(solver, known)) return;
    if (mapped) literal = reducekit_map(solver, literal, 1);
    int variable = abs(literal);
    know(variable);
    if (!watched[variable]) push(&observed, literal);
    watched[variable] = 1;
    add(solver, variable);
}

void reducekit_unobserve(void *solver, void (*drop)(void *, int), int literal) {
    if (solver == owner && abs(literal) <= variables) watched[abs(literal)] = 0;
    drop(solver, abs(literal));
}

void reducekit_backtrack(void *solver, void (*force)(void *, size_t), int level) {
    backtrack = force;
    if (solver == owner) push(&backtracks, level);
    else force(solver, level);
}

void reducekit_disconnect(void *solver, void (*drop)(void *)) {
    owner = NULL;
    drop(solver);
}

void reducekit_unobserve_all(void *solver, void (*drop)(void *)) {
    if (solver == owner && variables) memset(watched, 0, variables + 1);
    drop(solver);
}

/* For tests: how many levels were backtracked to as the trace asks. */
int reducekit_backtracks(void) { return reached; }

/* For tests: a hash of all callbacks, 0 if there were none. */
int reducekit_said(void) { return (int) said; }
