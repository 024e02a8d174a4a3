/*
 * sim_crowd.c: the callers, and the schedule of their actions.
 */
#include "tests/sim/sim_crowd.h"

#include "store/base/assert.h"
#include "tests/sim/sim_server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Calls of one member at once. */
#define CALLS_AT_ONCE 6
/* Acknowledged writes that are asked for at the end. */
#define AUDIT_WRITES 12
/* How much more often documents and families are requested in a run about them. */
#define FAMILIES_FACTOR 25

/* An operation of a role, and its frequency. */
struct habit {
    enum sim_op op;
    unsigned weight;
    role_set roles;
};

#define ROLE(role) (1u << ROLE_##role)
#define WRITERS (ROLE(OPERATOR) | ROLE(SERVICE) | ROLE(INTEGRATOR) | ROLE(ADMIN))
#define MEASURERS (ROLE(OPERATOR) | ROLE(SERVICE) | ROLE(ADMIN))
#define ALL (WRITERS | ROLE(VIEWER))

static const struct habit habits[] = {
    {SIM_CAPTURE, 30, WRITERS},
    {SIM_BATCH, 12, ROLE(INTEGRATOR) | ROLE(ADMIN)},
    {SIM_INGEST, 6, MEASURERS},
    {SIM_INGEST_STREAM, 6, MEASURERS},
    {SIM_CREATE_TOKEN, 5, ROLE(ADMIN)},
    {SIM_REVOKE_TOKEN, 6, ROLE(ADMIN)},
    {SIM_GET_FEEDBACK, 8, ALL},
    {SIM_EXAMPLES, 6, MEASURERS},
    {SIM_LIST_FEEDBACK, 2, ALL},
    {SIM_LIST_EVENTS, 2, ALL},
    {SIM_GET_EVENT, 3, ALL},
    {SIM_GET_DOCUMENT, 3, ALL},
    {SIM_LIST_DOCUMENTS, 2, ALL},
    {SIM_GET_PROFILE, 2, ALL},
    {SIM_LIST_PROFILES, 1, ALL},
    {SIM_FINGERPRINT, 1, MEASURERS},
    {SIM_LIST_ORGS, 1, ROLE(ADMIN)},
    {SIM_LIST_TOKENS, 1, ROLE(ADMIN)},
    {SIM_SERVER_INFO, 1, ROLE(ADMIN)},
    {SIM_HEALTH, 1, ALL},
    {SIM_HEALTH_WATCH, 1, ALL},
    {SIM_DENIED, 2, ROLE(VIEWER)},
    {SIM_FOREIGN, 3, ALL},
    {SIM_FOREIGN_TOKENS, 2, ROLE(ADMIN)},
    {SIM_NONSENSE, 1, WRITERS},
    {SIM_SUGGEST, 5, MEASURERS},
    {SIM_CONFIRM, 6, MEASURERS},
    {SIM_REJECT, 3, MEASURERS},
    {SIM_JUDGE, 4, MEASURERS},
    {SIM_MATCH, 6, MEASURERS},
    {SIM_RECORD_MATCHES, 6, MEASURERS},
    {SIM_PROMPT, 4, MEASURERS},
    {SIM_EXTRACTION, 9, MEASURERS},
    {SIM_TEMPLATE, 2, ROLE(ADMIN)},
    {SIM_SETTINGS, 2, ROLE(ADMIN)},
    {SIM_LIST_MAPPINGS, 2, ALL},
    {SIM_ANALYTICS, 2, ROLE(INTEGRATOR) | ROLE(ADMIN)},
    {SIM_REPORT, 2, ROLE(INTEGRATOR) | ROLE(ADMIN)},
    {SIM_FOREIGN_REFERENCE, 2, MEASURERS},
    {SIM_RETRACT, 8, ROLE(ADMIN)},
    {SIM_VERDICT, 6, MEASURERS},
    {SIM_RULE, 2, ROLE(REVIEWER) | ROLE(ADMIN)},
    {SIM_LIST_RULES, 2, ALL},
    {SIM_VERDICT_STATS, 1, ROLE(OPERATOR) | ROLE(REVIEWER) | ROLE(INTEGRATOR) | ROLE(ADMIN)},
    {SIM_LIST_FAMILIES, 2, ALL},
    {SIM_MERGE, 12, ROLE(REVIEWER) | ROLE(ADMIN)},
    {SIM_SPLIT, 18, ROLE(REVIEWER) | ROLE(ADMIN)},
    {SIM_REVIEW, 6, MEASURERS},
    {SIM_LIST_REVIEWS, 2, ALL},
    {SIM_PROPOSE_RULE, 2, ROLE(OPERATOR) | ROLE(REVIEWER) | ROLE(SERVICE) | ROLE(ADMIN)},
    {SIM_RULE_STATE, 4, ROLE(REVIEWER) | ROLE(ADMIN)},
    {SIM_IMPORT_RULES, 2, ROLE(INTEGRATOR) | ROLE(ADMIN)},
    {SIM_SCORE, 4, ROLE(OPERATOR) | ROLE(REVIEWER) | ROLE(SERVICE) | ROLE(ADMIN)},
};

