/*
 * sim_check.c: the disk against the model. Reads what is durable directly, beside the server: every
 * organisation's chain, each acknowledged write exactly once with its id, each other one at most once,
 * everything that was ever shown, and no bytes of others. At the end the log is played again into an
 * empty store, and every row is compared.
 */
#include "server/domain/replay/replay.h"
#include "store/base/assert.h"
#include "store/base/wire.h"
#include "store/memory/memory.h"
#include "tests/sim/sim_check_families.h"
#include "tests/sim/sim_connection.h"
#include "tests/sim/sim_model.h"
#include "tests/sim/sim_store.h"

#include <errata/v1/event.fields.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHAIN_LIMIT 1000000

/* Occurrences of each mark of an organisation, and their events. */
struct tally {
    struct sim *sim;
    unsigned org;
    unsigned *counts; /* indexed by write number * SIM_ITEMS_MAX + item */
    char (*ids)[SIM_ID_BYTES];
    struct sim_families families;
};

/* Reads `m12-3x`; false if no such mark begins here. */
static bool read_mark(struct slice text, uint64_t *ret_number, unsigned *ret_item)
{
    uint64_t number = 0;
    size_t at = 1;

    while (at < text.size && at < 18 && text.data[at] >= '0' && text.data[at] <= '9') {
        number = number * 10 + (uint64_t)(text.data[at++] - '0');
    }
    if (at == 1 || text.size - at < 3 || text.data[at] != '-' || text.data[at + 1] < '0' ||
        text.data[at + 1] > '9' || text.data[at + 2] != 'x') {
        return false;
    }
    *ret_number = number;
    *ret_item = (unsigned)(text.data[at + 1] - '0');
    return true;
}

/* Counts the event for the write whose mark is in a text of it. */
static void tally_mark(struct tally *tally, const struct event *event, struct slice left)
{
    uint64_t number = 0;
    unsigned item = 0;

    while (left.size > 0) {
        if (left.data[0] == 'm' && read_mark(left, &number, &item) && number >= 1 &&
            number <= tally->sim->model->write_count && item < SIM_ITEMS_MAX) {
            size_t place = number * SIM_ITEMS_MAX + item;

            tally->counts[place]++;
            uuid_format(event->id, tally->ids[place]);
            tally->ids[place][SIM_ID_BYTES - 1] = '\0';
            return;
        }
        left = slice_after(left, 1);
    }
}

/* An extraction that another write records again is the same one: it counts once. */
static bool is_replacement(const struct event *event)
{
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == EXTRACTION_RECORDED_REPLACED_SEQ_FIELD) {
            return true;
        }
    }
    return false;
}

/* The uses that an extraction's event counts are in a separate event, with the document that the
 * extraction names: the write is that one. */
static bool is_of_extraction(const struct event *event)
{
    struct wire_reader reader = wire_reader_of(event->facts);
    struct wire_field field;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == MAPPING_APPLIED_DOCUMENT_ID_FIELD) {
            return true;
        }
    }
    return false;
}

