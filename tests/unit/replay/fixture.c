/*
 * fixture.c: see fixture.h.
 */
#include "tests/unit/replay/fixture.h"

#include "server/domain/admin/admin.h"
#include "server/domain/admin/keys.h"
#include "server/domain/corrections/capture.h"
#include "server/domain/layouts/documents.h"
#include "server/domain/layouts/family_change.h"
#include "server/domain/layouts/family_records.h"
#include "server/domain/quotas/quotas.h"
#include "server/domain/retention/retention.h"
#include "store/base/bytes.h"
#include "store/lmdb/lmdb.h"
#include "store/memory/memory.h"
#include "tests/unit/replay/learned.h"

#include <stdio.h>

#define ARENA_BYTES (512u << 20)
#define MAP_BYTES (1ull << 30)
#define RESERVE_BYTES 4096
#define NAMES 5 /* number of documents and entities; small, so that events share them */
#define LAYOUTS 2 /* smaller, so that some of their examples become too old for the head row */
#define TOKENS_MAX 4 /* tokens that a fixture may revoke */

void fixture_store_open(struct fixture_store *store, enum fixture_backend kind)
{
    struct store_lmdb_config config = {.map_bytes = MAP_BYTES, .reserve_bytes = RESERVE_BYTES};
    struct arena arena;
    struct fault fault;

    memset(store, 0, sizeof(*store));
    store->kind = kind;
    if (kind == FIXTURE_MEMORY) {
        assert_int_equal(store_memory_open(&store->backend), OK);
        return;
    }
    temp_folder_init(&store->folder);
    config.path = store->folder.path;
    arena_init(&arena, SIZE_MAX);
    fault_init(&fault, &arena);
    assert_int_equal(store_lmdb_open(&config, &fault, &store->backend), OK);
    store_lmdb_begin_bulk(store->backend); /* power cuts are not tested here */
    arena_deinit(&arena);
}

void fixture_store_close(struct fixture_store *store)
{
    if (store->backend == NULL) {
        return;
    }
    if (store->kind == FIXTURE_MEMORY) {
        store_memory_close(store->backend);
    } else {
        store_lmdb_close(store->backend);
        temp_folder_deinit(&store->folder);
    }
    store->backend = NULL;
}

struct store_txn *fixture_begin(struct store_backend *backend, enum store_access access)
{
    struct store_txn *txn = NULL;

    assert_int_equal(store_begin(backend, access, &txn), OK);
    return txn;
}

static void make_orgs(struct fixture *fixture)
{
    const struct admin_actor actor = {SLICE("anna"), ANNOTATOR_HUMAN, SOURCE_LIVE, true};

    for (size_t i = 0; i < FIXTURE_ORGS; i++) {
        struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);
        struct work_result result = {.count = 0};
        char name[] = "org-0";

        name[sizeof(name) - 2] = (char)('0' + i);
        log_begin_write(txn, NULL);
        assert_int_equal(
            admin_create_organization(&fixture->ctx, txn, &actor, slice_text(name), &result), OK);
        assert_int_equal(store_commit(txn), OK);
        fixture->orgs[i] = result.org;
    }
}

void fixture_init(struct fixture *fixture, enum fixture_backend kind, uint64_t seed)
{
    memset(fixture, 0, sizeof(*fixture));
    arena_init(&fixture->arena, ARENA_BYTES);
    clock_manual_init(&fixture->clock, FIXTURE_START_US);
    random_seeded_init(&fixture->random, seed);
    fault_init(&fixture->fault, &fixture->arena);
    fixture->ctx = (struct ctx){&fixture->arena, &fixture->clock.clock, &fixture->random.random,
                                &fixture->fault};
    fixture_store_open(&fixture->stored, kind);
    make_orgs(fixture);
}

void fixture_deinit(struct fixture *fixture)
{
    fixture_store_close(&fixture->made);
    fixture_store_close(&fixture->stored);
    arena_deinit(&fixture->arena);
}