/* Returns how often an operation is requested. */
static unsigned weight_of(const struct sim *sim, const struct habit *habit)
{
    bool is_of_families = habit->op == SIM_INGEST || habit->op == SIM_INGEST_STREAM ||
                          habit->op == SIM_LIST_FAMILIES || habit->op == SIM_MERGE ||
                          habit->op == SIM_SPLIT;

    return sim->profile.families && is_of_families ? FAMILIES_FACTOR * habit->weight
                                                   : habit->weight;
}

static enum sim_op draw_op(struct sim *sim, const struct sim_member *member)
{
    enum sim_op drawn = SIM_HEALTH;
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
        if ((habits[i].roles & (1u << member->role)) != 0) {
            unsigned weight = weight_of(sim, &habits[i]);

            sum += weight;
            if (sim_draw(sim, sum) < weight) {
                drawn = habits[i].op;
            }
        }
    }
    return drawn;
}

static void on_think(struct sim *sim, void *object, uint64_t number)
{
    struct sim_member *member = object;
    struct sim_crowd *crowd = sim->crowd;

    (void)number;
    if (crowd->steps == 0 || crowd->finishing || (member->revoked && sim_draw(sim, 3) == 0)) {
        return;
    }
    if (member->calls_under_way < CALLS_AT_ONCE && sim_request(member, draw_op(sim, member))) {
        crowd->steps--;
    }
    sim_at(sim, sim_delay(sim, SIM_MS, 400 * SIM_MS), on_think, member, 0);
}

void sim_crowd_watch(struct sim *sim, struct sim_member *member)
{
    if (!member->watches && !sim->crowd->finishing && !member->revoking) {
        member->watches = true;
        sim_request_watch(member);
    }
}

/* --- who there is --- */

struct sim_member *sim_crowd_add(struct sim *sim, unsigned org, enum role role)
{
    struct sim_crowd *crowd = sim->crowd;
    struct sim_member *member = NULL;

    if (crowd->member_count == SIM_CALLERS_MAX) {
        return NULL;
    }
    member = &crowd->members[crowd->member_count];
    member->caller.number = crowd->member_count++;
    member->caller.org = org;
    member->role = role;
    member->watch_next = 1;
    return member;
}

void sim_crowd_give_token(struct sim *sim, struct sim_member *member, const char *secret,
                          const char *key_id)
{
    if (member->ready) {
        return;
    }
    (void)snprintf(member->caller.token, sizeof(member->caller.token), "%s", secret);
    (void)snprintf(member->key_id, sizeof(member->key_id), "%s", key_id);
    sim_caller_open(&member->caller, sim);
    member->ready = true;
    if (member->role == ROLE_VIEWER) {
        sim_crowd_watch(sim, member);
    }
    if (sim->crowd->set_up) {
        sim_at(sim, sim_delay(sim, SIM_MS, 100 * SIM_MS), on_think, member, 0);
    }
}

static void plan_members(struct sim *sim)
{
    static const enum role roles[] = {ROLE_ADMIN, ROLE_SERVICE, ROLE_VIEWER};
    struct sim_member *root = sim_crowd_add(sim, 0, ROLE_ADMIN);

    root->server = true;
    root->caller.sees_all = true;
    for (unsigned org = 0; org < sim->model->org_count; org++) {
        for (unsigned i = org == 0; i < 3; i++) {
            (void)sim_crowd_add(sim, org, roles[i]);
        }
    }
    (void)sim_crowd_add(sim, 0, ROLE_INTEGRATOR);
    (void)sim_crowd_add(sim, sim->model->org_count - 1, ROLE_OPERATOR);
    sim->crowd->member_room = sim->crowd->member_count;
}

/* Organisations first, then each member's token; then all members begin. */
void sim_crowd_setup_next(struct sim *sim)
{
    struct sim_crowd *crowd = sim->crowd;
    struct sim_member *root = &crowd->members[0];
    unsigned orgs = sim->model->org_count - 1;
    unsigned at = crowd->setup_at++;

    if (at < orgs) {
        sim_request_org(sim, root, at + 1);
    } else if (at - orgs + 1 < crowd->member_room) {
        sim_request_token(sim, root, &crowd->members[at - orgs + 1]);
    } else {
        crowd->set_up = true;
        sim_trace(sim, "crowd: %u callers begin", crowd->member_count);
        for (unsigned i = 1; i < crowd->member_count; i++) {
            sim_at(sim, sim_delay(sim, SIM_MS, 100 * SIM_MS), on_think, &crowd->members[i], 0);
        }
    }
}

