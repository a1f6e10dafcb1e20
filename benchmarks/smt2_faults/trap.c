/* Preloaded into a solver: makes instructions traps, to see which are reached or to fail there.
 *
 * TRAP_LIBRARY  part of the name of the object that they are in; empty: the program
 * TRAP_AT       the address of one, from the start of the object, in hexadecimal: SIGTRAP ends it
 * TRAP_FILE     or a file with many, one a line: each is written to TRAP_REACHED when it is
 *               reached for the first time, and then runs as ever
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static unsigned long base, *at;
static unsigned char *before;
static int count, reached;

static int find(struct dl_phdr_info *info, size_t size, void *name) {
  const char *part = name;
  int found = *part ? strstr(info->dlpi_name, part) != NULL : !*info->dlpi_name;
  (void)size;
  if (found) base = info->dlpi_addr;
  return found;
}

static int compare(const void *a, const void *b) {
  unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
  return x < y ? -1 : x > y;
}

static void note(int number, siginfo_t *info, void *context) {
  ucontext_t *state = context;
  unsigned long address = state->uc_mcontext.gregs[REG_RIP] - 1, offset = address - base;
  unsigned long *found = bsearch(&offset, at, count, sizeof *at, compare);
  char line[32];
  (void)number, (void)info;
  if (!found) _exit(99);
  *(unsigned char *)address = before[found - at];
  state->uc_mcontext.gregs[REG_RIP] = address;
  if (write(reached, line, sprintf(line, "%lx\n", offset)) < 0) _exit(98);
}

static void set(int which) {
  unsigned char *code = (unsigned char *)(base + at[which]);
  mprotect((void *)((unsigned long)code & ~4095UL), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  before[which] = *code;
  *code = 0xcc; /* int3 */
}

__attribute__((constructor)) static void begin(void) {
  const char *library = getenv("TRAP_LIBRARY"), *one = getenv("TRAP_AT"), *many = getenv("TRAP_FILE");
  if (!library || (!one && !many)) return;
  dl_iterate_phdr(find, (void *)library);
  unsetenv("LD_PRELOAD"); /* what the solver starts is left alone */
  if (one) {
    count = 1, at = malloc(sizeof *at), before = malloc(1);
    *at = strtoul(one, NULL, 16);
  } else {
    FILE *file = fopen(many, "r");
    struct sigaction action = {0};
    if (!file) _exit(97);
    at = malloc((1 << 20) * sizeof *at);
    while (count < 1 << 20 && fscanf(file, "%lx", &at[count]) == 1) count++;
    fclose(file);
    qsort(at, count, sizeof *at, compare);
    before = malloc(count);
    reached = open(getenv("TRAP_REACHED"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGTRAP, &action, NULL);
  }
  for (int which = 0; which < count; which++) set(which);
}
