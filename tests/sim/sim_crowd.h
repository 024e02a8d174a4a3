/*
 * sim_crowd.h: the callers: several organisations with several tokens and roles each, every one
 * with a channel of the client library. They write, read what they wrote, watch, repeat unanswered
 * writes, cancel, and ask for data of others. Each call ends once, in time, with a response that
 * the model allows.
 */
#ifndef ERRATA_TESTS_SIM_SIM_CROWD_H
#define ERRATA_TESTS_SIM_SIM_CROWD_H

#include "tests/sim/sim_connection.h"
#include "tests/sim/sim_model.h"

#include <errata/v1/role.fields.h>
#include <protobuf-c/protobuf-c.h>

#define SIM_CALLERS_MAX 20
/* A call without a deadline of its own. */
#define SIM_STREAM_TIMEOUT_MS 60000
/* Maximum delay of a call's end after its deadline. */
#define SIM_LATE_US SIM_S
/* Maximum pages of one walk through a list. */
#define SIM_PAGES_MAX 200

enum sim_op {
    SIM_CAPTURE,
    SIM_BATCH,
    SIM_INGEST,
    SIM_INGEST_STREAM,
    SIM_CREATE_ORG,
    SIM_CREATE_TOKEN,
    SIM_REVOKE_TOKEN,
    SIM_GET_FEEDBACK, /* an acknowledged event */
    SIM_EXAMPLES,
    SIM_LIST_FEEDBACK,
    SIM_LIST_EVENTS,
    SIM_GET_EVENT,
    SIM_WATCH,
    SIM_GET_DOCUMENT,
    SIM_LIST_DOCUMENTS,
    SIM_GET_PROFILE,
    SIM_LIST_PROFILES,
    SIM_FINGERPRINT,
    SIM_LIST_ORGS,
    SIM_LIST_TOKENS,
    SIM_SERVER_INFO,
    SIM_HEALTH,
    SIM_HEALTH_WATCH,
    SIM_DENIED, /* a viewer writes */
    SIM_FOREIGN, /* an id of another organisation */
    SIM_FOREIGN_TOKENS, /* uses tokens of another organisation */
    SIM_NONSENSE, /* a request that is not valid */
    SIM_SUGGEST,
    SIM_CONFIRM,
    SIM_REJECT,
    SIM_JUDGE,
    SIM_RECORD_MATCHES,
    SIM_EXTRACTION,
    SIM_TEMPLATE,
    SIM_SETTINGS,
    SIM_MATCH,
    SIM_PROMPT,
    SIM_GET_MAPPING, /* reads a suggested mapping */
    SIM_LIST_MAPPINGS,
    SIM_ANALYTICS,
    SIM_REPORT,
    SIM_FOREIGN_REFERENCE, /* the data served to another organisation */
    SIM_RETRACT, /* an acknowledged event, perhaps again */
    SIM_VERDICT,
    SIM_RULE, /* a rule is enabled or disabled */
    SIM_LIST_RULES,
    SIM_VERDICT_STATS,
    SIM_SCORE,
    SIM_PROPOSE_RULE,
    SIM_RULE_STATE, /* of a rule that was proposed */
    SIM_IMPORT_RULES,
    SIM_LIST_FAMILIES,
    SIM_MERGE,
    SIM_SPLIT, /* of an alias, or of documents */
    SIM_REVIEW,
    SIM_LIST_REVIEWS,
    SIM_OPS
};

/* The last served content, to be cited. */
enum sim_reference {
    SIM_REFERENCE_EXAMPLES,
    SIM_REFERENCE_PROMPT,
    SIM_REFERENCE_MATCHES,
    SIM_REFERENCES
};

#define SIM_REFERENCE_BYTES 512
/* The adjustment of proposed and imported rules. */
#define SIM_RULE_ADJUSTMENT 0.02

struct sim_member {
    struct sim_caller caller; /* first */
    enum role role;
    bool server; /* the token has the server flag */
    bool ready; /* the member has a token */
    bool revoking; /* the token is being revoked */
    bool revoked; /* the token is revoked */
    char key_id[9];
    uint64_t watch_next; /* the number of the next event that it is to be shown */
    bool watches;
    unsigned calls_under_way;
    char references[SIM_REFERENCES][SIM_REFERENCE_BYTES]; /* empty: none yet */
    char rule_id[SIM_ID_BYTES]; /* id of the rule that was listed last; empty: none yet */
};

struct sim_call {
    struct sim_call *next;
    struct sim_member *member;
    enum sim_op op;
    const struct method_info *method;
    struct client_call *handle;
    struct sim_write *write; /* the write that it makes; NULL: a read */
    const struct sim_write *about; /* the object of the request */
    uint64_t number;
    int64_t due_us; /* INT64_MAX: no deadline */
    bool ended;
    bool cancelled; /* cancelled by its caller */
    bool strict; /* faults are disabled: it must succeed */
    bool was_revoked; /* the token was gone when it began */
    bool paused;
    unsigned replies;
    uint8_t *reply; /* owned; the last one */
    size_t reply_bytes;
    size_t sent_bytes; /* sent bytes of a streamed document */
    bool named; /* the first message has been sent */
    /* The acknowledged writes before it began. */
    uint64_t least;
    unsigned layout; /* of SIM_EXAMPLES */
    /* A walk through a list. */
    char page_token[600];
    unsigned pages;
    uint64_t seen;
    uint64_t last_seq;
};

