/*
 * exposures.c: exposures in the log. The key of an exposure's row is the hash of its reference; the
 * key of an outcome's row is the exposure's number, the outcome's kind and its subject. Both values
 * are the number of an event, 8 bytes, big-endian.
 */
#include "server/domain/exposures/exposures.h"

#include "server/domain/events/annotator_kinds.h"
#include "server/domain/events/payload.h"
#include "server/domain/exposures/citations.h"
#include "server/domain/exposures/keys.h"
#include "store/base/assert.h"
#include "store/base/hex.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>

/* Maximum bytes of one ExposedArtifact: three numbers, and its own tag and length; and of its rule: six numbers. */
#define ARTIFACT_BYTES (4 * WIRE_OVERHEAD_BYTES)
#define RULE_BYTES (8 * WIRE_OVERHEAD_BYTES)

/* Reads a row that holds an event's number. ERR_NOT_FOUND if there is none. */
static enum err read_seq(struct store_txn *txn, enum store_table table, const struct key *key,
                         uint64_t *ret_seq)
{
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, table, key_slice(key), &value);

    return err != OK ? err : log_read_id_row(value, ret_seq);
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

bool exposure_is_among(const struct cited_exposure *cited, const struct cited_exposure *items,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(items[i].reference_hash, cited->reference_hash, EXPOSURE_REFERENCE_HASH_BYTES) ==
            0) {
            return true;
        }
    }
    return false;
}

enum err exposure_check_kind(struct store_txn *txn, struct org_id org,
                             const struct exposure *exposure, enum exposure_kind kind)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    return err == OK && (exposure->kind != kind || exposure->as_of_seq > head.last_seq)
               ? ERR_INVALID
               : err;
}

static bool encode_rule(struct arena *arena, const struct exposed_rule *rule,
                        struct exposed_artifact_view *artifact)
{
    const struct exposed_rule_view view = {
        .feedback_count = rule->count,
        .accuracy_billionths = rule->accuracy,
        .suppressed_by = rule->suppressed_by,
        .reduced = rule->reduced,
        .shadow = rule->shadow,
        .raises = rule->raises,
    };

    artifact->has_rule = true;
    return view_encode(&exposed_rule_view_type, &view, arena, &artifact->rule);
}

static bool put_artifacts(struct arena *arena, const struct exposure *exposure, struct buffer *run)
{
    bool is_whole = true;

    for (size_t i = 0; i < exposure->artifact_count && is_whole; i++) {
        const struct exposed_artifact *artifact = &exposure->artifacts[i];
        struct exposed_artifact_view view = {
            .seq = artifact->seq,
            .version = artifact->version,
            .line_count = artifact->line_count,
            .shadow = artifact->shadow,
        };

        if (exposure->kind == EXPOSURE_KIND_SCORE) {
            is_whole = encode_rule(arena, &artifact->rule, &view);
        }
        exposed_artifact_view_put(&view, EXPOSURE_RECORDED_ARTIFACTS_FIELD, run);
    }
    return is_whole;
}

/* Sets the members of an ExposureRecorded for examples of documents; `run` has the numbers of their
 * events. */
static void put_documents(struct buffer *run, const struct exposure *exposure,
                          struct exposure_recorded_view *facts)
{
    if (!exposure->documents.is_used) {
        return;
    }
    for (size_t i = 0; i < exposure->event_count; i++) {
        exposure_recorded_view_add_document_event_seqs(run, exposure->event_seqs[i]);
    }
    facts->example_grouping = EXAMPLE_GROUPING_DOCUMENT;
    facts->annotator_kinds.run = annotator_kinds_run(exposure->documents.annotator_kinds);
    facts->include_superseded = exposure->documents.include_superseded;
    facts->document_event_seqs.run = buffer_slice(run);
}

/* Sets the members of an ExposureRecorded for placeholders. */
static bool put_placeholders(struct arena *arena, const struct exposure *exposure,
                             struct exposure_recorded_view *facts)
{
    struct buffer signals;

