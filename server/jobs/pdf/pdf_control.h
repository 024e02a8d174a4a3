/*
 * pdf_control.h: the protocol between the server and the worker program's fork server, over a pair
 * of SOCK_SEQPACKET sockets: one datagram per message, in the machine's byte order, since both are
 * built together. No document is read here.
 * The fork server sends READY once it is warm. Each JOB brings three descriptors: the document (a
 * sealed memfd), the write end of the answer's pipe, and one end of a job socket. The fork server
 * forks a child for it; when the child has ended, it sends END on the job socket and closes it. (It
 * also does that one second after killing a child that gets no processor to die on; the pipe may
 * stay open then.) The server closes its end to have the child killed. If the control socket is
 * closed, the fork server kills its children and exits.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_PDF_CONTROL_H
#define ERRATA_SERVER_JOBS_PDF_PDF_CONTROL_H

#include <stdint.h>

/* Increased with any change here: an old worker program with a new server is refused. */
#define PDF_CONTROL_VERSION 3
/* The control socket's descriptor in the fork server. */
#define PDF_CONTROL_FD 3
/* Length of a password; PDF allows no longer ones (ISO 32000-2, 7.6.4.3.3). */
#define PDF_PASSWORD_BYTES_MAX 127
/* Descriptors of a JOB, in this order. */
enum pdf_job_fd {
    PDF_JOB_DOCUMENT,
    PDF_JOB_ANSWER,
    PDF_JOB_SOCKET,
    PDF_JOB_FDS
};

/* A job's limits. */
#define PDF_CPU_SECONDS 5 /* soft limit; the hard limit is one second later */
#define PDF_WALL_MS 8000
#define PDF_MEMORY_BYTES ((uint64_t)512 << 20) /* limit of the address space */
/* Children at once; a server uses fewer. */
#define PDF_CHILDREN_MAX 32

enum pdf_control_type {
    PDF_CONTROL_READY = 1,
    PDF_CONTROL_JOB = 2,
    PDF_CONTROL_END = 3
};

/* Mechanism that restricts a child's access to files. */
enum pdf_sandbox {
    PDF_SANDBOX_NONE = 0, /* built with a sanitizer: no sandbox */
    PDF_SANDBOX_LANDLOCK = 1, /* only fonts and CMaps can be read */
    PDF_SANDBOX_CLOSED =
        2 /* the kernel has no Landlock: no file can be opened, and CMaps are unavailable */
};

struct pdf_control_ready {
    uint32_t type;
    uint32_t version;
    uint32_t sandbox; /* an enum pdf_sandbox */
    char poppler_version[32]; /* terminated by NUL */
};

/* Flags of a job. */
#define PDF_JOB_EXPLAIN 1u
#define PDF_JOB_PICTURE 2u
#define PDF_JOB_TEXT 4u /* the text of all pages, up to PDF_PAGES_TEXT_BYTES_MAX */
#define PDF_JOB_FLAGS (PDF_JOB_EXPLAIN | PDF_JOB_PICTURE | PDF_JOB_TEXT)

struct pdf_control_job {
    uint32_t type;
    uint32_t version;
    uint32_t flags;
    uint32_t password_bytes;
    char password[PDF_PASSWORD_BYTES_MAX + 1];
};

/* The end of a job's child. */
enum pdf_end {
    PDF_END_EXITED = 1, /* exited with the status `code`: 0 after a complete answer */
    PDF_END_SIGNALLED =
        2, /* a signal, `code`: SIGXCPU for the CPU limit, SIGSYS for the filter of system calls */
    PDF_END_WALL = 3, /* killed at PDF_WALL_MS */
    PDF_END_NOT_FORKED = 4 /* the fork server could not start it */
};

/* The system does not report how long a child has waited. */
#define PDF_WAITED_UNKNOWN UINT64_MAX

/* Exit statuses of a child. */
enum pdf_exit {
    PDF_EXIT_ANSWERED = 0,
    PDF_EXIT_FAILED = 1, /* the answer could not be written */
    PDF_EXIT_MEMORY = 2, /* an allocation failed */
    PDF_EXIT_SANDBOX = 3 /* the sandbox could not be entered: nothing was read */
};

struct pdf_control_end {
    uint32_t type;
    uint32_t version;
    uint32_t end; /* an enum pdf_end */
    int32_t code;
    uint64_t cpu_us; /* user and system time */
    /* For PDF_END_WALL: the time during which the child was runnable but not running;
     * PDF_WAITED_UNKNOWN if unknown. 0 for other ends. */
    uint64_t waited_us;
    uint64_t
        memory_bytes; /* maximum resident size; 0 if the child was killed and has not died yet */
};

#endif