uint32_t fixture_draw(struct fixture *fixture, uint32_t below)
{
    uint32_t number = 0;

    random_fill(&fixture->random.random, &number, sizeof(number));
    return number % below;
}

static struct slice name(struct fixture *fixture, const char *kind, uint32_t count)
{
    return arena_printf(&fixture->arena, "%s-%u", kind, fixture_draw(fixture, count));
}

static struct slice order_lines(struct fixture *fixture)
{
    return arena_printf(&fixture->arena, "{\"qty\":%u,\"unit\":\"Stk\",\"note\":\"n%u\"}",
                        fixture_draw(fixture, 4), fixture_draw(fixture, 30));
}

static struct capture_input draw_capture(struct fixture *fixture)
{
    static const enum feedback_event_type types[] = {FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED,
                                                     FEEDBACK_EVENT_TYPE_EXTRACTION_FIELD_CORRECTED,
                                                     FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED};
    struct capture_input input = {
        .event_type = types[fixture_draw(fixture, sizeof(types) / sizeof(types[0]))],
        .actor_user_id = SLICE("anna"),
        .before_json = order_lines(fixture),
        .after_json = order_lines(fixture),
    };

    if (fixture_draw(fixture, 4) > 0) {
        input.layout_fingerprint = name(fixture, "layout", LAYOUTS);
    }
    if (fixture_draw(fixture, 3) > 0) {
        input.entity_type = SLICE("line");
        input.entity_id = name(fixture, "entity", NAMES);
    }
    if (fixture_draw(fixture, 3) == 0) {
        input.document_id = name(fixture, "document", NAMES);
    }
    if (fixture_draw(fixture, 3) == 0) {
        input.draft_order_id = name(fixture, "draft", NAMES);
    }
    if (fixture_draw(fixture, 4) == 0) {
        input.meta_json = SLICE("{\"input_snippet\":\"Bohrer 12\",\"confidence\":0.5}");
    }
    if (fixture_draw(fixture, 4) == 0) {
        input.time.is_given = true;
        input.time.created_at_us =
            fixture->clock.wall_us - (int64_t)fixture_draw(fixture, 1000000) * 1000000;
    }
    return input;
}

#define CAPTURES_MAX 3
/* Maximum events of a step: in the mean a sixth of the writes remove somewhat less than the others add. */
#define SWEPT_MAX 14

static enum err write_captures(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                               struct work_result *ret_result)
{
    const struct event_caller caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
    struct capture_event events[CAPTURES_MAX];
    uint32_t count = 1 + fixture_draw(fixture, CAPTURES_MAX);

    for (uint32_t i = 0; i < count; i++) {
        struct capture_input input = draw_capture(fixture);

        assert_int_equal(
            capture_prepare(&fixture->ctx, &caller, &input, SLICE("event"), &events[i]), OK);
    }
    ret_result->count = count;
    return capture_store(&fixture->ctx, txn, org, events, count, &ret_result->first_seq);
}

/* The sketch of a document: those of neighbours are similar enough to be of one family. */
static struct family_sketch sketch_of(struct slice document_id)
{
    struct family_sketch sketch = {.count = 10};
    uint32_t first = 3 * document_id.data[document_id.size - 1];

    for (uint32_t i = 0; i < sketch.count; i++) {
        sketch.features[i] = 16 * (first + i) + (uint32_t)FAMILY_FEATURE_WORD;
    }
    return sketch;
}

