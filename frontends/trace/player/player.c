/* The loop of a replay: makes the calls that the records of a trace ask for, in a forked child.

   It is C so that a child runs no Python: the interpreter's objects need not be copied to it, and
   its heap is the library's alone. `server.py` loads it, says what a record is, and has the same
   loop in Python for where there is no compiler. */
#include <stdint.h>

enum { CELL = 1, STRING, FUNCTION }; /* kinds of arguments; 0 is a number */
enum { COUNTS = 0x1000, STORES = 0x2000, KEEPS = 0x4000, SKIPS = 0x8000 };

typedef int64_t (*Function)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
typedef struct {
    uint16_t function, kinds;
    uint32_t cell;
    int32_t arguments[6];
} Record;
typedef struct {
    const Record *record;
    int64_t strings;
    uint64_t *begun;
    int64_t *result, *cells;
    Function *functions;
} Start;

/* Never returns: the last record calls _exit. */
static void play(const Start *start) {
    const Record *record = start->record;
    int64_t *result = start->result, *cells = start->cells;
    for (;; record++) {
        int64_t given[6];
        if (record->kinds & COUNTS) {
            ++*start->begun;
            result++;
        }
        for (int each = 0; each < 6; each++) {
            int64_t argument = record->arguments[each];
            switch (record->kinds >> 2 * each & 3) {
            case CELL: argument = cells[argument]; break;
            case STRING: argument += start->strings; break;
            case FUNCTION: argument = (int64_t) start->functions[argument]; break;
            }
            given[each] = argument;
        }
        int64_t value = start->functions[record->function](
            given[0], given[1], given[2], given[3], given[4], given[5]
        );
        if (!(record->kinds & KEEPS)) *result = value;
        if (record->kinds & STORES) cells[record->cell] = value;
        /* What returns an int leaves the upper half of the register undefined. */
        if (record->kinds & SKIPS && (int32_t) value) record += record->arguments[5];
    }
}

/* Forks by fork(2) itself: what Python does after a fork is for a child that runs Python. */
int reducekit_start(int (*fork)(void), const Start *start) {
    int pid = fork();
    if (!pid) play(start);
    return pid;
}

/* Calls a function with an object, a number and `last`, for each number, and puts its result in
   the number's place. */
void reducekit_each(
    void *object, int (*function)(void *, int64_t, int64_t), int32_t *number, int count, int64_t last
) {
    for (; count > 0; count--, number++) *number = function(object, *number, last);
}

/* Stores 64 bits; returns the address behind them. */
int64_t *reducekit_put(int64_t *at, int64_t value) {
    *at = value;
    return at + 1;
}
