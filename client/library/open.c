/*
 * open.c: a public channel over TCP, on the caller's loop.
 */
#include "client/library/channel.h"
#include "client/library/config.h"
#include "client/library/result.h"

static const struct library_lower_ops loop_ops = {.close = client_channel_loop_close,
                                                  .set_token = client_channel_loop_set_token,
                                                  .read_statistics =
                                                      client_channel_loop_read_statistics,
                                                  .unreachable = client_channel_loop_unreachable};

enum errata_result errata_channel_open(struct uv_loop_s *loop,
                                       const struct errata_channel_config *config, char *problem,
                                       size_t problem_bytes, struct errata_channel **ret_channel)
{
    const struct problem to = problem_in(problem, problem_bytes);
    struct library_config checked;
    struct client_channel *lower = NULL;
    enum err err = OK;

    if (!library_config_read(config, &to, &checked)) {
        return ERRATA_INVALID;
    }
    err = client_channel_loop_open(loop, &checked.lower, &lower);
    if (err == OK) {
        err = library_channel_new(lower, &loop_ops, checked.token[0] != '\0', ret_channel);
        if (err != OK) {
            client_channel_loop_close(lower, NULL, NULL);
        }
    }
    library_config_deinit(&checked);
    if (err != OK) {
        problem_say(&to, "%s", errata_result_text(library_result(err)));
    }
    return library_result(err);
}