struct sim_crowd {
    struct sim *sim;
    struct sim_member members[SIM_CALLERS_MAX];
    unsigned member_count;
    unsigned member_room; /* number of planned members */
    unsigned setup_at; /* the next organisation or token to make */
    bool set_up;
    struct sim_call *calls; /* all calls of the run, newest first; freed at its end */
    uint64_t call_count;
    uint64_t under_way; /* number of running calls, except watches */
    unsigned steps; /* number of calls still to be started */
    bool settled; /* faults have been disabled long enough */
    bool finishing; /* no new calls are started */
};

/* --- sim_crowd.c: callers and their actions --- */

void sim_crowd_open(struct sim *sim, unsigned steps);
void sim_crowd_close(struct sim *sim);
/* All steps were begun, and all of them have ended. */
bool sim_crowd_is_done(const struct sim *sim);
/* Checks that no call has exceeded its deadline. */
void sim_crowd_check_late(struct sim *sim);
/* The last reads: acknowledged writes are read by their owners. */
void sim_crowd_audit(struct sim *sim);
/* Every watch has shown all that is in its log; false while one has not. */
bool sim_crowd_watched_all(const struct sim *sim, unsigned *ret_caller);
/* Checks that no watch has outlived its token. */
void sim_crowd_check_revoked(struct sim *sim);
/* Ends the watches. */
void sim_crowd_finish(struct sim *sim);
/* Continues the setup after one of its calls. */
void sim_crowd_setup_next(struct sim *sim);
/* A new member, that has no token yet; NULL if there is no room. */
struct sim_member *sim_crowd_add(struct sim *sim, unsigned org, enum role role);
void sim_crowd_give_token(struct sim *sim, struct sim_member *member, const char *secret,
                          const char *key_id);
/* A watch begins, or begins again. */
void sim_crowd_watch(struct sim *sim, struct sim_member *member);

/* --- sim_requests.c: their requests --- */

/* Begins a call of this kind, where the member can. False: it had nothing to ask. */
bool sim_request(struct sim_member *member, enum sim_op op);
/* A call of this kind, that is still to be started. */
struct sim_call *sim_new_call(struct sim_member *member, enum sim_op op);
/* Sends a write whose request is this. */
void sim_send_new_write(struct sim *sim, struct sim_write *write, const ProtobufCMessage *message);
/* Draws an acknowledged write of this kind, of the member's organisation or (`foreign`) of another;
 * NULL: there is none. */
const struct sim_write *sim_draw_write(struct sim_member *member, enum sim_write_kind kind,
                                       bool foreign);
/* Sends a write, for the first time or again. */
void sim_send_write(struct sim *sim, struct sim_write *write);
/* The next page of a walk. */
void sim_next_page(struct sim_call *call);
void sim_request_token(struct sim *sim, struct sim_member *by, struct sim_member *subject);
void sim_request_org(struct sim *sim, struct sim_member *by, unsigned org);
/* Reads what a write stored. */
void sim_request_about(struct sim_member *member, const struct sim_write *write);
void sim_request_watch(struct sim_member *member);
/* The next messages of a document by stream. */
void sim_send_document(struct sim_call *call);

/* --- sim_learning.c: mappings, prompts, extractions, analytics --- */

/* Like sim_request, for the operations from SIM_SUGGEST on. */
bool sim_request_learning(struct sim_member *member, enum sim_op op);
/* Reads a mapping that a write suggested. */
void sim_request_mapping(struct sim_member *member, const struct sim_write *write);
void sim_judge_learning(struct sim_call *call, struct slice reply);
/* Requests about verdicts and rules. Returns false if there is no rule to enable. */
bool sim_request_verdicts(struct sim_member *member, enum sim_op op);
/* Judges a list of rules or statistics. */
void sim_judge_verdicts(struct sim_call *call, struct slice reply);
/* Keeps the id that a submission was answered with. */
void sim_keep_verdict_id(struct sim *sim, struct sim_write *write, struct slice answer);
/* Requests that propose, decide about and import rules. Returns false if there is no rule to decide about. */
bool sim_request_rules(struct sim_member *member, enum sim_op op);
/* Keeps the id that a proposal or decision was answered with. */
void sim_keep_rule_id(struct sim *sim, struct sim_write *write, struct slice answer);
/* Writes the pattern of a rule that was proposed; false if there is none yet. */
bool sim_draw_rule_pattern(struct sim_member *member, char text[24]);
/* Requests about reviews of runs. */
bool sim_request_reviews(struct sim_member *member, enum sim_op op);
/* Judges a list of reviews. */
void sim_judge_reviews(struct sim_call *call, struct slice reply);
/* Keeps the id that a review was answered with. */
void sim_keep_review_id(struct sim *sim, struct sim_write *write, struct slice answer);
/* Requests about layout families. Returns false if there is no family or document to change. */
bool sim_request_families(struct sim_member *member, enum sim_op op);
/* Judges a list of families. */
void sim_judge_families(struct sim_call *call, struct slice reply);
/* Keeps the id of the event that a merge or split was answered with. */
void sim_keep_family_event_id(struct sim *sim, struct sim_write *write, struct slice answer);
/* Served content is cited later. */
void sim_keep_reference(struct sim_call *call, enum sim_reference kind, const char *reference);

/* --- sim_calls.c: their life --- */

struct sim_call *sim_call_new(struct sim_member *member, enum sim_op op, const char *path);
/* Starts the call; `message` is NULL for a document that is sent as a stream. */
void sim_call_start(struct sim_call *call, const ProtobufCMessage *message);
void sim_call_start_bytes(struct sim_call *call, struct slice request);

/* --- sim_judge.c: allowed results --- */

void sim_judge_reply(struct sim_call *call, struct slice reply);
void sim_judge_end(struct sim_call *call, const struct client_status *status);

#endif
