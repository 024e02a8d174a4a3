/*
 * blocking.c: the public functions of blocking calls, over client/blocking.h: translates requests
 * and answers.
 */
#include "client/blocking.h"

#include "client/library/answer.h"
#include "client/library/config.h"
#include "client/library/options.h"
#include "client/library/result.h"
#include "client/library/sigpipe.h"
#include "client/library/status.h"
#include "store/base/assert.h"

#include <stdlib.h>

/* Memory limit of an answer: one reply, and the headers and trailers of a call. The channel bounds
 * both. */
#define ANSWER_BYTES_MAX (SIZE_MAX / 2)

struct errata_blocking {
    struct client_blocking *lower; /* owned */
    bool has_token;
    bool busy; /* a call is running, so this is one of its callbacks */
};

struct errata_answer {
    struct arena arena; /* memory of the status and of the reply */
    struct library_status status;
    struct errata_bytes reply;
    void *kept; /* owned if free_kept is not NULL */
    void (*free_kept)(void *thing);
};

/* A call to make, of one of the three kinds. */
struct asked {
    struct client_request request;
    struct library_options options; /* borrowed by `request` */
    client_take_reply take; /* callback of a stream of replies; else NULL */
    client_next_message next; /* callback of a stream of requests; else NULL */
    void *user; /* argument of both callbacks */
};

/* --- answers --- */

static struct errata_answer *answer_new(void)
{
    struct errata_answer *answer = calloc(1, sizeof(*answer));

    if (answer != NULL) {
        arena_init(&answer->arena, ANSWER_BYTES_MAX);
    }
    return answer;
}

const struct errata_status *errata_answer_status(const struct errata_answer *answer)
{
    return &answer->status.status;
}

struct errata_bytes errata_answer_reply(const struct errata_answer *answer)
{
    return answer->reply;
}

void errata_answer_free(struct errata_answer *answer)
{
    if (answer == NULL) {
        return;
    }
    if (answer->free_kept != NULL) {
        answer->free_kept(answer->kept);
    }
    library_status_deinit(&answer->status);
    arena_deinit(&answer->arena);
    free(answer);
}

void answer_fail(struct errata_answer *answer, enum errata_code code, const char *message)
{
    answer->status.status.code = code;
    answer->status.status.message = message;
    answer->status.status.details = (struct errata_bytes){NULL, 0};
    answer->status.status.from_server = false;
    answer->reply = (struct errata_bytes){NULL, 0};
}

void answer_keep(struct errata_answer *answer, void *take_thing, void (*free_thing)(void *thing))
{
    ASSERT(answer->free_kept == NULL);
    answer->kept = take_thing;
    answer->free_kept = free_thing;
}

/* --- opening and closing --- */

enum errata_result errata_blocking_open(const struct errata_channel_config *config, char *problem,
                                        size_t problem_bytes, struct errata_blocking **ret_blocking)
{
    const struct problem to = problem_in(problem, problem_bytes);
    struct library_config checked;
    struct errata_blocking *blocking = NULL;
    enum err err = ERR_MEMORY;

    if (!library_config_read(config, &to, &checked)) {
        return ERRATA_INVALID;
    }
    blocking = calloc(1, sizeof(*blocking));
    if (blocking != NULL) {
        blocking->has_token = checked.token[0] != '\0';
        err = client_blocking_open(&checked.lower, &blocking->lower);
    }
    library_config_deinit(&checked);
    if (err != OK) {
        free(blocking);
        problem_say(&to, "%s", errata_result_text(library_result(err)));
        return library_result(err);
    }
    *ret_blocking = blocking;
    return ERRATA_OK;
}

void errata_blocking_close(struct errata_blocking *blocking)
{
    struct sigpipe before;

    if (blocking == NULL) {
        return;
    }
    ASSERT(!blocking->busy);
    sigpipe_hold(&before);
    client_blocking_close(blocking->lower);
    sigpipe_release(&before);
    free(blocking);
}

enum errata_result errata_blocking_set_token(struct errata_blocking *blocking, const char *token)
{
    struct slice text = slice_text(token);
    enum err err = OK;

    if (token != NULL && !token_valid(text)) {
        return ERRATA_INVALID;
    }
    err = client_blocking_set_token(blocking->lower, text);
    if (err == OK) {
        blocking->has_token = token != NULL;
    }
    return library_result(err);
}

/* --- calls --- */

