/*
 * sim_model.h: the expected state: every write of a caller, with its result; every event that was
 * shown. Checked against responses as they arrive, and against the disk after each crash and at the
 * end.
 */
#ifndef ERRATA_TESTS_SIM_SIM_MODEL_H
#define ERRATA_TESTS_SIM_SIM_MODEL_H

#include "store/base/slice.h"
#include "store/base/uuid.h"
#include "tests/sim/sim.h"

#define SIM_ORGS_MAX 4
#define SIM_ITEMS_MAX 5 /* items of a batch */
#define SIM_ID_BYTES (UUID_TEXT_BYTES + 1)
#define SIM_LAYOUTS 3

enum sim_write_kind {
    SIM_WRITE_CAPTURE,
    SIM_WRITE_BATCH,
    SIM_WRITE_DOCUMENT,
    SIM_WRITE_TOKEN,
    SIM_WRITE_REVOKE,
    SIM_WRITE_ORG,
    SIM_WRITE_SUGGEST,
    SIM_WRITE_CONFIRM,
    SIM_WRITE_REJECT,
    SIM_WRITE_JUDGE,
    SIM_WRITE_MATCHES,
    SIM_WRITE_EXTRACTION,
    SIM_WRITE_TEMPLATE,
    SIM_WRITE_SETTINGS,
    SIM_WRITE_RETRACT, /* stores nothing if another one retracted the event before */
    SIM_WRITE_VERDICT,
    SIM_WRITE_RULE,
    SIM_WRITE_MERGE,
    SIM_WRITE_SPLIT,
    SIM_WRITE_REVIEW,
    SIM_WRITE_PROPOSAL, /* of a learned rule */
    SIM_WRITE_RULE_STATE,
    SIM_WRITE_IMPORT /* import of learned rules */
};

/* A write with one idempotency key, regardless of how often it is sent. */
struct sim_write {
    struct sim_write *next; /* the one before */
    uint64_t number;
    enum sim_write_kind kind;
    unsigned org; /* organisation of its log */
    unsigned layout; /* layout of a capture */
    bool streamed; /* a document, piece by piece */
    bool cites; /* a reference: it counts once for its subject, under any key */
    const struct sim_write
        *twin; /* the write that cited the same for the same; NULL: it is the first */
    unsigned items; /* number of appended events; each carries its mark */
    struct sim_caller *caller;
    const struct method_info *method;
    char key[48];
    uint8_t *request; /* owned; for an upload: the document */
    size_t request_bytes;
    unsigned tries;
    unsigned under_way;
    int64_t wall_ahead_us; /* the simulation's when it was first sent */
    int64_t crept_us; /* the same */
    bool acknowledged;
    bool is_retracted; /* a retraction of it was sent */
    bool maybe; /* some end of it did not say that nothing was stored */
    uint8_t *answer; /* owned; the first one */
    size_t answer_bytes;
    char ids[SIM_ITEMS_MAX][SIM_ID_BYTES]; /* ids of the events in the response */
    struct sim_caller *subject; /* caller whose token it creates or revokes */
};

/* The shown events of an organisation's log, by number. */
struct sim_shown {
    char id[SIM_ID_BYTES]; /* empty: none */
};

struct sim_org {
    char id[SIM_ID_BYTES]; /* empty: not created yet */
    char name[48];
    struct sim_shown *shown; /* owned; by seq - 1 */
    size_t shown_room;
    uint64_t shown_last;
    uint64_t acknowledged_events; /* number of acknowledged FEEDBACK events */
    uint64_t acknowledged_documents;
    uint64_t acknowledged_suggestions;
    uint64_t
        acknowledged_by_layout[SIM_LAYOUTS]; /* captures, without those that may be retracted */
    uint64_t acknowledged_verdicts;
    uint64_t acknowledged_reviews; /* retracted ones too */
    char alias[SIM_ID_BYTES]; /* a family that a merge made an alias; empty: none yet */
};

struct sim_model {
    struct sim *sim;
    struct sim_org orgs[SIM_ORGS_MAX];
    unsigned org_count;
    struct sim_write *writes; /* newest first */
    uint64_t write_count;
};

void sim_model_open(struct sim *sim, unsigned org_count);
void sim_model_close(struct sim *sim);
/* A write that was not sent yet; the request is copied. */
struct sim_write *sim_model_add(struct sim *sim, struct sim_caller *caller,
                                enum sim_write_kind kind);
void sim_write_set_request(struct sim_write *write, struct slice request);
/* Returns the kind of an item of SIM_WRITE_JUDGE: SIM_WRITE_SUGGEST, SIM_WRITE_CONFIRM or
 * SIM_WRITE_REJECT. */
enum sim_write_kind sim_judgement_of(const struct sim_write *write, unsigned item);
/* The mark of one of its events: no other event has it. */
void sim_write_mark(const struct sim_write *write, unsigned item, char mark[24]);
/* The server reported it as stored, with this response. */
void sim_model_acknowledge(struct sim *sim, struct sim_write *write, struct slice answer);
/* Stores the id in the reply to a write of learned data. A twin has the same id as the first write,
 * except for extractions. */
void sim_keep_learning_ids(struct sim *sim, struct sim_write *write, struct slice answer);
/* The key is still valid, after any jumps of the wall clock. */
bool sim_model_knows_key(const struct sim *sim, const struct sim_write *write);
/* An event was shown to a caller. */
void sim_model_show(struct sim *sim, unsigned org, uint64_t seq, const char *id);

/* The number of the last event in an organisation's log, on the disk. Once nothing goes wrong. */
uint64_t sim_check_last_seq(const struct sim *sim, unsigned org);
/* The durable state keeps every guarantee; `whole`: with the tables rebuilt from the log. */
void sim_check_store(struct sim *sim, bool whole);

#endif
