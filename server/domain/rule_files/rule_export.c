/*
 * rule_export.c: see rule_export.h.
 */
#include "server/domain/rule_files/rule_export.h"

#include "server/domain/rule_files/file_time.h"
#include "server/domain/rule_files/rule_file.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/rules.h"
#include "store/base/bytes.h"
#include "store/base/json.h"
#include "store/scan.h"

#include <inttypes.h>

/* Maximum rows that one piece examines; a piece of rules with short patterns reaches its size first. */
#define PIECE_ROWS_MAX 1000

static void put_word(struct buffer *piece, const char *name, struct slice word)
{
    buffer_printf(piece, ",\"%s\":", name);
    json_write_string(piece, word, false);
}

static void put_share(struct buffer *piece, const char *name, double share)
{
    buffer_printf(piece, ",\"%s\":", name);
    json_write_double(piece, share);
}

static void put_time(struct buffer *piece, const char *name, int64_t time_us)
{
    buffer_printf(piece, ",\"%s\":", name);
    file_time_put(time_us, piece);
}

static void put_flag(struct buffer *piece, const char *name, bool flag)
{
    buffer_printf(piece, ",\"%s\":%s", name, flag ? "true" : "false");
}

/* Appends the line of a rule, without its line feed. */
static enum err put_rule(const struct learned_rule_record *record, struct buffer *piece)
{
    struct slice type = rule_file_type_word(record->rule_type);
    struct slice action = rule_file_action_word(record->action);
    struct slice state = rule_file_state_word(record->life.state);
    char id[UUID_TEXT_BYTES];

    if (type.size == 0 || action.size == 0 || state.size == 0) {
        return ERR_CORRUPT;
    }
    uuid_format(record->id, id);
    buffer_printf(piece, "{\"rule_id\":\"%.*s\"", (int)sizeof(id), id);
    put_word(piece, "rule_type", type);
    put_word(piece, "pattern", record->pattern);
    put_word(piece, "action", action);
    put_share(piece, "confidence_adjustment", (double)record->adjustment / (double)VERDICT_UNIT);
    buffer_printf(piece, ",\"learned_from_feedback_count\":%" PRIu64, record->count);
    put_share(piece, "accuracy_on_validation",
              (double)learned_rule_accuracy(record) / (double)VERDICT_UNIT);
    put_flag(piece, "enabled", !record->life.held_back);
    put_flag(piece, "auto_learned", record->auto_learned);
    put_word(piece, "state", state);
    if (bytes_are_zero(record->source_id.bytes, UUID_BYTES)) {
        buffer_append(piece, SLICE(",\"source_rule_id\":null"));
    } else {
        uuid_format(record->source_id, id);
        put_word(piece, "source_rule_id", slice_of(id, sizeof(id)));
    }
    put_time(piece, "created_at", record->created_at_us);
    put_time(piece, "last_updated", record->updated_at_us);
    buffer_append_byte(piece, '}');
    return OK;
}

static enum err begin(struct store_txn *txn, struct org_id org, struct rule_export *rule_export,
                      struct buffer *piece)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    if (err == OK) {
        rule_export->has_begun = true;
        rule_export->last_seq = head.last_seq;
        buffer_printf(piece, "{\"schema_version\":%d,\"rules\":[", RULE_FILE_VERSION);
    }
    return err;
}

/* Appends the next rule of the scan. ERR_NOT_FOUND if there is none, or one that was created after the first piece. */
static enum err next_rule(struct scan *scan, struct rule_export *rule_export, struct buffer *piece)
{
    struct learned_rule_record record;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint64_t seq = 0;
    enum err err = scan_next(scan, &key, &value);

    if (err == OK) {
        err = key_read_learned_rule(key, &seq);
    }
    if (err == OK && seq > rule_export->last_seq) {
        return ERR_NOT_FOUND;
    }
    if (err == OK) {
        err = record_decode_learned_rule(value, &record);
    }
    if (err != OK) {
        return err;
    }
    buffer_append(piece, rule_export->after_seq > 0 ? SLICE(",\n") : SLICE("\n"));
    rule_export->after_seq = seq;
    return put_rule(&record, piece);
}

enum err rule_export_next(struct store_txn *txn, struct org_id org, struct rule_export *rule_export,
                          struct buffer *piece)
{
    struct key after = key_learned_rule(org, rule_export->after_seq);
    const struct scan_range range = {
        .table = TABLE_LEARNED_RULE,
        .prefix = key_org(org),
        .after = rule_export->after_seq > 0 ? key_slice(&after) : slice_of(NULL, 0),
        .rows_max = PIECE_ROWS_MAX,
    };
    struct scan scan = {.rows_max = 0};
    size_t start = piece->size;
    enum err err = rule_export->has_begun ? OK : begin(txn, org, rule_export, piece);

    if (err == OK) {
        err = scan_init(&scan, txn, &range);
    }
    while (err == OK && piece->size - start < RULE_EXPORT_PIECE_BYTES) {
        err = next_rule(&scan, rule_export, piece);
    }
    if (err == ERR_NOT_FOUND) {
        err = OK;
        rule_export->has_ended = !scan.is_cut;
    }
    scan_deinit(&scan);
    if (err == OK && rule_export->has_ended) {
        buffer_append(piece, SLICE("\n]}\n"));
    }
    return err == OK && !buffer_ok(piece) ? ERR_MEMORY : err;
}
