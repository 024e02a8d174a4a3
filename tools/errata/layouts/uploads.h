/*
 * uploads.h: uploads PDFs to a server: several at a time over one connection, each in pieces as fast
 * as the server reads. If the server is busy or unreachable for a moment, uploads wait and repeat:
 * the same bytes may be sent again under the same id. The caller supplies the files and handles
 * their ends.
 */
#ifndef ERRATA_TOOLS_ERRATA_LAYOUTS_UPLOADS_H
#define ERRATA_TOOLS_ERRATA_LAYOUTS_UPLOADS_H

#include "server/jobs/pdf/answer/pdf_answer.h"
#include "tools/errata/cli.h"

_Static_assert(PDF_DOCUMENT_BYTES_MAX == 64 * 1024 * 1024, "see the text below");
/* Error for a file larger than PDF_DOCUMENT_BYTES_MAX. */
#define UPLOAD_TOO_LARGE "it is larger than 64 MiB, the limit of the server"
/* Bytes per message. */
#define UPLOAD_PIECE_BYTES ((size_t)256 * 1024)
/* Maximum concurrent files: more than a server measures at once would only wait there. */
#define UPLOADS_MAX 16
/* Interval of ticks, so that progress is visible during a long measurement. */
#define UPLOADS_TICK_MS 200
/* Default time limit of one upload, as declared by the method. */
#define UPLOAD_TIMEOUT_MS 300000
/* Pauses of one file if the server is busy: the first, the last (each is twice the previous one, or
 * longer if the server requests it), and the maximum in total. */
#define UPLOAD_PAUSE_FIRST_MS 100
#define UPLOAD_PAUSE_LAST_MS 8000
#define UPLOAD_BUSY_MS_MAX 600000
/* Maximum total pauses of one file while no connection can be made. */
#define UPLOAD_LOST_MS_MAX 30000

struct upload_file {
    size_t index; /* index chosen by the caller */
    const char *path; /* borrowed until the function that accepts it returns */
    const char *document_id;
    uint64_t size_bytes; /* size found before sending, for progress */
};

enum upload_end_kind {
    UPLOAD_STORED, /* `reply` is set */
    UPLOAD_REFUSED, /* `status` is set */
    UPLOAD_UNREADABLE, /* `problem` is the reason */
    UPLOAD_UNSENT /* all uploads were stopped before it ended */
};

/* Borrowed for the length of the callback. */
struct upload_end {
    enum upload_end_kind kind;
    struct slice reply;
    const struct client_status *status;
    const char *problem;
    uint64_t moved_bytes; /* bytes reported by `moved`, less those taken back */
};

struct uploads_handlers {
    void *user;
    /* Gets the next file; returns false if there are no more. */
    bool (*next)(void *user, struct upload_file *ret_file);
    /* Reports further sent bytes of a file. A negative number means that they will be sent again
     * after a pause. */
    void (*moved)(void *user, const struct upload_file *file, int64_t bytes);
    /* Called every UPLOADS_TICK_MS. */
    void (*ticked)(void *user);
    /* Reports the end of a file, once for each that `next` returned. */
    void (*done)(void *user, const struct upload_file *file, const struct upload_end *end);
};

/* The reason why all uploads were stopped before the last file. */
enum uploads_stop {
    UPLOADS_RAN, /* completed */
    UPLOADS_INTERRUPTED, /* interrupted by SIGINT */
    UPLOADS_FAILED, /* stopped by a status that every other file would get too */
    UPLOADS_LOCAL /* stopped by a local error, which has been reported */
};

struct uploads_result {
    enum uploads_stop stop;
    enum cli_exit exit; /* exit code of UPLOADS_LOCAL */
    struct client_status status; /* status of UPLOADS_FAILED, allocated in the caller's arena */
};

struct uploads_config {
    struct cli *cli;
    unsigned at_once; /* number of concurrent files, 1 to UPLOADS_MAX */
    struct slice password; /* or empty */
    bool include_text; /* replies contain the documents' text */
    struct uploads_handlers handlers;
};

/* Runs until all files have ended. Owns its loop and connection. */
void uploads_run(const struct uploads_config *config, struct arena *arena,
                 struct uploads_result *ret_result);

#endif
