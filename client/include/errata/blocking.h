/*
 * errata/blocking.h: blocking calls, for programs without an event loop. Each function returns when its
 * call has ended.
 *
 * An errata_blocking has one connection for all its calls. It connects when the first call needs it, and
 * again when the connection was lost. Deadlines, repeats and limits are those of channels (client.h). It
 * makes one call at a time, in one thread at a time; threads that call at the same time open one each.
 * Nothing happens between calls: a connection that was lost in the meantime is noticed by the next call.
 * Signal handlers are not changed; writing to a closed connection raises no SIGPIPE.
 */
#ifndef ERRATA_BLOCKING_H
#define ERRATA_BLOCKING_H

#include <errata/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct errata_blocking;
/* The end of a call, with its reply. The caller frees it by errata_answer_free. */
struct errata_answer;

/* Opens a client, like errata_channel_open, with the same errors. Does not connect. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_open(const struct errata_channel_config *config, char *problem,
                     size_t problem_bytes, struct errata_blocking **ret_blocking);
/* Closes the connection and frees everything but answers, which stay valid. Must not be called from a
 * callback. NULL does nothing. */
ERRATA_API void errata_blocking_close(struct errata_blocking *blocking);
/* Sets the token, like errata_channel_set_token, with the same errors. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_set_token(struct errata_blocking *blocking, const char *token);

/* Makes a unary call with the bytes of its request. The stubs errata_X_wait do the same with typed
 * messages. Returns ERRATA_OK if the call was made, whether it succeeded or not: the answer holds its
 * status. Other results are those of errata_call_start; ERRATA_BUSY if called from a callback of another
 * call; ERRATA_MEMORY also if the call was made and its answer could not be stored. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_call(struct errata_blocking *blocking, const char *method,
                     struct errata_bytes request, const struct errata_options *options,
                     struct errata_answer **ret_answer);

/* Receives the replies of a stream. */
struct errata_taker {
    void *user;
    /* Receives one reply, which is valid until the callback returns. Flow control pauses the server
     * during the callback. Return false to end the call with CANCELLED. */
    bool (*take)(void *user, struct errata_bytes message);
};
/* Makes a call with a stream of replies. Results are those of errata_blocking_call. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_stream(struct errata_blocking *blocking, const char *method,
                       struct errata_bytes request, const struct errata_options *options,
                       const struct errata_taker *taker, struct errata_answer **ret_answer);

/* The result of asking for the next message of a stream of requests. */
enum errata_upload_step {
    ERRATA_UPLOAD_MESSAGE, /* a message is returned */
    ERRATA_UPLOAD_END, /* all messages have been sent */
    ERRATA_UPLOAD_STOP /* end the call with CANCELLED before all messages are sent */
};
/* Provides the messages of a stream of requests. */
struct errata_giver {
    void *user;
    /* Gives the next message, which must stay valid until the next call of this function or the end of
     * the upload. */
    enum errata_upload_step (*next)(void *user, struct errata_bytes *ret_message);
};
/* Makes a call with a stream of requests. The server may answer before it has received all messages, for
 * example if it refuses one. Results are those of errata_blocking_call; if a message cannot be sent
 * (ERRATA_TOO_LARGE, ERRATA_MEMORY), the call is ended and there is no answer. */
ERRATA_MUST_CHECK ERRATA_API enum errata_result
errata_blocking_upload(struct errata_blocking *blocking, const char *method,
                       const struct errata_options *options, const struct errata_giver *giver,
                       struct errata_answer **ret_answer);

/* Returns how the call ended. Valid until errata_answer_free. */
ERRATA_API const struct errata_status *errata_answer_status(const struct errata_answer *answer);
/* Returns the bytes of the reply; empty if the call failed, or has a stream of replies. Valid until
 * errata_answer_free. */
ERRATA_API struct errata_bytes errata_answer_reply(const struct errata_answer *answer);
/* Frees an answer, with its status and reply. NULL does nothing. */
ERRATA_API void errata_answer_free(struct errata_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
