/*
 * guard.c: see guard.h. Requests the first events of each organisation, one after the other, before
 * any measurement.
 */
#include "tools/bench/guard.h"

#include "client/blocking.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "tools/bench/preload/preload.h"

#include <errata/v1/event.fields.h>
#include <errata/v1/event_service.fields.h>

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data
#define GET_EVENT "/errata.v1.EventService/GetEvent"
/* Limits the reply of one event with all its texts, and the call's status. */
#define REPLY_ARENA_BYTES_MAX ((size_t)32 << 20)
#define CALL_TIMEOUT_MS 10000

/* Conclusion about the owner of the organisation's data, drawn from one event. */
enum evidence {
    EVIDENCE_NONE, /* the organisation, a token or the settings were changed */
    EVIDENCE_OWN,
    EVIDENCE_OTHERS
};

/* Returns the call of the mix that writes to Errata; NULL if none does. */
static const char *find_write(const struct arguments *arguments, const struct plan *plan)
{
    for (size_t i = 0; i < plan->kind_count && !arguments->plain; i++) {
        const struct method_info *method = contract_find_method(plan->kinds[i].path);

        if (method != NULL && method->transaction == METHOD_WRITE) {
            return plan->kinds[i].name;
        }
    }
    return NULL;
}

/* Returns whether an event of the kind shows that an organisation is used. */
static bool is_evidence(enum event_kind kind)
{
    switch (kind) {
    case EVENT_KIND_ORGANIZATION_CREATED:
    case EVENT_KIND_TOKEN_CREATED:
    case EVENT_KIND_TOKEN_REVOKED:
    case EVENT_KIND_SETTINGS_UPDATED:
    case EVENT_KIND_TRIGGER_THRESHOLDS_SET:
    case EVENT_KIND_FRAGMENT_SET_PUT:
    case EVENT_KIND_FRAGMENT_SET_APPROVED:
    case EVENT_KIND_DECISION_RECORDED:
    case EVENT_KIND_EVALUATION_SUBMITTED:
    case EVENT_KIND_EVALUATION_OVERRIDDEN:
    case EVENT_KIND_PROPOSAL_CREATED:
    case EVENT_KIND_PROPOSAL_VOTED:
    case EVENT_KIND_GUIDELINE_RETIRED:
    case EVENT_KIND_GUIDELINE_SUNSET_PROPOSED:
    case EVENT_KIND_DEAD_LETTER_STORED:
    case EVENT_KIND_DEAD_LETTER_RETRIED:
    case EVENT_KIND_QUOTA_SET:
    case EVENT_KIND_TOKEN_ROTATED:
    case EVENT_KIND_CONTENT_SWEPT:
    case EVENT_KIND_CONTENT_ERASED:
    case EVENT_KIND_ORGANIZATION_STATE_SET:
    case EVENT_KIND_ORGANIZATION_DELETED:
    case EVENT_KIND_ORGANIZATION_EXPORTED:
    case EVENT_KIND_ORGANIZATION_IMPORTED:
    case EVENT_KIND_FAMILIES_MERGED:
    case EVENT_KIND_FAMILY_SPLIT:
        return false;
    case EVENT_KIND_UNSPECIFIED:
    case EVENT_KIND_FEEDBACK:
    case EVENT_KIND_DOCUMENT_INGESTED:
    case EVENT_KIND_MAPPING_SUGGESTED:
    case EVENT_KIND_MAPPING_APPLIED:
    case EVENT_KIND_EXPOSURE_RECORDED:
    case EVENT_KIND_EXTRACTION_RECORDED:
    case EVENT_KIND_PROMPT_TEMPLATE_PUT:
    case EVENT_KIND_RETRACTED:
    case EVENT_KIND_LEARNED_RULE_CREATED:
    case EVENT_KIND_VERDICT_SUBMITTED:
    case EVENT_KIND_LEARNED_RULE_ENABLED_SET:
    case EVENT_KIND_ARTIFACT_STATE_SET:
    case EVENT_KIND_LEARNED_RULE_IMPORTED:
    case EVENT_KIND_LEARNED_RULE_WEIGHT_SET:
    case EVENT_KIND_REVIEW_SUBMITTED:
    case EVENT_KIND_RUN_ITEM_PUT:
    case EVENT_KIND_TURN_RECORDED:
    case EVENT_KIND_FEEDBACK_DETECTED:
    case EVENT_KIND_TURN_FEEDBACK_SET:
        break;
    }
    return true;
}

static enum err read_event(struct slice event, enum evidence *ret_evidence)
{
    struct wire_reader reader = wire_reader_of(event);
    struct wire_field field;
    enum event_kind kind = EVENT_KIND_UNSPECIFIED;
    bool is_own = false;
    enum err err = wire_next(&reader, &field);