static enum err write_document(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                               struct work_result *ret_result)
{
    static const struct document_page pages[] = {{595.2756, 841.8898}, {841.8898, 595.2756}};
    struct slice id = name(fixture, "document", NAMES);
    const struct document_measures measures = {
        .document_id = id,
        .sha256 = sha256(id),
        .size_bytes = 1234,
        .pages = pages,
        .page_count = 1 + id.data[id.size - 1] % 2,
        .pages_read = 1,
        .text_chars = 500,
        .page_one_chars = 500 * fixture_draw(fixture, 2),
        .covered_cells = 50000,
        .page_cells = 501752,
        .input_snippet = SLICE("Invoice 7\nBohrer 12\n"),
        .has_table_count = fixture_draw(fixture, 2) == 0,
        .table_count = 1,
        .sketch = sketch_of(id),
        .fp_version = SLICE("1/22.12.0"),
    };
    struct document_event *event = NULL;
    struct log_head before;
    struct log_head after;
    enum err err = OK;

    assert_int_equal(document_prepare(&fixture->ctx, &measures, SLICE("anna"), &event), OK);
    assert_int_equal(log_read_head(txn, org, &before), OK);
    err = document_store(&fixture->ctx, txn, org, event, &ret_result->first_seq);
    assert_int_equal(log_read_head(txn, org, &after), OK);
    ret_result->count =
        (uint32_t)(after.last_seq - before.last_seq); /* 0: the write was already known */
    return err;
}

/* Reads a random family of the organisation; returns false if the drawn row does not exist. */
static bool draw_family(struct fixture *fixture, struct org_id org,
                        struct family_record *ret_family)
{
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    if (!fixture_find_row(fixture, TABLE_FAMILY, org.uuid, fixture_draw(fixture, NAMES), &key,
                          &value)) {
        return false;
    }
    assert_int_equal(record_decode_family(value, ret_family), OK);
    return true;
}

/* Splits the documents of a few random names off their family; some are of other families. */
static enum err write_part(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                           struct uuid family, struct work_result *ret_result)
{
    struct slice ids[3];
    const struct family_split change = {SLICE("anna"), false, family, ids,
                                        1 + fixture_draw(fixture, 3)};

    for (size_t i = 0; i < change.document_count; i++) {
        ids[i] = name(fixture, "document", NAMES);
    }
    return family_split(&fixture->ctx, txn, org, &change, &ret_result->first_seq);
}

/* Merges a family into another, splits it off again, or splits documents off. */
static enum err write_families(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                               struct work_result *ret_result)
{
    struct family_record from;
    struct family_record into;
    enum err err = OK;

    if (!draw_family(fixture, org, &from) || !draw_family(fixture, org, &into)) {
        return OK;
    }
    if (fixture_draw(fixture, 3) == 0) {
        err = write_part(fixture, txn, org, from.id, ret_result);
    } else if (from.alias_of_seq != 0) {
        const struct family_split change = {.actor_user_id = SLICE("anna"), .family = from.id};

        err = family_split(&fixture->ctx, txn, org, &change, &ret_result->first_seq);
    } else {
        const struct family_merge change = {SLICE("anna"), false, from.id, into.id};

        err = family_merge(&fixture->ctx, txn, org, &change, &ret_result->first_seq);
    }
    ret_result->count = err == OK ? 1 : 0;
    return err == ERR_INVALID || err == ERR_PRECONDITION || err == ERR_NOT_FOUND
               ? OK /* the same family or document twice, or one that does not exist */
               : err;
}

/* Makes a token, or revokes or rotates one of the organisation's first ones (a repeated one has no effect). */
static enum err write_token(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                            struct work_result *ret_result)
{
    const struct admin_actor actor = {SLICE("anna"), ANNOTATOR_HUMAN, SOURCE_LIVE, true};
    struct admin_rotation rotation = {.org = org, .overlap_us = 1000000};
    enum err err = OK;
    struct admin_token_draft draft = {.org = org, .role = ROLE_OPERATOR, .user_id = SLICE("bert")};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    uint32_t key_id = 0;

