/*
 * errata/blocking.h: calls for programs without a loop of their own: each function returns when its
 * call has ended. What client.h says of channels holds: one connection for all calls, made when it is
 * first needed and again when it is lost; deadlines; repeats. One call at a time, and one thread at a
 * time; threads that call at once have one of these each. Nothing is done between calls: a connection
 * that is lost meanwhile is found so by the next one. Signals are left as they are; SIGPIPE is dealt
 * with here.
 */
#ifndef ERRATA_BLOCKING_H
#define ERRATA_BLOCKING_H

#include <errata/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct errata_blocking;
struct errata_answer; /* how a call ended, and its reply; the caller's, until errata_answer_free */

/* As errata_channel_open: does not connect yet. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_open(const struct errata_channel_config *config, char *problem,
                     size_t problem_bytes, struct errata_blocking **ret_blocking);
/* Closes the connection and frees everything; not from a callback. Answers stay valid. NULL does
 * nothing. */
ERRATA_API void errata_blocking_close(struct errata_blocking *blocking);
/* As errata_channel_set_token. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_set_token(struct errata_blocking *blocking, const char *token);

/* A unary call in bytes; errors as errata_call_start, ERRATA_BUSY within a callback of another call.
 * ERRATA_OK where the call was made, however it ended: look at the answer's status, and free the
 * answer. ERRATA_MEMORY also where a call was made whose answer found no room. Typed forms are the
 * stubs whose names end in `_wait`. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_call(struct errata_blocking *blocking, const char *method,
                     struct errata_bytes request, const struct errata_options *options,
                     struct errata_answer **ret_answer);

/* Takes the replies of a stream. */
struct errata_taker {
    void *user;
    /* One reply, valid for the length of the callback; false ends the call, with CANCELLED. Meanwhile
     * the server is held back. */
    bool (*take)(void *user, struct errata_bytes message);
};
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_stream(struct errata_blocking *blocking, const char *method,
                       struct errata_bytes request, const struct errata_options *options,
                       const struct errata_taker *taker, struct errata_answer **ret_answer);

/* What gives the messages of a stream of requests says with each. */
enum errata_upload_step {
    ERRATA_UPLOAD_MESSAGE, /* here is one */
    ERRATA_UPLOAD_END, /* there are no more */
    ERRATA_UPLOAD_STOP /* there would be more, but the call is to end, with CANCELLED */
};
/* Gives the messages of a stream of requests. */
struct errata_giver {
    void *user;
    /* The next message, which stays valid until the next call of this or the upload's end. */
    enum errata_upload_step (*next)(void *user, struct errata_bytes *ret_message);
};
/* The server may answer before it has taken them all, with a refusal for one. Where a message can't be
 * sent (ERRATA_TOO_LARGE, ERRATA_MEMORY) the call is ended, and there is no answer. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_upload(struct errata_blocking *blocking, const char *method,
                       const struct errata_options *options, const struct errata_giver *giver,
                       struct errata_answer **ret_answer);

/* All of these are the answer's, and die with it. */
ERRATA_API const struct errata_status *errata_answer_status(const struct errata_answer *answer);
/* The reply's bytes, of a call that has just one and ended with OK; else empty. */
ERRATA_API struct errata_bytes errata_answer_reply(const struct errata_answer *answer);
/* NULL does nothing. */
ERRATA_API void errata_answer_free(struct errata_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
