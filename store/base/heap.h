/*
 * heap.h: what malloc holds of the process's memory, and giving back what it does not need. glibc
 * returns free memory to the kernel by itself only from the end of its heap: one small block that
 * lives on above it keeps all that a burst took.
 */
#ifndef ERRATA_STORE_BASE_HEAP_H
#define ERRATA_STORE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Less than this is left to malloc: ordinary loads take and free it all the time. */
#define HEAP_SPARE_BYTES_MAX (8u << 20)

/* Under a sanitizer's malloc, and where the kernel tells nothing, all are 0. */
struct heap_figures {
    size_t used_bytes; /* asked for and not freed */
    size_t
        spare_bytes; /* of memory that is no one else's: what the process has beyond used_bytes */
};

/* Walks malloc's lists of free blocks and reads a file of /proc: not for every turn of a loop. */
struct heap_figures heap_read(void);
/* Returns whole free pages back to the kernel. Holds up other threads' malloc meanwhile, some
 * milliseconds for 100 MiB; any thread. */
void heap_give_back(void);

#endif
