/*
 * sim_rules.c: requests that propose, decide about and import learned rules. The patterns of these rules carry the mark
 * of their write; rules that are learned from verdicts have other patterns.
 */
#include "tests/sim/sim_crowd.h"

#include "store/base/assert.h"

#include <errata/v1/learning_service.pb-c.h>
#include <errata/v1/verdict_service.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DOCUMENT_BYTES 1024
#define PATTERN_BYTES 32
/* New rules of an imported document. */
#define IMPORTED_RULES 2

static struct sim *sim_of(const struct sim_member *member)
{
    return member->caller.sim;
}

/* Writes the pattern of an item of a write: the organisation's canary, and the mark. */
static void pattern_of(const struct sim_write *write, unsigned item, char text[PATTERN_BYTES])
{
    char mark[24] = "";

    sim_write_mark(write, item, mark);
    (void)snprintf(text, PATTERN_BYTES, "CN%cRY %s", (char)('a' + write->org), mark);
}

static void propose(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_PROPOSAL);
    Errata__V1__ProposeArtifactRequest request = ERRATA__V1__PROPOSE_ARTIFACT_REQUEST__INIT;
    Errata__V1__ProposedRule rule = ERRATA__V1__PROPOSED_RULE__INIT;
    char pattern[PATTERN_BYTES] = "";
    char reason[] = "seen";

    pattern_of(write, 0, pattern);
    rule.rule_type = ERRATA__V1__LEARNED_RULE_TYPE__LEARNED_RULE_TYPE_MISSED_INDICATOR;
    rule.pattern = pattern;
    rule._confidence_adjustment_case =
        ERRATA__V1__PROPOSED_RULE___CONFIDENCE_ADJUSTMENT_CONFIDENCE_ADJUSTMENT;
    rule.confidence_adjustment = SIM_RULE_ADJUSTMENT;
    request.proposal_case = ERRATA__V1__PROPOSE_ARTIFACT_REQUEST__PROPOSAL_LEARNED_RULE;
    request.learned_rule = &rule;
    request.reason = reason;
    sim_send_new_write(sim, write, &request.base);
}

/* Sets the state of a rule that was proposed; the reason carries the mark. */
static bool set_state(struct sim_member *member)
{
    static const Errata__V1__ArtifactState states[] = {
        ERRATA__V1__ARTIFACT_STATE__ARTIFACT_STATE_SHADOW,
        ERRATA__V1__ARTIFACT_STATE__ARTIFACT_STATE_ACTIVE,
        ERRATA__V1__ARTIFACT_STATE__ARTIFACT_STATE_RETIRED,
    };
    struct sim *sim = sim_of(member);
    const struct sim_write *proposal = sim_draw_write(member, SIM_WRITE_PROPOSAL, false);
    Errata__V1__SetArtifactStateRequest request = ERRATA__V1__SET_ARTIFACT_STATE_REQUEST__INIT;
    struct sim_write *write = NULL;
    char reason[PATTERN_BYTES] = "";

    if (proposal == NULL) {
        return false;
    }
    write = sim_model_add(sim, &member->caller, SIM_WRITE_RULE_STATE);
    pattern_of(write, 0, reason);
    request.artifact_id = (char *)(uintptr_t)proposal->ids[0];
    request.state = states[sim_draw(sim, sizeof(states) / sizeof(states[0]))];
    request.reason = reason;
    sim_send_new_write(sim, write, &request.base);
    return true;
}

/* Appends one rule to a document. */
static size_t put_rule(char document[DOCUMENT_BYTES], size_t at, const char *pattern,
                       uint64_t count)
{
    int put =
        snprintf(document + at, DOCUMENT_BYTES - at,
                 "%s{\"rule_type\":\"missed_indicator\",\"pattern\":\"%s\","
                 "\"confidence_adjustment\":%.2f,\"learned_from_feedback_count\":%" PRIu64 "}",
                 document[at - 1] == '[' ? "" : ",", pattern, SIM_RULE_ADJUSTMENT, count);

    ASSERT(put > 0 && (size_t)put < DOCUMENT_BYTES - at);
    return at + (size_t)put;
}

/* Imports new rules, and sometimes one that was proposed. */
static void import(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    const struct sim_write *proposal =
        sim_draw(sim, 2) == 0 ? sim_draw_write(member, SIM_WRITE_PROPOSAL, false) : NULL;
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_IMPORT);
    Errata__V1__ImportLearnedRulesRequest request = ERRATA__V1__IMPORT_LEARNED_RULES_REQUEST__INIT;
    char document[DOCUMENT_BYTES] = "{\"schema_version\":1,\"rules\":[";
    char pattern[PATTERN_BYTES] = "";
    size_t at = strlen(document);

    write->items = IMPORTED_RULES;
    for (unsigned i = 0; i < IMPORTED_RULES; i++) {
        pattern_of(write, i, pattern);
        at = put_rule(document, at, pattern, sim_draw(sim, 5));
    }
    if (proposal != NULL) {
        pattern_of(proposal, 0, pattern);
        at = put_rule(document, at, pattern, sim_draw(sim, 5));
    }
    (void)snprintf(document + at, sizeof(document) - at, "]}");
    request.document_json = document;
    sim_send_new_write(sim, write, &request.base);
}

bool sim_request_rules(struct sim_member *member, enum sim_op op)
{
    if (op == SIM_RULE_STATE) {
        return set_state(member);
    }
    if (op == SIM_PROPOSE_RULE) {
        propose(member);
    } else {
        import(member);
    }
    return true;
}

bool sim_draw_rule_pattern(struct sim_member *member, char text[24])
{
    const struct sim_write *proposal = sim_draw_write(member, SIM_WRITE_PROPOSAL, false);
    char pattern[PATTERN_BYTES] = "";

    if (proposal == NULL) {
        return false;
    }
    pattern_of(proposal, 0, pattern);
    (void)snprintf(text, 24, "%.23s", pattern);
    return true;
}

static void keep(struct sim *sim, struct sim_write *write, const char *id)
{
    if (id == NULL) {
        sim_fail(sim, "the answer to write %" PRIu64 " has no id", write->number);
    } else {
        (void)snprintf(write->ids[0], SIM_ID_BYTES, "%s", id);
    }
}

static void keep_import(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__ImportLearnedRulesResponse *imported =
        errata__v1__import_learned_rules_response__unpack(NULL, answer.size, answer.data);

    if (imported == NULL || imported->created_count < write->items) {
        sim_fail(sim, "the answer to import %" PRIu64 " has fewer new rules than the document",
                 write->number);
    }
    errata__v1__import_learned_rules_response__free_unpacked(imported, NULL);
}

void sim_keep_rule_id(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__ProposeArtifactResponse *proposed = NULL;
    Errata__V1__SetArtifactStateResponse *decided = NULL;

    if (write->kind == SIM_WRITE_PROPOSAL) {
        proposed = errata__v1__propose_artifact_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write,
             proposed != NULL && proposed->learned_rule != NULL ? proposed->learned_rule->id
                                                                : NULL);
        errata__v1__propose_artifact_response__free_unpacked(proposed, NULL);
    } else if (write->kind == SIM_WRITE_RULE_STATE) {
        decided = errata__v1__set_artifact_state_response__unpack(NULL, answer.size, answer.data);
        keep(sim, write, decided != NULL ? decided->event_id : NULL);
        errata__v1__set_artifact_state_response__free_unpacked(decided, NULL);
    } else {
        keep_import(sim, write, answer);
    }
}
