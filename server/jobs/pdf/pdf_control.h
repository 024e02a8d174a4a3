/*
 * pdf_control.h: what the server and the worker program's fork server say to each other, over a pair
 * of SOCK_SEQPACKET sockets: one datagram a message, of the machine's own byte order, since both are
 * built together. Neither side reads a document here.
 *
 * The fork server says READY once it is warm. Each JOB brings three descriptors: the document (a
 * sealed memfd), the write end of the answer's pipe, and one end of a job socket. The fork server
 * forks a child for it; when the child has ended, it says END on the job socket and closes it. (So it
 * does a second after a child was killed that does not get the processor to die on; the pipe may stay
 * open then.) The server closes its own end to have the child killed. When the control socket closes,
 * the fork server kills its children and ends.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_CONTROL_H
#define ERRATA_SERVER_JOBS_PDF_PDF_CONTROL_H

#include <stdint.h>

/* Raised with any change here: an old worker program beside a new server is refused. */
#define PDF_CONTROL_VERSION 2
/* The descriptor of the control socket in the fork server. */
#define PDF_CONTROL_FD 3
/* Of a password; PDF has no longer ones (ISO 32000-2, 7.6.4.3.3). */
#define PDF_PASSWORD_BYTES_MAX 127
/* Descriptors of a JOB, in this order. */
enum pdf_job_fd {
    PDF_JOB_DOCUMENT,
    PDF_JOB_ANSWER,
    PDF_JOB_SOCKET,
    PDF_JOB_FDS
};

/* A job's limits. */
#define PDF_CPU_SECONDS 5 /* soft; hard one second later */
#define PDF_WALL_MS 8000
#define PDF_MEMORY_BYTES ((uint64_t)512 << 20) /* address space */
/* Children at once; a server has fewer slots. */
#define PDF_CHILDREN_MAX 32

enum pdf_control_type {
    PDF_CONTROL_READY = 1,
    PDF_CONTROL_JOB = 2,
    PDF_CONTROL_END = 3
};

/* What keeps a child from the file system. */
enum pdf_cage {
    PDF_CAGE_NONE = 0, /* built with a sanitizer: no cage at all */
    PDF_CAGE_LANDLOCK = 1, /* fonts and CMaps can be read, nothing else */
    PDF_CAGE_CLOSED = 2 /* no Landlock here: nothing can be opened; CMaps are unavailable */
};

struct pdf_control_ready {
    uint32_t type;
    uint32_t version;
    uint32_t cage; /* enum pdf_cage */
    char poppler_version[32]; /* with a NUL */
};

/* Flags of a job. */
#define PDF_JOB_EXPLAIN 1u
#define PDF_JOB_PICTURE 2u

struct pdf_control_job {
    uint32_t type;
    uint32_t version;
    uint32_t flags;
    uint32_t password_bytes;
    char password[PDF_PASSWORD_BYTES_MAX + 1];
};

/* How a job's child ended. */
enum pdf_end {
    PDF_END_EXITED = 1, /* it ended by itself, `code` is its exit status: 0 when all was answered */
    PDF_END_SIGNALLED =
        2, /* `code` is the signal: SIGXCPU the CPU limit, SIGSYS the system calls' filter */
    PDF_END_WALL = 3, /* killed at PDF_WALL_MS */
    PDF_END_NOT_FORKED = 4 /* the fork server could not start it */
};

/* The system does not tell how long a child has waited. */
#define PDF_WAITED_UNKNOWN UINT64_MAX

/* Exit statuses of a child. */
enum pdf_exit {
    PDF_EXIT_ANSWERED = 0,
    PDF_EXIT_FAILED = 1, /* the answer could not be written */
    PDF_EXIT_MEMORY = 2, /* an allocation failed */
    PDF_EXIT_CAGE = 3 /* the cage could not be closed: nothing was read */
};

struct pdf_control_end {
    uint32_t type;
    uint32_t version;
    uint32_t end; /* enum pdf_end */
    int32_t code;
    uint64_t cpu_us; /* user and system */
    /* PDF_END_WALL: how long it could have run until then, but was in line for a processor.
     * PDF_WAITED_UNKNOWN; 0 at other ends. */
    uint64_t waited_us;
    uint64_t memory_bytes; /* largest resident size; 0 if it was killed and is not dead yet */
};

#endif
