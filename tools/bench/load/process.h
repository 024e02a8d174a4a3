/*
 * process.h: the resources that the measured server uses, from Linux's /proc: CPU of a process and
 * its children, those that ended among them, memory and context switches. Also finds the processes
 * that listen at a port.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_PROCESS_H
#define ERRATA_TOOLS_BENCH_LOAD_PROCESS_H

#include "store/base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum processes that were named or found, and with their children. */
#define PROCESS_ROOTS_MAX 32
#define PROCESS_TREE_MAX 4096

struct process_list {
    int pids[PROCESS_TREE_MAX];
    size_t count;
};

/* Sums over the processes of a list. */
struct process_usage {
    uint64_t cpu_ns; /* CPU time, as exact as the scheduler's */
    uint64_t user_ns; /* user time in clock ticks of 10 ms */
    uint64_t system_ns;
    uint64_t switches; /* context switches of living threads */
    uint64_t
        waited_ns; /* time spent waiting for a core; only for this process, and 0 if Linux hides it */
    uint64_t rss_anon_bytes;
    uint64_t rss_file_bytes;
    uint64_t rss_peak_bytes;
    size_t process_count; /* number of processes that could be read */
};

/* Adds the processes that listen at a TCP port here, as far as this user may see them. */
void process_find_listeners(uint16_t port, struct process_list *list);
/* Adds all descendants of the processes in the list. */
void process_add_children(struct process_list *list);
/* Reads the resources used by the processes of the list since their start, including their ended
 * children. Skips ended processes; returns false if none can be read. */
MUST_CHECK bool process_read(const struct process_list *list, struct process_usage *ret_usage);
/* Reads the resources of this process. */
void process_read_own(struct process_usage *ret_usage);

#endif
