/*
 * refusals.c: logs refusals that are relevant for an operator and may be frequent: each is counted,
 * and one line at level info per kind and interval has their number. Lines never contain secrets.
 */
#include "server/pipeline/rpc.h"

#include "store/base/logger.h"

#include <stdio.h>

/* Minimum interval between two lines of a kind, so that many refusals do not fill the disk. The
 * first one is logged at once. */
#define REFUSALS_LINE_US 10000000
/* Eight hex digits and NUL. */
#define KEY_ID_TEXT_BYTES 9

static const char *const refusal_lines[REFUSAL_KIND_COUNT] = {
    [REFUSAL_TOKEN] = "token refused",
    [REFUSAL_DISK_FULL] = "write refused: the disk or the store's map is full",
    [REFUSAL_BUSY] = "call refused: too much to do",
    [REFUSAL_QUOTA] = "call refused: a quota is used up",
};

static bool kind_of(enum err result, enum refusal_kind *ret_kind)
{
    if (result == ERR_UNAUTHENTICATED || result == ERR_ORGANIZATION_SUSPENDED) {
        *ret_kind = REFUSAL_TOKEN;
    } else if (result == ERR_DISK_FULL) {
        *ret_kind = REFUSAL_DISK_FULL;
    } else if (result == ERR_BUSY) {
        *ret_kind = REFUSAL_BUSY;
    } else if (result == ERR_QUOTA) {
        *ret_kind = REFUSAL_QUOTA;
    } else {
        return false;
    }
    return true;
}

static void write_line(const struct pipeline *pipeline, const struct refused *refused,
                       enum refusal_kind kind, enum err result)
{
    struct slice reason = slice_text(err_name(result));
    bool has_key_id = refused->principal != NULL;
    uint32_t key_id = has_key_id ? refused->principal->key_id : 0;
    char key_text[KEY_ID_TEXT_BYTES];

    if (kind == REFUSAL_TOKEN) {
        struct auth_refusal refusal = auth_last_refusal(pipeline->config.auth);

        reason = slice_text(refusal.reason);
        has_key_id = refusal.has_key_id;
        key_id = refusal.key_id;
    }
    (void)snprintf(key_text, sizeof(key_text), "%08x", key_id);

    const struct logger_field fields[] = {
        LOGGER_TEXT_FIELD("reason", reason),
        LOGGER_TEXT_FIELD("key_id", slice_of(key_text, has_key_id ? KEY_ID_TEXT_BYTES - 1 : 0)),
        LOGGER_TEXT_FIELD("peer", refused->peer),
        LOGGER_TEXT_FIELD("method", refused->method),
        LOGGER_NUMBER_FIELD("refusals", pipeline->refusals[kind].count),
    };

    logger_write(LOGGER_INFO, refusal_lines[kind], fields, sizeof(fields) / sizeof(fields[0]));
}

void pipeline_note_refusal(struct pipeline *pipeline, const struct refused *refused,
                           enum err result)
{
    enum refusal_kind kind = REFUSAL_TOKEN;
    struct refusal_log *log = NULL;
    int64_t now_us = 0;

    if (!kind_of(result, &kind)) {
        return;
    }
    pipeline->config.env->refusal_counts[kind]++;
    log = &pipeline->refusals[kind];
    log->count++;
    now_us = clock_monotonic_coarse_us(pipeline->config.clock);
    if (log->has_line && now_us < log->next_us) {
        return;
    }
    write_line(pipeline, refused, kind, result);
    *log = (struct refusal_log){.has_line = true, .next_us = now_us + REFUSALS_LINE_US};
}

void rpc_note_refusal(const struct rpc *rpc, enum err result)
{
    const struct refused refused = {
        .peer = rpc->call->peer,
        .method = rpc->method->path,
        .principal = rpc->service.principal,
    };

    pipeline_note_refusal(rpc->pipeline, &refused, result);
}
