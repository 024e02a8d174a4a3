/*
 * heap.h: the memory that malloc holds, and returning what it does not need. glibc returns free
 * memory to the kernel by itself only from the end of its heap: one small block above it keeps all
 * memory of a burst.
 */
#ifndef ERRATA_STORE_BASE_HEAP_H
#define ERRATA_STORE_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Free memory that malloc keeps, since ordinary loads allocate and free it all the time. */
#define HEAP_SPARE_BYTES_MAX (8u << 20)

/* Larger blocks are mapped one by one, and return to the kernel when they are freed. */
#define HEAP_MAPPED_BYTES_MIN (1u << 20)

/* All are 0 under a sanitizer's malloc, and if the kernel does not report the figures. */
struct heap_figures {
    size_t used_bytes; /* allocated and not freed */
    size_t spare_bytes; /* the process's memory beyond used_bytes */
};

/* Lets malloc keep HEAP_SPARE_BYTES_MAX at the end of its heap. By default it gives back what exceeds 128 KiB there,
 * which a turn of the loop may allocate and free: the system calls and page faults of each turn then cost more
 * than its calls. Once, at the start of the program; without effect under a sanitizer. */
void heap_keep_spare(void);
/* Walks malloc's lists of free blocks and reads a file of /proc: not for every turn of a loop. */
struct heap_figures heap_read(void);
/* Returns whole free pages to the kernel. Blocks other threads' malloc meanwhile, some milliseconds
 * for 100 MiB. Any thread. */
void heap_give_back(void);

#endif