static void check_event(struct tally *tally, const struct event *event)
{
    struct sim *sim = tally->sim;
    const struct sim_org *org = &sim->model->orgs[tally->org];
    const struct sim_caller owner = {.sim = sim, .org = tally->org};
    char id[SIM_ID_BYTES] = "";

    uuid_format(event->id, id);
    if (event->seq <= org->shown_last && org->shown[event->seq - 1].id[0] != '\0' &&
        strcmp(org->shown[event->seq - 1].id, id) != 0) {
        sim_fail(sim, "event %" PRIu64 " of organisation %u was shown as %s; stored is %s",
                 event->seq, tally->org, org->shown[event->seq - 1].id, id);
    }
    if (event->kind == EVENT_FEEDBACK || event->kind == EVENT_DOCUMENT_INGESTED ||
        event->kind >= EVENT_MAPPING_SUGGESTED) {
        sim_check_bytes(&owner, event->facts, "a stored event's facts");
        sim_check_bytes(&owner, event->content, "a stored event's content");
    }
    switch (event->kind) {
    case EVENT_FEEDBACK:
    case EVENT_DOCUMENT_INGESTED:
    case EVENT_MAPPING_SUGGESTED:
    case EVENT_VERDICT_SUBMITTED:
    case EVENT_REVIEW_SUBMITTED:
    case EVENT_LEARNED_RULE_CREATED: /* in its pattern, unless it was learned */
        tally_mark(tally, event, event->facts);
        return;
    case EVENT_EXTRACTION_RECORDED:
        if (!is_replacement(event)) {
            tally_mark(tally, event, event->facts);
        }
        return;
    case EVENT_MAPPING_APPLIED:
        if (!is_of_extraction(event)) {
            tally_mark(tally, event, event->facts);
        }
        return;
    case EVENT_PROMPT_TEMPLATE_PUT: /* in its comment */
    case EVENT_RETRACTED: /* in its reason */
    case EVENT_ARTIFACT_STATE_SET:
        tally_mark(tally, event, event->content);
        return;
    case EVENT_ORGANIZATION_CREATED:
    case EVENT_TOKEN_CREATED:
    case EVENT_TOKEN_REVOKED:
    case EVENT_EXPOSURE_RECORDED:
    case EVENT_SETTINGS_UPDATED:
    case EVENT_FAMILIES_MERGED:
    case EVENT_FAMILY_SPLIT:
    case EVENT_LEARNED_RULE_ENABLED_SET:
    case EVENT_LEARNED_RULE_IMPORTED:
    case EVENT_LEARNED_RULE_WEIGHT_SET:
    case EVENT_TRIGGER_THRESHOLDS_SET:
    case EVENT_FRAGMENT_SET_PUT:
    case EVENT_FRAGMENT_SET_APPROVED:
    case EVENT_DECISION_RECORDED:
    case EVENT_EVALUATION_SUBMITTED:
    case EVENT_EVALUATION_OVERRIDDEN:
    case EVENT_PROPOSAL_CREATED:
    case EVENT_PROPOSAL_VOTED:
    case EVENT_GUIDELINE_RETIRED:
    case EVENT_GUIDELINE_SUNSET_PROPOSED:
    case EVENT_DEAD_LETTER_STORED:
    case EVENT_DEAD_LETTER_RETRIED:
    case EVENT_QUOTA_SET:
    case EVENT_TOKEN_ROTATED:
    case EVENT_CONTENT_SWEPT:
    case EVENT_CONTENT_ERASED:
    case EVENT_ORGANIZATION_STATE_SET:
    case EVENT_ORGANIZATION_DELETED:
    case EVENT_ORGANIZATION_EXPORTED:
    case EVENT_ORGANIZATION_IMPORTED:
    case EVENT_RUN_ITEM_PUT:
    case EVENT_TURN_RECORDED:
    case EVENT_FEEDBACK_DETECTED:
    case EVENT_TURN_FEEDBACK_SET:
        return;
    }
}

/* Returns how often the writes of a batch are stored, which must be equal for all. */
static unsigned batch_count(const struct tally *tally, const struct sim_write *write)
{
    unsigned most = 0;

    for (unsigned i = 0; i < write->items; i++) {
        unsigned count = tally->counts[write->number * SIM_ITEMS_MAX + i];

        most = count > most ? count : most;
    }
    return most;
}

/* Returns whether any write stored a retraction with this id: all writes that retract the same event get the first
 * one. */
static bool is_stored_retraction(const struct tally *tally, const char *id)
{
    for (const struct sim_write *at = tally->sim->model->writes; at != NULL; at = at->next) {
        size_t place = at->number * SIM_ITEMS_MAX;

        if (at->kind == SIM_WRITE_RETRACT && at->org == tally->org && tally->counts[place] == 1 &&
            strcmp(tally->ids[place], id) == 0) {
            return true;
        }
    }
    return false;
}

