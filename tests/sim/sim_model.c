/*
 * sim_model.c: everything written, answered and shown.
 */
#include "tests/sim/sim_model.h"

#include "store/base/assert.h"
#include "tests/sim/sim_connection.h"

#include <errata/v1/event_service.pb-c.h>
#include <errata/v1/feedback_service.pb-c.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A key is known for 24 hours, and through jumps of the wall clock; but a server that is started trusts its
 * clock, so then all steps forward since the write count. */
#define KEY_KNOWN_US (23 * SIM_HOUR)

void sim_model_open(struct sim *sim, unsigned org_count)
{
    sim->model = calloc(1, sizeof(*sim->model));
    ASSERT(sim->model != NULL);
    sim->model->sim = sim;
    sim->model->org_count = org_count;
}

void sim_model_close(struct sim *sim)
{
    struct sim_write *write = sim->model->writes;

    while (write != NULL) {
        struct sim_write *next = write->next;

        free(write->request);
        free(write->answer);
        free(write);
        write = next;
    }
    for (unsigned i = 0; i < SIM_ORGS_MAX; i++) {
        free(sim->model->orgs[i].shown);
    }
    free(sim->model);
    sim->model = NULL;
}

struct sim_write *sim_model_add(struct sim *sim, struct sim_caller *caller,
                                enum sim_write_kind kind)
{
    struct sim_write *write = calloc(1, sizeof(*write));

    ASSERT(write != NULL);
    write->next = sim->model->writes;
    sim->model->writes = write;
    write->number = ++sim->model->write_count;
    write->kind = kind;
    write->org = caller->org;
    write->items = 1;
    write->caller = caller;
    (void)snprintf(write->key, sizeof(write->key), "key-%" PRIu64, write->number);
    return write;
}

void sim_write_set_request(struct sim_write *write, struct slice request)
{
    write->request = malloc(request.size + 1);
    ASSERT(write->request != NULL);
    memcpy(write->request, request.data, request.size);
    write->request_bytes = request.size;
}

void sim_write_mark(const struct sim_write *write, unsigned item, char mark[24])
{
    (void)snprintf(mark, 24, "m%" PRIu64 "-%ux", write->number, item);
}

enum sim_write_kind sim_judgement_of(const struct sim_write *write, unsigned item)
{
    static const enum sim_write_kind kinds[] = {SIM_WRITE_SUGGEST, SIM_WRITE_CONFIRM,
                                                SIM_WRITE_REJECT};

    return kinds[(write->number + item) % (sizeof(kinds) / sizeof(kinds[0]))];
}

static void keep_ids(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__CaptureFeedbackEventResponse *one = NULL;
    Errata__V1__BatchCaptureFeedbackEventsResponse *batch = NULL;

    if (write->kind == SIM_WRITE_CAPTURE) {
        one = errata__v1__capture_feedback_event_response__unpack(NULL, answer.size, answer.data);
        if (one == NULL || one->event == NULL) {
            sim_fail(sim, "the answer to capture %" PRIu64 " has no event", write->number);
        } else {
            (void)snprintf(write->ids[0], SIM_ID_BYTES, "%s", one->event->id);
        }
        errata__v1__capture_feedback_event_response__free_unpacked(one, NULL);
        return;
    }
    batch =
        errata__v1__batch_capture_feedback_events_response__unpack(NULL, answer.size, answer.data);
    if (batch == NULL || batch->n_events != write->items) {
        sim_fail(sim, "the answer to batch %" PRIu64 " has not %u events", write->number,
                 write->items);
    }
    for (unsigned i = 0; batch != NULL && i < batch->n_events && i < SIM_ITEMS_MAX; i++) {
        (void)snprintf(write->ids[i], SIM_ID_BYTES, "%s", batch->events[i]->id);
    }
    errata__v1__batch_capture_feedback_events_response__free_unpacked(batch, NULL);
}

static void keep_retraction_id(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__RetractEventResponse *read =
        errata__v1__retract_event_response__unpack(NULL, answer.size, answer.data);

    if (read == NULL || read->retraction == NULL) {
        sim_fail(sim, "the answer to retraction %" PRIu64 " has none", write->number);
    } else {
        (void)snprintf(write->ids[0], SIM_ID_BYTES, "%s", read->retraction->id);
    }
    errata__v1__retract_event_response__free_unpacked(read, NULL);
}