    if (fixture_draw(fixture, 3) == 0 &&
        fixture_find_row(fixture, TABLE_TOKEN_BY_ORG, org.uuid, fixture_draw(fixture, TOKENS_MAX),
                         &key, &value)) {
        assert_int_equal(key_read_token(key, &key_id), OK);
        if (fixture_draw(fixture, 2) == 0) {
            rotation.key_id = key_id;
            random_fill(&fixture->random.random, rotation.secret_sha256.bytes, SHA256_BYTES);
            err = admin_rotate_token(&fixture->ctx, txn, &actor, &rotation, ret_result);
            return err == ERR_PRECONDITION ? OK : err;
        }
        return admin_revoke_token(&fixture->ctx, txn, &actor, org, key_id, ret_result);
    }
    random_fill(&fixture->random.random, draft.secret_sha256.bytes, SHA256_BYTES);
    return admin_create_token(&fixture->ctx, txn, &actor, &draft, ret_result);
}

/* Sets a new idempotency key for about every second write. */
static struct event_idempotency draw_key(struct fixture *fixture, struct org_id org)
{
    struct event_idempotency key = {.present = fixture_draw(fixture, 2) == 0, .org = org};

    bytes_put_be64(key.key_hash, ++fixture->keys);
    key.request_sha256 = sha256(slice_of(key.key_hash, sizeof(key.key_hash)));
    return key;
}

/* Removes the content of a few of the oldest events of a class that have any. */
static enum err write_sweep(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                            struct work_result *ret_result)
{
    const struct retention_step step = {
        .org = org,
        .class = fixture_draw(fixture, 3) > 0
                     ? CONTENT_CLASS_CORRECTIONS
                     : (enum content_class)(CONTENT_CLASS_VERDICTS + (int)fixture_draw(fixture, 2)),
        .recorded_until_us = fixture->clock.wall_us,
        .removed_max = 1 + fixture_draw(fixture, SWEPT_MAX),
    };
    struct retention_done done = {.seq = 0};
    enum err err = retention_sweep(&fixture->ctx, txn, &step, &done);

    ret_result->first_seq = done.seq;
    ret_result->count = done.seq == 0 ? 0 : 1;
    return err;
}

static enum err write_one(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                          struct work_result *ret_result)
{
    ret_result->org = org;
    if (fixture->sweeps && fixture_draw(fixture, 6) == 0) {
        return write_sweep(fixture, txn, org, ret_result);
    }
    switch (fixture_draw(fixture, 14)) {
    case 0:
        return write_token(fixture, txn, org, ret_result);
    case 13:
        return write_families(fixture, txn, org, ret_result);
    case 1:
    case 2:
        return write_document(fixture, txn, org, ret_result);
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        return learned_write(fixture, txn, org, ret_result);
    default:
        return write_captures(fixture, txn, org, ret_result);
    }
}

void fixture_write(struct fixture *fixture)
{
    struct org_id org = fixture->orgs[fixture_draw(fixture, FIXTURE_ORGS)];
    struct event_idempotency key = draw_key(fixture, org);
    struct work_result result = {.count = 0};
    struct store_txn *txn = NULL;

    clock_manual_advance(&fixture->clock, (int64_t)fixture_draw(fixture, 7200) * 1000000);
    txn = fixture_begin(fixture->stored.backend, STORE_WRITE);
    log_begin_write(txn, &key);
    assert_int_equal(write_one(fixture, txn, org, &result), OK);
    if (key.present) {
        assert_int_equal(idempotency_keep(&fixture->ctx, txn, &key, &result), OK);
    }
    assert_int_equal(store_commit(txn), OK);
    arena_reset(&fixture->arena);
    fault_init(&fixture->fault, &fixture->arena);
}

void fixture_sweep(struct fixture *fixture)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);
    struct work_result result = {.count = 0};

    for (size_t i = 0; i < FIXTURE_ORGS; i++) {
        log_begin_write(txn, NULL);
        assert_int_equal(write_sweep(fixture, txn, fixture->orgs[i], &result), OK);
    }
    assert_int_equal(store_commit(txn), OK);
}