static void check_write(struct tally *tally, const struct sim_write *write, unsigned item)
{
    struct sim *sim = tally->sim;
    size_t place = write->number * SIM_ITEMS_MAX + item;
    unsigned count = tally->counts[place];
    /* A suggestion that changes nothing, such as a repeated one, stores no event. */
    bool is_suggestion =
        write->kind == SIM_WRITE_JUDGE && sim_judgement_of(write, item) == SIM_WRITE_SUGGEST;

    if ((is_suggestion && count == 0 && write->ids[item][0] == '\0') ||
        (write->kind == SIM_WRITE_RETRACT && is_stored_retraction(tally, write->ids[0]))) {
        return;
    }
    if (write->acknowledged && count == 0) {
        sim_fail(sim, "write %" PRIu64 " was acknowledged, and is lost", write->number);
    } else if (count > 1 && (write->cites || sim_model_knows_key(sim, write))) {
        sim_fail(sim, "write %" PRIu64 " is stored %u times", write->number, count);
    } else if (!write->acknowledged && !write->maybe && write->under_way == 0 && count > 0) {
        sim_fail(sim, "write %" PRIu64 " was said not to be stored, and is", write->number);
    } else if (write->kind != SIM_WRITE_EXTRACTION && /* it may have replaced another one */
               write->acknowledged && count == 1 && write->ids[item][0] != '\0' &&
               strcmp(write->ids[item], tally->ids[place]) != 0) {
        sim_fail(sim, "write %" PRIu64 " was answered with id %s; stored is %s", write->number,
                 write->ids[item], tally->ids[place]);
    }
    if ((write->kind == SIM_WRITE_BATCH || write->kind == SIM_WRITE_JUDGE ||
         write->kind == SIM_WRITE_IMPORT) &&
        count != batch_count(tally, write) && !is_suggestion) {
        sim_fail(sim, "batch %" PRIu64 " is stored in part", write->number);
    }
}

/* A merge or split that was acknowledged is stored. It has no mark. */
static void check_change(const struct tally *tally, const struct sim_write *write)
{
    if (write->acknowledged && !sim_families_have_change(&tally->families, write->ids[0])) {
        sim_fail(tally->sim, "write %" PRIu64 " was acknowledged, and is lost", write->number);
    }
}

static void check_writes(struct tally *tally)
{
    for (const struct sim_write *at = tally->sim->model->writes; at != NULL; at = at->next) {
        if (at->org == tally->org && (at->kind == SIM_WRITE_MERGE || at->kind == SIM_WRITE_SPLIT)) {
            check_change(tally, at);
            continue;
        }
        if (at->org != tally->org || at->kind == SIM_WRITE_TOKEN || at->kind == SIM_WRITE_REVOKE ||
            at->kind == SIM_WRITE_ORG || at->kind == SIM_WRITE_SETTINGS ||
            at->kind == SIM_WRITE_RULE) {
            continue;
        }
        for (unsigned item = 0; item < at->items; item++) {
            check_write(tally, at, item);
        }
    }
}

/* recorded_at and ids against those of the event before; nothing is dated after it was recorded. */
static void check_order(struct sim *sim, const struct event *event, const struct event *before)
{
    if (event->created_at_us > event->recorded_at_us ||
        (before->seq != 0 && (event->recorded_at_us < before->recorded_at_us ||
                              memcmp(event->id.bytes, before->id.bytes, UUID_BYTES) <= 0))) {
        sim_fail(sim, "the times or the id of event %" PRIu64 " are out of order", event->seq);
    }
}

static void walk_events(struct tally *tally, struct store_txn *txn, struct org_id org,
                        uint64_t *ret_last)
{
    struct log_walk walk;
    struct event event;
    struct event before = {.seq = 0};
    enum err err = log_walk_init(&walk, txn, org, 0, STORE_ASCENDING);

    while (err == OK) {
        err = log_walk_next(&walk, &event);
        if (err == OK) {
            *ret_last = event.seq;
            check_order(tally->sim, &event, &before);
            check_event(tally, &event);
            sim_families_check(&tally->families, &event);
            before = event;
        }
    }
    log_walk_deinit(&walk);
    if (err != ERR_NOT_FOUND) {
        sim_fail(tally->sim, "the log of organisation %u: %s", tally->org, err_name(err));
    }
}