    buffer_init(&signals, arena, EXPOSURE_SIGNALS_END * WIRE_OVERHEAD_BYTES);
    for (int32_t i = 1; i < EXPOSURE_SIGNALS_END; i++) {
        if ((exposure->placeholders.signals >> i & 1u) != 0) {
            exposure_recorded_view_add_signals(&signals, (enum review_signal)i);
        }
    }
    facts->subcategory = exposure->placeholders.subcategory;
    facts->signals.run = buffer_slice(&signals);
    return buffer_ok(&signals);
}

/* Builds the wire bytes of an ExposureRecorded. */
static enum err encode_facts(struct arena *arena, const struct cited_exposure *cited,
                             struct slice *ret_facts)
{
    const struct exposure *exposure = &cited->exposure;
    struct exposure_recorded_view facts = {
        .exposure_kind = exposure->kind,
        .served_at_us = exposure->served_at_us,
        .has_served_at = true,
        .as_of_seq = exposure->as_of_seq,
        .arm = exposure->arm,
        .layout_ready = exposure->layout_ready,
        .artifact_count = (uint32_t)exposure->artifact_count,
        .text_hash = slice_of(exposure->text_hash, EXPOSURE_TEXT_HASH_BYTES),
        .base_verdict = exposure->verdicts.base,
        .verdict = exposure->verdicts.live,
        .shadow_verdict = exposure->verdicts.shadow,
    };
    const struct exposure_recorded_internal_view internal = {
        .reference_hash = slice_of(cited->reference_hash, EXPOSURE_REFERENCE_HASH_BYTES)};
    size_t artifact_bytes =
        exposure->kind == EXPOSURE_KIND_SCORE ? ARTIFACT_BYTES + RULE_BYTES : ARTIFACT_BYTES;
    struct buffer artifacts;
    struct buffer event_seqs;

    buffer_init(&event_seqs, arena, exposure->event_count * WIRE_OVERHEAD_BYTES);
    put_documents(&event_seqs, exposure, &facts);
    buffer_init(&artifacts, arena,
                exposure->is_listed ? exposure->artifact_count * artifact_bytes : 0);
    if ((exposure->is_listed && !put_artifacts(arena, exposure, &artifacts)) ||
        !put_placeholders(arena, exposure, &facts)) {
        return ERR_MEMORY;
    }
    facts.artifacts.run = buffer_slice(&artifacts);
    return buffer_ok(&artifacts) && buffer_ok(&event_seqs) &&
                   view_encode(&exposure_recorded_internal_view_type, &internal, arena,
                               &facts.internal) &&
                   view_encode(&exposure_recorded_view_type, &facts, arena, ret_facts)
               ? OK
               : ERR_MEMORY;
}

enum err exposure_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                         const struct exposure_citer *citer, struct cited_exposure *cited)
{
    struct event_draft draft = {
        .org = org,
        .kind = EVENT_EXPOSURE_RECORDED,
        .annotator = ANNOTATOR_CODE,
        .actor_user_id = citer->actor_user_id,
    };
    uint8_t name[2 * EXPOSURE_REFERENCE_HASH_BYTES];
    enum err err = OK;

    if (cited->seq != 0) {
        return OK;
    }
    for (size_t i = 0; i < EXPOSURE_REFERENCE_HASH_BYTES; i++) {
        name[2 * i] = (uint8_t)hex_digit(cited->reference_hash[i] >> 4);
        name[2 * i + 1] = (uint8_t)hex_digit(cited->reference_hash[i]);
    }
    event_draft_add_subject(&draft, SUBJECT_EXPOSURE, slice_of(name, sizeof(name)));
    err = event_draft_stamp(ctx, txn, &citer->time, &draft);
    if (err == OK) {
        err = encode_facts(ctx->arena, cited, &draft.facts);
    }
    return err != OK ? err : event_draft_append(ctx, txn, &draft, exposures_apply, &cited->seq);
}

static enum err read_rule(const struct exposed_artifact_view *artifact,
                          struct exposed_rule *ret_rule)
{
    struct exposed_rule_view view;
    enum err err = exposed_rule_view_read(artifact->rule, &view);

    if (err == OK) {
        *ret_rule = (struct exposed_rule){
            .count = view.feedback_count,
            .accuracy = view.accuracy_billionths,
            .suppressed_by = view.suppressed_by,
            .reduced = view.reduced,
            .shadow = view.shadow,
            .raises = view.raises,
        };
    }
    return err;
}

