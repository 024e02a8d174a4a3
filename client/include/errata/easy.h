/*
 * errata/easy.h: the two calls of a pipeline, for programs that need nothing else: the examples
 * that go into a prompt, and the correction of a result. Every function blocks until its call has
 * ended, and returns plain text.
 *
 *   struct errata_easy *errata = errata_easy_open(NULL);
 *   printf("%s\n", errata_easy_examples(errata, "supplier-7", NULL));
 *   errata_easy_close(errata);
 *
 * A failed call does not stop the program: it returns "", and errata_easy_error describes the failure.
 * Each function accepts a NULL `easy` (out of memory), which fails like any other call.
 *
 * Use an errata_easy in one thread at a time; threads that call at the same time open one each. A text
 * that a function returns is valid until the next call with the same errata_easy, or its close. All
 * other methods are called by their stubs (<errata/v1/NAME.client.h>), over errata_easy_blocking.
 */
#ifndef ERRATA_EASY_H
#define ERRATA_EASY_H

#include <errata/blocking.h>

#ifdef __cplusplus
extern "C" {
#endif

struct errata_easy;

/* Opens a client. `server` is HOST:PORT; NULL: the environment variable ERRATA_SERVER, and without it
 * 127.0.0.1:7443. The token is read from the file that ERRATA_TOKEN_FILE names, if it is set, and again
 * when the server refuses it. The environment is read here only. A call has a deadline of 30 seconds and
 * 4 attempts: it fails after half a second if nothing listens at the address. For other settings use
 * errata_easy_open_config.
 *
 * Does not connect: the first call does. An invalid setting is reported by errata_easy_error and by each
 * call. Returns NULL if memory is exhausted. */
ERRATA_API struct errata_easy *errata_easy_open(const char *server);
/* Opens a client with any settings. `config` is copied; it does not read the environment. */
ERRATA_API struct errata_easy *errata_easy_open_config(const struct errata_channel_config *config);
/* Closes the connection and frees everything, including the last texts. NULL does nothing. */
ERRATA_API void errata_easy_close(struct errata_easy *take_easy);

/* Returns the examples for a prompt as JSON text: [{"input_snippet": ..., "output": {...}}]. Returns ""
 * if the layout has no examples, or the call failed. `layout` is the fingerprint or name of the
 * document's layout; `document_id` is the program's own id of the document that is to be extracted, NULL
 * for none. With a document, the server records which examples were served for it. */
ERRATA_API const char *errata_easy_examples(struct errata_easy *easy, const char *layout,
                                            const char *document_id);

/* A correction of one extracted line. Initialize it with errata_correction_init, then set members. */
struct errata_correction {
    const char *layout; /* the layout, as for errata_easy_examples */
    const char *document_id; /* optional */
    const char
        *input_snippet; /* the text of the document that the line was extracted from; optional */
    const char *before_json; /* the line as extracted, a JSON object; optional */
    const char *after_json; /* the line as corrected, a JSON object; required */
    const char *actor_user_id; /* user who corrected, as an id of the program; optional */
    const char *reserved[6]; /* NULL: room for members of later versions */
};

/* Sets all members to NULL. */
static inline void errata_correction_init(struct errata_correction *correction)
{
    memset(correction, 0, sizeof(*correction));
}

/* Stores a correction. When it returns the event's id, the correction is durable. Returns "" on failure.
 * Repeats inside the library do not store it twice. */
ERRATA_API const char *errata_easy_correct(struct errata_easy *easy,
                                           const struct errata_correction *correction);

/* Returns how the last call, or the opening, failed: "" if it succeeded; else the status code, the message
 * and the invalid fields, such as "UNAVAILABLE: cannot connect to 127.0.0.1:7443: connection refused". */
ERRATA_API const char *errata_easy_error(const struct errata_easy *easy);
/* Returns the status code of the last call, or of the opening; ERRATA_CODE_OK if it succeeded. */
ERRATA_API enum errata_code errata_easy_code(const struct errata_easy *easy);
/* Returns the client below, for the stubs named errata_X_wait; NULL if `easy` is NULL or its opening
 * failed. It is closed by errata_easy_close. */
ERRATA_API struct errata_blocking *errata_easy_blocking(struct errata_easy *easy);

#ifdef __cplusplus
}
#endif

#endif