static enum err call_of_kind(struct errata_blocking *blocking, const struct asked *asked,
                             struct arena *arena, struct client_result *ret_result)
{
    if (asked->take != NULL) {
        return client_stream_blocking(blocking->lower, &asked->request, asked->take, asked->user,
                                      arena, ret_result);
    }
    if (asked->next != NULL) {
        return client_upload_blocking(blocking->lower, &asked->request, asked->next, asked->user,
                                      arena, ret_result);
    }
    return client_call_blocking(blocking->lower, &asked->request, arena, ret_result);
}

/* Makes the call, whose method and options were checked, and builds its answer. */
static enum errata_result make_call(struct errata_blocking *blocking, const struct asked *asked,
                                    struct errata_answer **ret_answer)
{
    struct errata_answer *answer = answer_new();
    struct client_result result = {.reply = {NULL, 0}};
    struct sigpipe before;
    enum err err = OK;

    if (answer == NULL) {
        return ERRATA_MEMORY;
    }
    blocking->busy = true;
    sigpipe_hold(&before);
    err = call_of_kind(blocking, asked, &answer->arena, &result);
    sigpipe_release(&before);
    blocking->busy = false;
    if (err != OK) {
        errata_answer_free(answer);
        return library_result(err);
    }
    library_status_init(&answer->status, &result.status);
    if (answer->status.status.code == ERRATA_CODE_OK) {
        answer->reply = (struct errata_bytes){result.reply.data, result.reply.size};
    }
    *ret_answer = answer;
    return ERRATA_OK;
}

/* Checks the request as a call of the given kind, and makes the call. */
static enum errata_result check_and_call(struct errata_blocking *blocking, const char *method,
                                         enum method_stream kind,
                                         const struct errata_options *options, struct asked *asked,
                                         struct errata_answer **ret_answer)
{
    asked->request.method = library_method(method);
    asked->request.options = &asked->options.lower;
    if (asked->request.method == NULL || asked->request.method->stream != kind ||
        (asked->request.message.data == NULL && asked->request.message.size > 0) ||
        !library_options_read(options, blocking->has_token, &asked->options)) {
        return ERRATA_INVALID;
    }
    return blocking->busy ? ERRATA_BUSY : make_call(blocking, asked, ret_answer);
}

enum errata_result errata_blocking_call(struct errata_blocking *blocking, const char *method,
                                        struct errata_bytes request,
                                        const struct errata_options *options,
                                        struct errata_answer **ret_answer)
{
    struct asked asked = {.request = {.message = slice_of(request.data, request.size)}};

    return check_and_call(blocking, method, METHOD_UNARY, options, &asked, ret_answer);
}

static bool take_slice(void *user, struct slice message)
{
    const struct errata_taker *taker = user;

    return taker->take(taker->user, (struct errata_bytes){message.data, message.size});
}

enum errata_result errata_blocking_stream(struct errata_blocking *blocking, const char *method,
                                          struct errata_bytes request,
                                          const struct errata_options *options,
                                          const struct errata_taker *taker,
                                          struct errata_answer **ret_answer)
{
    struct errata_taker copy = {NULL, NULL};
    struct asked asked = {.request = {.message = slice_of(request.data, request.size)},
                          .take = take_slice,
                          .user = &copy};

    if (taker == NULL || taker->take == NULL) {
        return ERRATA_INVALID;
    }
    copy = *taker;
    return check_and_call(blocking, method, METHOD_SERVER_STREAM, options, &asked, ret_answer);
}

static enum client_upload_step next_slice(void *user, struct slice *ret_message)
{
    const struct errata_giver *giver = user;
    struct errata_bytes message = {NULL, 0};

    switch (giver->next(giver->user, &message)) {
    case ERRATA_UPLOAD_MESSAGE:
        *ret_message = slice_of(message.data, message.size);
        return CLIENT_UPLOAD_MESSAGE;
    case ERRATA_UPLOAD_END:
        return CLIENT_UPLOAD_END;
    case ERRATA_UPLOAD_STOP:
        break;
    }
    return CLIENT_UPLOAD_STOP;
}

enum errata_result errata_blocking_upload(struct errata_blocking *blocking, const char *method,
                                          const struct errata_options *options,
                                          const struct errata_giver *giver,
                                          struct errata_answer **ret_answer)
{
    struct errata_giver copy = {NULL, NULL};
    struct asked asked = {.next = next_slice, .user = &copy};

    if (giver == NULL || giver->next == NULL) {
        return ERRATA_INVALID;
    }
    copy = *giver;
    return check_and_call(blocking, method, METHOD_CLIENT_STREAM, options, &asked, ret_answer);
}
