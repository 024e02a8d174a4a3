/*
 * probes.h: attempts of operations that the sandbox forbids, and of operations that it must permit.
 * Each returns 0 if it succeeded, else the errno; most forbidden ones do not return.
 */
#ifndef ERRATA_TESTS_UNIT_PDF_WORKER_SANDBOX_PROBES_H
#define ERRATA_TESTS_UNIT_PDF_WORKER_SANDBOX_PROBES_H

#include <stddef.h>
#include <sys/types.h>

/* Result of a probe: an errno (0: it succeeded), or the signal that ended it. */
#define KILLED(signal) (-(signal))
/* Ended by some signal. */
#define KILLED_SOMEHOW (-1000)

struct probe {
    const char *name;
    int (*attempt)(void);
    int with_landlock; /* expected result */
    int closed; /* expected result without Landlock */
};

extern const struct probe probes[];
extern const size_t probe_count;

/* The parent of the probe's process, which the probe cannot query. Set before it starts. */
extern pid_t probe_parent;

/* A file that can be written, open since before the sandbox was closed. */
#define PROBE_FILE_FD 10
/* A sealed descriptor, as used for documents. */
#define PROBE_DOCUMENT_FD 11

#endif