/* Sets a limit of each organisation, and another one that is then removed. */
static void write_quotas(struct fixture *fixture)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);
    const struct admin_actor anna = {.user_id = SLICE("anna"), .annotator = ANNOTATOR_HUMAN};
    const struct quota_view changes[] = {
        {.has_pdf_jobs = true, .pdf_jobs = 3, .has_stored_bytes = true, .stored_bytes = 1000000},
        {.has_stored_bytes = true},
    };

    for (size_t i = 0; i < FIXTURE_ORGS * sizeof(changes) / sizeof(changes[0]); i++) {
        const struct quota_holder holder = {.org = fixture->orgs[i % FIXTURE_ORGS]};
        struct work_result result;

        log_begin_write(txn, NULL);
        assert_int_equal(
            quota_set(&fixture->ctx, txn, &anna, &holder, &changes[i / FIXTURE_ORGS], &result), OK);
    }
    assert_int_equal(store_commit(txn), OK);
}

void fixture_write_many(struct fixture *fixture, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fixture_write(fixture);
    }
    write_quotas(fixture);
}

static int64_t no_time(const struct clock *clock)
{
    (void)clock;
    fail_msg("apply asked what time it is");
    return 0;
}

static void no_bytes(struct random *random, void *bytes, size_t size)
{
    (void)random;
    memset(bytes, 0, size);
    fail_msg("apply asked for randomness");
}

static enum err replay(struct fixture *fixture, enum err (*run)(const struct replay_config *config,
                                                                struct replay_report *ret_report))
{
    const struct clock clock = {no_time, no_time, no_time};
    struct random random = {no_bytes};
    struct replay_config config = {.source = fixture->stored.backend,
                                   .clock = &clock,
                                   .random = &random,
                                   .now_us = fixture->clock.wall_us};

    fixture_store_close(&fixture->made);
    fixture_store_open(&fixture->made, fixture->stored.kind);
    config.target = fixture->made.backend;
    return run(&config, &fixture->report);
}

enum err fixture_verify(struct fixture *fixture)
{
    return replay(fixture, replay_verify);
}

enum err fixture_replay(struct fixture *fixture)
{
    return replay(fixture, replay_log);
}

void fixture_expect_clean(struct fixture *fixture)
{
    assert_int_equal(fixture_verify(fixture), OK);
    assert_int_equal(fixture->report.difference_count, 0);
    assert_int_equal(fixture->report.broken_count, 0);
    assert_true(replay_is_clean(&fixture->report));
}

bool fixture_find_row(struct fixture *fixture, enum store_table table, struct uuid org, size_t n,
                      struct slice *ret_key, struct slice *ret_value)
{
    static const struct uuid zero;
    struct key prefix = uuid_equal(org, zero) ? key_global_prefix() : key_org((struct org_id){org});
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_READ);
    struct store_cursor cursor;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = store_cursor_init(&cursor, txn, table, key_slice(&prefix), slice_of(NULL, 0),
                                     STORE_ASCENDING);

    for (size_t i = 0; i <= n && err == OK; i++) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK) {
        assert_true(arena_copy(&fixture->arena, key, ret_key));
        assert_true(arena_copy(&fixture->arena, value, ret_value));
    }
    store_cursor_deinit(&cursor);
    store_abort(txn);
    return err == OK;
}

void fixture_put(struct fixture *fixture, enum store_table table, struct slice key,
                 struct slice value)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);

    assert_int_equal(store_put(txn, table, key, value), OK);
    assert_int_equal(store_commit(txn), OK);
}

void fixture_del(struct fixture *fixture, enum store_table table, struct slice key)
{
    struct store_txn *txn = fixture_begin(fixture->stored.backend, STORE_WRITE);

    assert_int_equal(store_del(txn, table, key), OK);
    assert_int_equal(store_commit(txn), OK);
}

int main(void)
{
    return run_clean_tests() + run_damage_tests() + run_sweep_tests() + run_erasure_tests() +
           run_increment_tests();
}