/* The first administrator's token is in a file once the server serves. */
static void on_look_for_token(struct sim *sim, void *object, uint64_t number)
{
    struct sim_member *root = object;

    (void)number;
    if (!sim_server_is_up(sim)) {
        sim_at(sim, 20 * SIM_MS, on_look_for_token, root, 0);
        return;
    }
    sim_crowd_give_token(sim, root, sim->server->admin_token, "");
    sim_crowd_setup_next(sim);
}

void sim_crowd_open(struct sim *sim, unsigned steps)
{
    sim->crowd = calloc(1, sizeof(*sim->crowd));
    ASSERT(sim->crowd != NULL);
    sim->crowd->sim = sim;
    sim->crowd->steps = steps;
    plan_members(sim);
    sim_at(sim, 0, on_look_for_token, &sim->crowd->members[0], 0);
}

void sim_crowd_close(struct sim *sim)
{
    struct sim_crowd *crowd = sim->crowd;
    struct sim_call *call = NULL;

    crowd->finishing = true;
    for (unsigned i = 0; i < crowd->member_count; i++) {
        if (crowd->members[i].ready) {
            sim_caller_shut(&crowd->members[i].caller);
            sim_caller_close(&crowd->members[i].caller);
        }
    }
    for (call = crowd->calls; call != NULL; call = call->next) {
        if (!call->ended && !sim->failed) {
            sim_fail(sim, "call %" PRIu64 " never ended", call->number);
        }
    }
    call = crowd->calls;
    while (call != NULL) {
        struct sim_call *next = call->next;

        free(call->reply);
        free(call);
        call = next;
    }
    free(crowd);
    sim->crowd = NULL;
}

/* --- inspection from outside --- */

bool sim_crowd_is_done(const struct sim *sim)
{
    return sim->crowd->set_up && sim->crowd->steps == 0 && sim->crowd->under_way == 0;
}

void sim_crowd_check_late(struct sim *sim)
{
    for (const struct sim_call *at = sim->crowd->calls; at != NULL; at = at->next) {
        if (!at->ended && sim_now(sim) > at->due_us) {
            sim_fail(sim, "call %" PRIu64 " (%.*s) hangs: it is over its deadline", at->number,
                     (int)at->method->name.size, (const char *)at->method->name.data);
            return;
        }
    }
}

static struct sim_member *find_reader(struct sim *sim, unsigned org)
{
    for (unsigned i = 1; i < sim->crowd->member_room; i++) {
        struct sim_member *member = &sim->crowd->members[i];

        if (member->caller.org == org && member->role == ROLE_SERVICE) {
            return member;
        }
    }
    return NULL;
}

void sim_crowd_audit(struct sim *sim)
{
    unsigned left = AUDIT_WRITES;

    sim->crowd->settled = true;
    for (const struct sim_write *at = sim->model->writes; at != NULL && left > 0; at = at->next) {
        struct sim_member *reader = find_reader(sim, at->org);

        if (at->acknowledged && reader != NULL && reader->ready) {
            sim_request_about(reader, at);
            left--;
        }
    }
    for (unsigned org = 0; org < sim->model->org_count; org++) {
        struct sim_member *reader = find_reader(sim, org);

        if (reader != NULL && reader->ready) {
            (void)sim_request(reader, SIM_LIST_EVENTS);
            (void)sim_request(reader, SIM_EXAMPLES);
            (void)sim_request(reader, SIM_LIST_MAPPINGS);
            (void)sim_request(reader, SIM_CAPTURE);
        }
    }
}

bool sim_crowd_watched_all(const struct sim *sim, unsigned *ret_caller)
{
    for (unsigned i = 0; i < sim->crowd->member_count; i++) {
        const struct sim_member *member = &sim->crowd->members[i];

        *ret_caller = i;
        if (member->ready && member->role == ROLE_VIEWER && !member->revoking &&
            member->watch_next <= sim_check_last_seq(sim, member->caller.org)) {
            return false;
        }
    }
    return true;
}

void sim_crowd_check_revoked(struct sim *sim)
{
    for (unsigned i = 0; i < sim->crowd->member_count; i++) {
        if (sim->crowd->members[i].revoked && sim->crowd->members[i].watches) {
            sim_fail(sim, "caller %u watches on with a revoked token", i);
        }
    }
}

void sim_crowd_finish(struct sim *sim)
{
    sim->crowd->finishing = true;
    for (struct sim_call *at = sim->crowd->calls; at != NULL; at = at->next) {
        if (!at->ended && at->handle != NULL) {
            client_call_cancel(at->member->caller.channel, at->handle);
        }
    }
}
