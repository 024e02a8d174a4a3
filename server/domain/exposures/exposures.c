/*
 * exposures.c: exposures in the log. An exposure's row is found by the hash of its reference, an
 * outcome's by the exposure's number, the outcome's kind and its subject; both rows hold the number of
 * an event, 8 bytes, big-endian.
 */
#include "server/domain/exposures/exposures.h"

#include "store/base/bytes.h"
#include "store/base/hex.h"
#include "store/base/wire.h"

#define SEQ_BYTES 8

/* Reads a row that holds an event's number. ERR_NOT_FOUND where there is none. */
static enum err read_seq(struct store_txn *txn, enum store_table table, const struct key *key,
                         uint64_t *ret_seq)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, table, key_slice(key), &value);

    if (err != OK) {
        return err;
    }
    if (value.size != SEQ_BYTES) {
        return ERR_CORRUPT;
    }
    *ret_seq = bytes_get_be64(value.data);
    return OK;
}

static enum err write_seq(struct store_txn *txn, enum store_table table, const struct key *key,
                          uint64_t seq)
{
    uint8_t value[SEQ_BYTES];

    bytes_put_be64(value, seq);
    return store_put(txn, table, key_slice(key), slice_of(value, sizeof(value)));
}

enum err exposure_find(struct ctx *ctx, struct store_txn *txn, const struct exposure_key *key,
                       struct org_id org, struct slice reference, struct cited_exposure *ret_cited)
{
    struct cited_exposure cited = {.seq = 0};
    struct sha256_digest digest = sha256(reference);
    struct key row;
    enum err err = exposure_read(ctx->arena, key, org, reference, &cited.exposure);

    if (err != OK) {
        return err;
    }
    memcpy(cited.reference_hash, digest.bytes, sizeof(cited.reference_hash));
    row = key_exposure(org, cited.reference_hash);
    err = read_seq(txn, TABLE_EXPOSURE, &row, &cited.seq);
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_cited = cited;
    return OK;
}

static void put_artifact(struct buffer *facts, const struct exposed_artifact *artifact)
{
    uint8_t bytes[64];
    struct arena none = {0};
    struct buffer message = {.arena = &none, .data = bytes, .capacity = sizeof(bytes)};

    wire_put_varint(&message, EXPOSED_ARTIFACT_SEQ_FIELD, artifact->seq);
    wire_put_varint(&message, EXPOSED_ARTIFACT_VERSION_FIELD, artifact->version);
    wire_put_varint_given(&message, EXPOSED_ARTIFACT_LINE_COUNT_FIELD, artifact->line_count);
    wire_put_bytes(facts, EXPOSURE_RECORDED_ARTIFACTS_FIELD, buffer_slice(&message));
}

/* The wire bytes of an ExposureRecorded. */
static enum err encode_facts(struct arena *arena, const struct cited_exposure *cited,
                             struct slice *ret_facts)
{
    const struct exposure *exposure = &cited->exposure;
    size_t listed_count = exposure->is_listed ? exposure->artifact_count : 0;
    struct buffer facts = {0};

    buffer_init(&facts, arena, 128 + 24 * listed_count);
    wire_put_varint(&facts, EXPOSURE_RECORDED_EXPOSURE_KIND_FIELD, (uint64_t)exposure->kind);
    wire_put_timestamp(&facts, EXPOSURE_RECORDED_SERVED_AT_FIELD, exposure->served_at_us);
    wire_put_varint_given(&facts, EXPOSURE_RECORDED_AS_OF_SEQ_FIELD, exposure->as_of_seq);
    wire_put_varint_given(&facts, EXPOSURE_RECORDED_ARM_FIELD, (uint64_t)exposure->arm);
    for (size_t i = 0; i < listed_count; i++) {
        put_artifact(&facts, &exposure->artifacts[i]);
    }
    wire_put_varint_given(&facts, EXPOSURE_RECORDED_ARTIFACT_COUNT_FIELD, exposure->artifact_count);
    wire_put_bytes(&facts, EXPOSURE_RECORDED_TEXT_HASH_FIELD,
                   slice_of(exposure->text_hash, EXPOSURE_TEXT_HASH_BYTES));
    wire_put_bytes(&facts, EXPOSURE_RECORDED_REFERENCE_HASH_FIELD,
                   slice_of(cited->reference_hash, EXPOSURE_REFERENCE_HASH_BYTES));
    *ret_facts = buffer_slice(&facts);
    return buffer_ok(&facts) ? OK : ERR_MEMORY;
}

enum err exposure_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         const struct exposure_citer *citer, struct cited_exposure *cited)
{
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_EXPOSURE_RECORDED,
        .annotator = ANNOTATOR_CODE,
        .source = citer->source,
        .actor_user_id = citer->actor_user_id,
        .subject_count = 1,
    };
    uint8_t name[2 * EXPOSURE_REFERENCE_HASH_BYTES];
    struct event event;
    enum err err = OK;

    if (cited->seq != 0) {
        return OK;
    }
    for (size_t i = 0; i < EXPOSURE_REFERENCE_HASH_BYTES; i++) {
        name[2 * i] = (uint8_t)hex_digit(cited->reference_hash[i] >> 4);
        name[2 * i + 1] = (uint8_t)hex_digit(cited->reference_hash[i]);
    }
    draft.subjects[0] = (struct event_subject){SUBJECT_EXPOSURE, slice_of(name, sizeof(name))};
    err = log_next_stamp(ctx, txn, org, &draft.stamp);
    if (err == OK) {
        err = encode_facts(ctx->arena, cited, &draft.facts);
    }
    if (err != OK) {
        return err;
    }
    draft.created_at_us =
        citer->source == SOURCE_BACKFILL ? citer->created_at_us : draft.stamp.created_at_us;
    err = log_append(ctx, txn, &draft, &event);
    if (err == OK) {
        err = exposure_apply(ctx, txn, &event);
    }
    if (err == OK) {
        cited->seq = event.seq;
    }
    return err;
}

enum err exposure_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field = {0};
    struct slice hash = {NULL, 0};
    struct key key;
    enum err err = OK;

    (void)ctx;
    for (err = wire_next(&reader, &field); err == OK; err = wire_next(&reader, &field)) {
        if (field.number == EXPOSURE_RECORDED_REFERENCE_HASH_FIELD && field.type == WIRE_BYTES) {
            hash = field.bytes;
        }
    }
    if (err != ERR_NOT_FOUND || hash.size != EXPOSURE_REFERENCE_HASH_BYTES) {
        return ERR_CORRUPT;
    }
    key = key_exposure(event->org, hash.data);
    return write_seq(txn, TABLE_EXPOSURE, &key, event->seq);
}

enum err exposure_find_outcome(struct store_txn *txn, struct org_id org, uint64_t exposure_seq,
                               enum event_kind_number kind, struct slice subject, uint64_t *ret_seq)
{
    struct key key = key_outcome(org, exposure_seq, (uint8_t)kind, subject);

    return read_seq(txn, TABLE_OUTCOME, &key, ret_seq);
}

enum err exposure_keep_outcome(struct store_txn *txn, struct org_id org, uint64_t exposure_seq,
                               enum event_kind_number kind, struct slice subject, uint64_t seq)
{
    struct key key = key_outcome(org, exposure_seq, (uint8_t)kind, subject);
    uint64_t kept_seq = 0;
    enum err err = read_seq(txn, TABLE_OUTCOME, &key, &kept_seq);

    return err != ERR_NOT_FOUND ? err : write_seq(txn, TABLE_OUTCOME, &key, seq);
}
