/*
 * sandbox.h: the sandbox of a process that reads hostile bytes: few rights, small limits, the idle
 * scheduling class, a file system with only fonts and CMaps (Landlock), and a list of system calls;
 * the kernel kills it at any other (seccomp). The parts that are the same for every child are
 * prepared once, in the fork server; each child then enters the sandbox by a few system calls and
 * never leaves it. Independent of documents.
 * Built with a sanitizer, it only limits processor time and sets the idle class: the sanitizer's
 * shadow does not fit into any limit of memory, and its reports need system calls.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_WORKER_SANDBOX_SANDBOX_H
#define ERRATA_SERVER_JOBS_PDF_WORKER_SANDBOX_SANDBOX_H

#include "server/jobs/pdf/pdf_control.h"
#include "store/base/err.h"

#include <linux/filter.h>
#include <stdbool.h>

/* Size of the compiled filter, which has about 100 instructions; the kernel allows 4096. */
#define SANDBOX_INSTRUCTIONS_MAX 1024

/* Detects sanitizers of clang and gcc. */
#ifdef __has_feature
#define SANDBOX_HAS_FEATURE(feature) __has_feature(feature)
#else
#define SANDBOX_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    SANDBOX_HAS_FEATURE(address_sanitizer) || SANDBOX_HAS_FEATURE(thread_sanitizer)
#define SANDBOX_SANITIZED 1
#else
#define SANDBOX_SANITIZED 0
#endif

struct sandbox_limits {
    uint64_t memory_bytes; /* limit of the address space */
    uint32_t cpu_seconds; /* limit at which SIGXCPU is sent; SIGKILL follows after a second */
};

struct sandbox {
    enum pdf_sandbox kind;
    int ruleset; /* Landlock ruleset, close-on-exec; -1: none */
    unsigned short instruction_count;
    struct sock_filter instructions[SANDBOX_INSTRUCTIONS_MAX];
};

/* Prepares the rules; without `landlock` as on a kernel without it. ERR_UNAVAILABLE if the kernel
 * does not support a sandbox, ERR_INTERNAL if the filter cannot be compiled: no hostile bytes may be
 * read then. */
MUST_CHECK enum err sandbox_init(struct sandbox *sandbox, bool landlock);
/* Accepts a zeroed or initialised struct. */
void sandbox_deinit(struct sandbox *sandbox);

/* Gives up privileges beyond those of an ordinary process, permanently: root becomes `nobody`, and
 * capabilities are dropped. If the system forbids that, the sandbox works without it. */
void sandbox_give_up_rights(void);

/* Enters the sandbox, permanently; the process must have one thread, and only the descriptors it
 * should keep. Closes the sandbox's own descriptor. If it fails, the process must end: it is only
 * partly restricted. */
MUST_CHECK enum err sandbox_enter(struct sandbox *sandbox, const struct sandbox_limits *limits);

/* Enters the sandbox in a test child, to find out whether the system allows it (a filter of a
 * service manager or container may forbid it). ERR_UNAVAILABLE if not. */
MUST_CHECK enum err sandbox_try(struct sandbox *sandbox, const struct sandbox_limits *limits);

/* Parts of the above; private to this folder. */

/* Returns Landlock's rules as a descriptor; ERR_NOT_FOUND on a kernel without it. */
MUST_CHECK enum err sandbox_landlock_open(int *ret_ruleset);
MUST_CHECK enum err sandbox_landlock_enter(int ruleset);
/* Compiles the list of system calls for sandbox->kind. */
MUST_CHECK enum err sandbox_seccomp_init(struct sandbox *sandbox);
MUST_CHECK enum err sandbox_seccomp_enter(struct sandbox *sandbox);

#endif