    for (; err == OK; err = wire_next(&reader, &field)) {
        if (field.number == EVENT_KIND_FIELD && field.type == WIRE_VARINT &&
            !event_kind_from_wire((int32_t)field.value, &kind)) {
            kind = EVENT_KIND_UNSPECIFIED; /* a kind of a newer server */
        }
        if (field.number == EVENT_ACTOR_USER_ID_FIELD && field.type == WIRE_BYTES) {
            is_own = slice_equal(field.bytes, SLICE(PRELOAD_ACTOR));
        }
    }
    if (err != ERR_NOT_FOUND) {
        return err;
    }
    if (!is_evidence(kind)) {
        *ret_evidence = EVIDENCE_NONE;
    } else {
        *ret_evidence = is_own ? EVIDENCE_OWN : EVIDENCE_OTHERS;
    }
    return OK;
}

/* Returns the event of a GetEventResponse. */
static enum err read_reply(struct slice reply, enum evidence *ret_evidence)
{
    struct wire_reader reader = wire_reader_of(reply);
    struct wire_field field;

    if (wire_next(&reader, &field) != OK || field.number != GET_EVENT_RESPONSE_EVENT_FIELD ||
        field.type != WIRE_BYTES) {
        return ERR_MALFORMED;
    }
    return read_event(field.bytes, ret_evidence);
}

static enum err refuse(struct ctx *ctx, const struct arguments *arguments,
                       const struct client_status *status, const char *write)
{
    if (status->code == STATUS_UNAVAILABLE && !status->from_server) {
        return fault_say(ctx->fault, ERR_UNAVAILABLE, "cannot reach %s: %.*s", arguments->server,
                         SHOWN(status->message));
    }
    return fault_say(ctx->fault, ERR_INVALID,
                     "%s: cannot determine whether the organisation has data (%.*s); expected a "
                     "token with the right to read it, or --allow-writes",
                     write, SHOWN(status->message));
}

/* Examines the organisation of the client's token. */
static enum err check_organisation(struct ctx *ctx, const struct arguments *arguments,
                                   struct client_blocking *client, struct arena *arena,
                                   const char *write)
{
    const struct method_info *method = contract_find_method(SLICE(GET_EVENT));
    enum evidence evidence = EVIDENCE_NONE;

    ASSERT(method != NULL);
    for (uint64_t seq = 1; seq <= GUARD_EVENTS_MAX && evidence == EVIDENCE_NONE; seq++) {
        struct client_result result = {.reply = {NULL, 0}};
        struct buffer message;
        struct client_request request = {.method = method};
        enum err err = OK;

        arena_reset(arena);
        buffer_init(&message, arena, 16);
        wire_put_varint(&message, GET_EVENT_REQUEST_SEQ_FIELD, seq);
        request.message = buffer_slice(&message);
        err = buffer_ok(&message) ? client_call_blocking(client, &request, arena, &result)
                                  : ERR_MEMORY;
        if (err == OK && result.status.code == STATUS_NOT_FOUND) {
            return OK; /* the log ends here, without data */
        }
        if (err == OK && result.status.code != 0) {
            return refuse(ctx, arguments, &result.status, write);
        }
        err = err == OK ? read_reply(result.reply, &evidence) : err;
        if (err != OK) {
            return err;
        }
    }
    if (evidence == EVIDENCE_OWN) {
        return OK;
    }
    return fault_say(ctx->fault, ERR_INVALID,
                     "%s: the organisation contains data of other programs; expected an empty "
                     "organisation, or --allow-writes",
                     write);
}

/* Returns a token in the form that the client expects. */
static struct slice bare_token(const struct plan *plan, size_t index)
{
    return index < plan->token_count ? slice_after(plan->tokens[index], strlen("Bearer "))
                                     : slice_of(NULL, 0);
}

static enum err check_all(struct ctx *ctx, const struct arguments *arguments,
                          const struct plan *plan, struct client_blocking *client,
                          const char *write)
{
    size_t connections = (size_t)arguments->connection_count;
    size_t count = plan->token_count < connections ? plan->token_count : connections;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, REPLY_ARENA_BYTES_MAX);
    for (size_t i = 0; i < (count > 0 ? count : 1) && err == OK; i++) {
        err = client_blocking_set_token(client, bare_token(plan, i));
        if (err == OK) {
            err = check_organisation(ctx, arguments, client, &arena, write);
        }
    }
    arena_deinit(&arena);
    return err;
}

enum err guard_check(struct ctx *ctx, const struct arguments *arguments, const struct plan *plan)
{
    const char *write = arguments->allow_writes ? NULL : find_write(arguments, plan);
    struct client_channel_loop_config config = {
        .connection = {.user_agent = "errata-bench/" ERRATA_VERSION},
        .retry = {.attempts_max = 1},
        .call_timeout_ms = CALL_TIMEOUT_MS};
    struct client_blocking *client = NULL;
    char host[TARGET_HOST_BYTES_MAX];
    enum err err = OK;

    if (write == NULL) {
        return OK;
    }
    err = target_split(arguments->server, ctx->fault, host, &config.connection.port);
    if (err != OK) {
        return err;
    }
    config.connection.host = host;
    config.connection.tls = plan->engine.tls;
    err = client_blocking_open(&config, &client);
    if (err == OK) {
        err = check_all(ctx, arguments, plan, client, write);
    }
    client_blocking_close(client);
    return err;
}
