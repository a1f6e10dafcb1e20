/* Reads "name = value" lines into a table of limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 32

struct limit {
    char name[24];
    long value;
    int used;
};

static struct limit limits[MOST];
static int count;

static char *trim(char *text) {
    char *end;
    while (*text == ' ' || *text == '\t')
        text++;
    end = text + strlen(text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\n'))
        *--end = '\0';
    return text;
}

static struct limit *find(const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(limits[i].name, name) == 0)
            return &limits[i];
    return NULL;
}

static int scale(const char *unit, long *factor) {
    switch (unit[0]) {
    case 'k':
        *factor = 1000;
        return 1;
    case 'M':
        *factor = 1000000;
        return 1;
    case '\0':
        return unit[1] == 0;
    default:
        return 0;
    }
}

static int set(const char *name, const char *text) {
    char *rest;
    long factor;
    struct limit *known = find(name);
    long value = strtol(text, &rest, 10);
    if (!scale(rest, &factor))
        return 0;
    if (known == NULL && count < MOST) {
        known = &limits[count++];
        strncpy(known->name, name, sizeof known->name - 1);
    }
    if (known != NULL) {
        known->value = value * factor;
        known->used = 1;
    }
    return known != NULL;
}

static int read_limits(FILE *file) {
    char line[128];
    int wrong = 0;
    while (fgets(line, sizeof line, file)) {
        char *value = strchr(line, '=');
        if (value == NULL) {
            wrong++;
            continue;
        }
        *value++ = '\0';
        if (!set(trim(line), trim(value)))
            wrong++;
    }
    return wrong;
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
    if (file == NULL || read_limits(file))
        return EXIT_FAILURE;
    for (int i = 0; i < count; i++)
        if (limits[i].used)
            printf("%s: %ld\n", limits[i].name, limits[i].value);
    return EXIT_SUCCESS;
}