static void count(struct sim_org *org, const struct sim_write *write)
{
    switch (write->kind) {
    case SIM_WRITE_CAPTURE:
        org->acknowledged_by_layout[write->layout]++;
        org->acknowledged_events++;
        return;
    case SIM_WRITE_BATCH:
        org->acknowledged_events += write->items;
        return;
    case SIM_WRITE_DOCUMENT:
        org->acknowledged_documents++;
        return;
    case SIM_WRITE_SUGGEST:
        org->acknowledged_suggestions++;
        return;
    case SIM_WRITE_CONFIRM:
    case SIM_WRITE_REJECT:
        org->acknowledged_events++;
        return;
    case SIM_WRITE_JUDGE:
        for (unsigned i = 0; i < write->items; i++) {
            bool suggests = sim_judgement_of(write, i) == SIM_WRITE_SUGGEST;

            org->acknowledged_suggestions += suggests ? 1 : 0;
            org->acknowledged_events += suggests ? 0 : 1;
        }
        return;
    case SIM_WRITE_TOKEN:
    case SIM_WRITE_REVOKE:
    case SIM_WRITE_ORG:
    case SIM_WRITE_MATCHES:
    case SIM_WRITE_EXTRACTION:
    case SIM_WRITE_TEMPLATE:
    case SIM_WRITE_SETTINGS:
    case SIM_WRITE_RETRACT:
    case SIM_WRITE_RULE:
    case SIM_WRITE_MERGE:
    case SIM_WRITE_SPLIT:
    case SIM_WRITE_PROPOSAL:
    case SIM_WRITE_RULE_STATE:
    case SIM_WRITE_IMPORT:
        return;
    case SIM_WRITE_VERDICT:
        org->acknowledged_verdicts++;
        return;
    case SIM_WRITE_REVIEW:
        org->acknowledged_reviews++;
        return;
    }
}

bool sim_model_knows_key(const struct sim *sim, const struct sim_write *write)
{
    return sim->started_ahead_us - write->wall_ahead_us < KEY_KNOWN_US &&
           sim->crept_us - write->crept_us < KEY_KNOWN_US;
}

void sim_model_acknowledge(struct sim *sim, struct sim_write *write, struct slice answer)
{
    if (write->acknowledged) {
        if (sim_model_knows_key(sim, write) &&
            !slice_equal(answer, slice_of(write->answer, write->answer_bytes))) {
            sim_fail(sim, "write %" PRIu64 " under its key again: another answer", write->number);
        }
        return;
    }
    write->acknowledged = true;
    write->answer = malloc(answer.size + 1);
    ASSERT(write->answer != NULL);
    if (answer.size > 0) {
        memcpy(write->answer, answer.data, answer.size);
    }
    write->answer_bytes = answer.size;
    sim->counts[SIM_WRITES]++;
    if (write->kind == SIM_WRITE_CAPTURE || write->kind == SIM_WRITE_BATCH) {
        keep_ids(sim, write, answer);
    } else if (write->kind == SIM_WRITE_RETRACT) {
        keep_retraction_id(sim, write, answer);
    } else if (write->kind >= SIM_WRITE_SUGGEST) {
        sim_keep_learning_ids(sim, write, answer);
    }
    count(&sim->model->orgs[write->org], write);
}

void sim_model_show(struct sim *sim, unsigned org_index, uint64_t seq, const char *id)
{
    struct sim_org *org = &sim->model->orgs[org_index];

    if (seq == 0 || seq > 1000000) {
        sim_fail(sim, "an event has the number %" PRIu64, seq);
        return;
    }
    if (seq > org->shown_room) {
        size_t room = seq * 2 + 64;

        org->shown = realloc(org->shown, room * sizeof(*org->shown));
        ASSERT(org->shown != NULL);
        memset(org->shown + org->shown_room, 0, (room - org->shown_room) * sizeof(*org->shown));
        org->shown_room = room;
    }
    if (org->shown[seq - 1].id[0] == '\0') {
        (void)snprintf(org->shown[seq - 1].id, SIM_ID_BYTES, "%s", id);
    } else if (strcmp(org->shown[seq - 1].id, id) != 0) {
        sim_fail(sim, "event %" PRIu64 " of organisation %u was shown as %s, and now is %s", seq,
                 org_index, org->shown[seq - 1].id, id);
    }
    if (seq > org->shown_last) {
        org->shown_last = seq;
    }
}