/* Reads the artifacts of a recorded exposure into the arena. */
static enum err read_artifacts(struct arena *arena, const struct exposure_recorded_view *facts,
                               struct exposure *exposure)
{
    struct exposed_artifact *artifacts =
        arena_calloc(arena, facts->artifacts.count + 1, sizeof(*artifacts));
    struct slice run = facts->artifacts.run;
    struct slice message = {NULL, 0};
    size_t count = 0;

    if (artifacts == NULL) {
        return ERR_MEMORY;
    }
    while (view_next(&run, &message)) {
        struct exposed_artifact_view view;
        enum err err = exposed_artifact_view_read(message, &view);

        artifacts[count] = (struct exposed_artifact){
            .seq = view.seq,
            .version = view.version,
            .line_count = view.line_count,
            .shadow = view.shadow,
        };
        if (err == OK && view.seq == 0 && exposure->kind != EXPOSURE_KIND_PLACEHOLDERS) {
            err = ERR_CORRUPT;
        }
        if (err == OK && exposure->kind == EXPOSURE_KIND_SCORE) {
            err = read_rule(&view, &artifacts[count].rule);
        }
        if (err != OK) {
            return err;
        }
        count++;
    }
    exposure->artifacts = artifacts;
    exposure->artifact_count = facts->artifact_count;
    exposure->is_listed = count == facts->artifact_count;
    return OK;
}

/* Reads the members of a recorded exposure for examples of documents. */
static enum err read_documents(struct arena *arena, const struct exposure_recorded_view *facts,
                               struct exposure *exposure)
{
    struct exposed_documents *documents = &exposure->documents;
    uint64_t *seqs = arena_calloc(arena, facts->document_event_seqs.count + 1, sizeof(*seqs));
    struct slice run = facts->document_event_seqs.run;

    if (seqs == NULL) {
        return ERR_MEMORY;
    }
    while (view_next_number(&run, &seqs[exposure->event_count])) {
        exposure->event_count++;
    }
    exposure->event_seqs = seqs;
    documents->is_used = facts->example_grouping == EXAMPLE_GROUPING_DOCUMENT;
    documents->include_superseded = facts->include_superseded;
    return annotator_kinds_read(facts->annotator_kinds.run, &documents->annotator_kinds);
}

/* Reads the members of a recorded exposure for placeholders. */
static enum err read_placeholders(const struct exposure_recorded_view *facts,
                                  struct exposed_placeholders *placeholders)
{
    struct slice run = facts->signals.run;
    uint64_t signal = 0;

    placeholders->subcategory = facts->subcategory;
    while (view_next_number(&run, &signal)) {
        if (signal == 0 || signal >= EXPOSURE_SIGNALS_END) {
            return ERR_CORRUPT;
        }
        placeholders->signals |= 1u << signal;
    }
    return OK;
}

enum err exposure_of_event(struct arena *arena, const struct event *event,
                           struct exposure *ret_exposure)
{
    struct exposure exposure = {.artifact_count = 0};
    struct exposure_recorded_view facts;
    enum err err = ERR_NOT_FOUND;

    if (event->kind == EVENT_EXPOSURE_RECORDED) {
        err = exposure_recorded_view_read(event->facts, &facts);
    }
    if (err != OK) {
        return err;
    }
    if (facts.text_hash.size != EXPOSURE_TEXT_HASH_BYTES ||
        (facts.artifacts.count > 0 && facts.artifacts.count != facts.artifact_count)) {
        return ERR_CORRUPT;
    }
    exposure.kind = facts.exposure_kind;
    exposure.served_at_us = facts.served_at_us;
    exposure.as_of_seq = facts.as_of_seq;
    exposure.arm = facts.arm;
    exposure.layout_ready = facts.layout_ready;
    exposure.verdicts =
        (struct exposed_verdicts){facts.base_verdict, facts.verdict, facts.shadow_verdict};
    memcpy(exposure.text_hash, facts.text_hash.data, EXPOSURE_TEXT_HASH_BYTES);
    err = read_artifacts(arena, &facts, &exposure);
    if (err == OK) {
        err = read_documents(arena, &facts, &exposure);
    }
    if (err == OK) {
        err = read_placeholders(&facts, &exposure.placeholders);
    }
    if (err == OK) {
        *ret_exposure = exposure;
    }
    return err;
}

