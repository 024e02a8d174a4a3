/*
 * heap.c: reads glibc's malloc figures. The only file that depends on the malloc in use.
 */
#include "store/base/heap.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Returns the process's memory that is not backed by files; 0 if unknown. The second number of
 * statm is resident pages, the third those of them that are backed by files (proc(5)). */
static size_t private_bytes(void)
{
    char line[128];
    char *at = line;
    unsigned long long resident = 0;
    unsigned long long shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL) {
        return 0;
    }
    if (fgets(line, sizeof(line), file) == NULL) {
        line[0] = '\0';
    }
    (void)fclose(file);
    (void)strtoull(at, &at, 10);
    resident = strtoull(at, &at, 10);
    shared = strtoull(at, &at, 10);
    return shared > resident ? 0 : (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

void heap_keep_spare(void)
{
    /* Setting either ends glibc's own adjustment of both (mallopt(3)). A failure leaves its defaults. */
    /* NOLINTBEGIN(concurrency-mt-unsafe): called before there are other threads */
    (void)mallopt(M_TRIM_THRESHOLD, (int)HEAP_SPARE_BYTES_MAX);
    (void)mallopt(M_MMAP_THRESHOLD, (int)HEAP_MAPPED_BYTES_MIN);
    /* NOLINTEND(concurrency-mt-unsafe) */
}

struct heap_figures heap_read(void)
{
    const struct mallinfo2 all = mallinfo2();
    struct heap_figures figures = {all.uordblks + all.hblkhd, 0};
    size_t held = private_bytes();

    if (figures.used_bytes != 0 && held > figures.used_bytes) {
        figures.spare_bytes = held - figures.used_bytes;
    }
    return figures;
}

void heap_give_back(void)
{
    (void)malloc_trim(0);
}
