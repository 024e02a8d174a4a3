/*
 * cage.h: what keeps a process that reads hostile bytes from doing anything else: few rights, small
 * limits, the idle scheduling class, a file system of fonts and CMaps alone (Landlock), and a list
 * of system calls outside of which the kernel kills (seccomp). What is the same for every child is
 * made once, in the fork server; each child then enters the cage by a few system calls and never
 * leaves it. Knows nothing of documents.
 *
 * Built with a sanitizer there is no cage but a limit of processor time and the idle class: the
 * sanitizer's shadow does not fit into any limit of memory, and its reports need system calls.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_WORKER_CAGE_CAGE_H
#define ERRATA_SERVER_JOBS_PDF_WORKER_CAGE_CAGE_H

#include "server/jobs/pdf/pdf_control.h"
#include "store/base/err.h"

#include <linux/filter.h>
#include <stdbool.h>

/* Of the compiled filter, which has about 100; the kernel takes 4096. */
#define CAGE_INSTRUCTIONS_MAX 1024

/* clang's way to tell of a sanitizer, and gcc's. */
#ifdef __has_feature
#define CAGE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define CAGE_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    CAGE_HAS_FEATURE(address_sanitizer) || CAGE_HAS_FEATURE(thread_sanitizer)
#define CAGE_SANITIZED 1
#else
#define CAGE_SANITIZED 0
#endif

struct cage_limits {
    uint64_t memory_bytes; /* address space */
    uint32_t cpu_seconds; /* SIGXCPU; a second later SIGKILL */
};

struct cage {
    enum pdf_cage kind;
    int ruleset; /* Landlock's rules, close-on-exec; -1: none */
    unsigned short instruction_count;
    struct sock_filter instructions[CAGE_INSTRUCTIONS_MAX];
};

/* Makes the rules; `landlock` false does as on a kernel without Landlock. ERR_UNAVAILABLE if this
 * kernel can't hold a process in, ERR_INTERNAL if the filter does not compile: then nothing hostile
 * may be read. */
MUST_CHECK enum err cage_init(struct cage *cage, bool landlock);
/* Takes a zeroed or initialised cage. */
void cage_deinit(struct cage *cage);

/* Gives up what the process may do beyond an ordinary one, for ever: root becomes `nobody`, and
 * capabilities go. What the system does not let it give up stays: the cage holds without it. */
void cage_give_up_rights(void);

/* Shuts the calling process in, for ever; it has one thread, and open only what it is to keep. Closes
 * the cage's own descriptor. Where it fails, the process must end: it is half shut in. */
MUST_CHECK enum err cage_enter(struct cage *cage, const struct cage_limits *limits);

/* Shuts a child in that ends at once: whether this system lets it, whatever its kernel could do (a
 * filter of a service manager or of a container may be in the way). ERR_UNAVAILABLE if not. */
MUST_CHECK enum err cage_try(struct cage *cage, const struct cage_limits *limits);

/* Parts of the above; of this folder. */

/* Landlock's rules as a descriptor; ERR_NOT_FOUND on a kernel without it. */
MUST_CHECK enum err cage_landlock_open(int *ret_ruleset);
MUST_CHECK enum err cage_landlock_enter(int ruleset);
/* Compiles the list of system calls for cage->kind. */
MUST_CHECK enum err cage_seccomp_init(struct cage *cage);
MUST_CHECK enum err cage_seccomp_enter(struct cage *cage);

#endif
