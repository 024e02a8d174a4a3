/*
 * environment.c: see environment.h.
 */
#include "tools/bench/environment.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LINE_BYTES 1024
/* Lines of /proc/cpuinfo before the model's name. */
#define LINES_MAX 200

/* Returns the value after `key` and its separators in a file of lines, without quotes; empty if it is
 * not there. */
static struct slice find_line(struct arena *arena, const char *path, const char *key)
{
    FILE *file = fopen(path, "re");
    char line[LINE_BYTES];
    struct slice found = {NULL, 0};

    for (int i = 0; file != NULL && i < LINES_MAX && fgets(line, sizeof(line), file) != NULL; i++) {
        const char *value = line + strlen(key);
        size_t size = 0;

        if (strncmp(line, key, strlen(key)) != 0) {
            continue;
        }
        value += strspn(value, " \t:=\"");
        size = strcspn(value, "\"\n");
        found = arena_printf(arena, "%.*s", (int)size, value);
        break;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

void environment_read(struct arena *arena, struct environment *ret_environment)
{
    struct utsname name;
    struct slice memory = find_line(arena, "/proc/meminfo", "MemTotal");

    *ret_environment =
        (struct environment){.cpu = find_line(arena, "/proc/cpuinfo", "model name"),
                             .cores = sysconf(_SC_NPROCESSORS_ONLN),
                             .system = find_line(arena, "/etc/os-release", "PRETTY_NAME")};
    if (memory.size > 0) {
        ret_environment->memory_bytes = strtoull((const char *)memory.data, NULL, 10) * 1024;
    }
    if (uname(&name) == 0) {
        ret_environment->kernel = arena_printf(arena, "%s %s", name.sysname, name.release);
    }
}