static void check_org(struct sim *sim, struct store_txn *txn, unsigned index)
{
    const struct sim_org *org = &sim->model->orgs[index];
    size_t places = (sim->model->write_count + 1) * SIM_ITEMS_MAX;
    struct tally tally = {.sim = sim, .org = index, .families = {.sim = sim}};
    struct log_check check = {0};
    struct log_head head = {0};
    struct org_id id;
    uint64_t last = 0;

    if (org->id[0] == '\0') {
        return;
    }
    ASSERT(uuid_parse(slice_text(org->id), &id.uuid));
    tally.counts = calloc(places, sizeof(*tally.counts));
    tally.ids = calloc(places, sizeof(*tally.ids));
    ASSERT(tally.counts != NULL && tally.ids != NULL);
    walk_events(&tally, txn, id, &last);
    check_writes(&tally);
    if (log_read_head(txn, id, &head) != OK || head.last_seq != last) {
        sim_fail(sim, "the head of organisation %u says %" PRIu64 ", its log %" PRIu64, index,
                 head.last_seq, last);
    } else if (last < org->shown_last) {
        sim_fail(sim, "event %" PRIu64 " of organisation %u was shown, and is lost",
                 org->shown_last, index);
    } else if (log_verify_chain(txn, id, CHAIN_LIMIT, &check) != OK || check.last_seq != last) {
        sim_fail(sim, "the chain of organisation %u breaks after %" PRIu64, index, check.last_seq);
    }
    free(tally.counts);
    free(tally.ids);
    sim_families_deinit(&tally.families);
}

static void check_replay(struct sim *sim)
{
    struct store_backend *target = NULL;
    struct replay_report *report = calloc(1, sizeof(*report));
    struct replay_config config = {.source = sim->store->disk,
                                   .clock = &sim->clock.clock,
                                   .random = &sim->server_random.random};
    enum err err = OK;

    ASSERT(report != NULL);
    ASSERT(store_memory_open(&target) == OK);
    config.target = target;
    err = replay_verify(&config, report);
    if (err != OK) {
        sim_fail(sim, "verify itself fails: %s", err_name(err));
    } else if (!replay_is_clean(report)) {
        const struct replay_difference *first = &report->differences[0];

        sim_fail(sim,
                 "verify: %" PRIu64 " rows differ, the first in %s (kind %d); broken at %" PRIu64,
                 report->difference_count,
                 report->difference_count > 0 ? store_table_name(first->table) : "none",
                 report->difference_count > 0 ? (int)first->kind : -1, report->broken_seq);
    }
    free(report);
    store_memory_close(target);
}

uint64_t sim_check_last_seq(const struct sim *sim, unsigned org)
{
    struct store_txn *txn = NULL;
    struct log_head head = {0};
    struct org_id id;

    ASSERT(uuid_parse(slice_text(sim->model->orgs[org].id), &id.uuid));
    ASSERT(store_begin(sim->store->disk, STORE_READ, &txn) == OK);
    ASSERT(log_read_head(txn, id, &head) == OK);
    store_abort(txn);
    return head.last_seq;
}

void sim_check_store(struct sim *sim, bool whole)
{
    struct store_txn *txn = NULL;
    bool armed = sim->points_armed;

    sim->points_armed = false;
    ASSERT(store_begin(sim->store->disk, STORE_READ, &txn) == OK);
    for (unsigned i = 0; i < sim->model->org_count; i++) {
        check_org(sim, txn, i);
    }
    store_abort(txn);
    if (whole && !sim->failed) {
        check_replay(sim);
    }
    sim->points_armed = armed;
}