enum err exposure_read_recorded(struct arena *arena, struct store_txn *txn, struct org_id org,
                                uint64_t seq, struct exposure *ret_exposure)
{
    struct event event;
    enum err err = log_read(txn, org, seq, &event);

    if (err == OK) {
        err = exposure_of_event(arena, &event, ret_exposure);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Counts an exposure for each of its artifacts. */
static enum err count_artifacts(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct artifact_change change = {.exposures = 1};
    struct exposure exposure;
    enum err err = exposure_of_event(ctx->arena, event, &exposure);

    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    err = exposure_count_artifacts(ctx, txn, event->org, &exposure, &change);
    change.arm = exposure.arm;
    for (size_t i = 0; i < exposure.event_count && err == OK; i++) {
        err = artifact_count(ctx, txn, event->org, exposure.event_seqs[i], &change);
    }
    return err;
}

enum err exposures_apply(struct ctx *ctx, struct store_txn *txn, const struct event *event)
{
    struct exposure_recorded_view facts;
    struct exposure_recorded_internal_view internal;
    struct key key;
    enum err err = exposure_recorded_view_read(event->facts, &facts);

    ASSERT(exposures_applies(event->kind));
    if (err == OK) {
        err = exposure_recorded_internal_view_read(payload_internal(facts.internal, event->facts),
                                                   &internal);
    }
    if (err != OK || internal.reference_hash.size != EXPOSURE_REFERENCE_HASH_BYTES) {
        return ERR_CORRUPT;
    }
    key = key_exposure(event->org, internal.reference_hash.data);
    err = log_put_id_row(txn, TABLE_EXPOSURE, &key, event->seq);
    return err != OK ? err : count_artifacts(ctx, txn, event);
}

enum err exposure_find_outcome(struct store_txn *txn, struct org_id org, uint64_t exposure_seq,
                               enum event_kind_number kind, struct slice subject, uint64_t *ret_seq)
{
    struct key key = key_outcome(org, exposure_seq, (uint8_t)kind, subject);

    return read_seq(txn, TABLE_OUTCOME, &key, ret_seq);
}

enum err exposure_scan_outcomes(struct scan *scan, struct store_txn *txn, struct org_id org,
                                uint64_t exposure_seq, uint32_t rows_max)
{
    const struct scan_range range = {
        .table = TABLE_OUTCOME,
        .prefix = key_org_seq(org, exposure_seq),
        .rows_max = rows_max,
    };

    return scan_init(scan, txn, &range);
}

enum err exposure_next_outcome(struct scan *scan, uint64_t *ret_seq)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_next(scan, &key, &value);

    return err != OK ? err : log_read_id_row(value, ret_seq);
}

enum err exposure_keep_outcome(struct store_txn *txn, struct org_id org, uint64_t exposure_seq,
                               enum event_kind_number kind, struct slice subject, uint64_t seq)
{
    struct key key = key_outcome(org, exposure_seq, (uint8_t)kind, subject);
    uint64_t kept_seq = 0;
    enum err err = read_seq(txn, TABLE_OUTCOME, &key, &kept_seq);

    return err != ERR_NOT_FOUND ? err : log_put_id_row(txn, TABLE_OUTCOME, &key, seq);
}

enum err exposure_forget_outcome(struct store_txn *txn, struct org_id org, uint64_t exposure_seq,
                                 enum event_kind_number kind, struct slice subject, uint64_t seq)
{
    struct key key = key_outcome(org, exposure_seq, (uint8_t)kind, subject);
    uint64_t kept_seq = 0;
    enum err err = read_seq(txn, TABLE_OUTCOME, &key, &kept_seq);

    if (err == OK && kept_seq == seq) {
        return store_del(txn, TABLE_OUTCOME, key_slice(&key));
    }
    return err == ERR_NOT_FOUND ? OK : err;
}
