/*
 * sim_verdicts.c: requests about verdicts and learned rules, and their allowed results. Submissions share few
 * indicators, so that rules are learned again and again.
 */
#include "tests/sim/sim_crowd.h"

#include <errata/v1/verdict_service.pb-c.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHARED_INDICATORS 4
#define INDICATOR_BYTES 24
#define VERDICTS 3
/* The score without rules. */
#define SCORE 0.5

static struct sim *sim_of(const struct sim_member *member)
{
    return member->caller.sim;
}

static void wrong(const struct sim_call *call, const char *what)
{
    sim_fail(sim_of(call->member), "call %" PRIu64 " (%.*s of caller %u): %s", call->number,
             (int)call->method->name.size, (const char *)call->method->name.data,
             call->member->caller.number, what);
}

static Errata__V1__Verdict draw_verdict(struct sim *sim)
{
    return (Errata__V1__Verdict)(ERRATA__V1__VERDICT__VERDICT_REAL + sim_draw(sim, VERDICTS));
}

/* One indicator, which the organisation's canary is part of, in one of the lists. */
static void submit(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = sim_model_add(sim, &member->caller, SIM_WRITE_VERDICT);
    Errata__V1__SubmitVerdictRequest request = ERRATA__V1__SUBMIT_VERDICT_REQUEST__INIT;
    Errata__V1__VerdictSubmission one = ERRATA__V1__VERDICT_SUBMISSION__INIT;
    char mark[24] = "";
    char indicator[24] = "";
    char *indicators[] = {indicator};

    sim_write_mark(write, 0, mark);
    (void)snprintf(indicator, sizeof(indicator), "CN%cRY-%u", (char)('a' + member->caller.org),
                   (unsigned)sim_draw(sim, SHARED_INDICATORS));
    one.receipt_id = mark;
    one.original_verdict = draw_verdict(sim);
    one.correct_verdict = draw_verdict(sim);
    one._original_score_case = ERRATA__V1__VERDICT_SUBMISSION___ORIGINAL_SCORE_ORIGINAL_SCORE;
    one.original_score = (double)sim_draw(sim, 101) / 100;
    one.confirmed_indicators = one.rejected_indicators = one.missed_indicators = indicators;
    switch (sim_draw(sim, 3)) {
    case 0:
        one.n_confirmed_indicators = 1;
        break;
    case 1:
        one.n_rejected_indicators = 1;
        break;
    default:
        one.n_missed_indicators = 1;
        break;
    }
    request.submission = &one;
    sim_send_new_write(sim, write, &request.base);
}

static bool set_rule(struct sim_member *member)
{
    struct sim *sim = sim_of(member);
    struct sim_write *write = NULL;
    Errata__V1__SetLearnedRuleEnabledRequest request =
        ERRATA__V1__SET_LEARNED_RULE_ENABLED_REQUEST__INIT;

    if (member->rule_id[0] == '\0') {
        return false;
    }
    write = sim_model_add(sim, &member->caller, SIM_WRITE_RULE);
    request.id = member->rule_id;
    sim_send_new_write(sim, write, &request.base);
    return true;
}

static void list_rules(struct sim_member *member)
{
    Errata__V1__ListLearnedRulesRequest request = ERRATA__V1__LIST_LEARNED_RULES_REQUEST__INIT;

    sim_call_start(sim_new_call(member, SIM_LIST_RULES), &request.base);
}

static void ask_stats(struct sim_member *member)
{
    Errata__V1__GetVerdictStatsRequest request = ERRATA__V1__GET_VERDICT_STATS_REQUEST__INIT;
    struct sim_call *call = sim_new_call(member, SIM_VERDICT_STATS);

    call->least = sim_of(member)->model->orgs[member->caller.org].acknowledged_verdicts;
    request.days = 366;
    sim_call_start(call, &request.base);
}

/* Requests the score of a receipt with all shared indicators of the organisation, and perhaps a proposed rule's. */
static void ask_score(struct sim_member *member)
{
    Errata__V1__ScoreDocumentRequest request = ERRATA__V1__SCORE_DOCUMENT_REQUEST__INIT;
    Errata__V1__DocumentProfile profile = ERRATA__V1__DOCUMENT_PROFILE__INIT;
    char texts[SHARED_INDICATORS + 1][INDICATOR_BYTES];
    char *indicators[SHARED_INDICATORS + 1];

    for (unsigned i = 0; i < SHARED_INDICATORS; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "CN%cRY-%u", (char)('a' + member->caller.org),
                       i);
        indicators[i] = texts[i];
    }
    profile._confidence_case = ERRATA__V1__DOCUMENT_PROFILE___CONFIDENCE_CONFIDENCE;
    profile.confidence = 1;
    request._score_case = ERRATA__V1__SCORE_DOCUMENT_REQUEST___SCORE_SCORE;
    request.score = SCORE;
    request.indicators = indicators;
    request.n_indicators = SHARED_INDICATORS;
    if (sim_draw_rule_pattern(member, texts[SHARED_INDICATORS])) {
        indicators[SHARED_INDICATORS] = texts[SHARED_INDICATORS];
        request.n_indicators++;
    }
    request.document_profile = &profile;
    sim_call_start(sim_new_call(member, SIM_SCORE), &request.base);
}

bool sim_request_verdicts(struct sim_member *member, enum sim_op op)
{
    if (op == SIM_RULE) {
        return set_rule(member);
    }
    if (op == SIM_VERDICT) {
        submit(member);
    } else if (op == SIM_LIST_RULES) {
        list_rules(member);
    } else if (op == SIM_SCORE) {
        ask_score(member);
    } else {
        ask_stats(member);
    }
    return true;
}

/* Returns whether a rule was learned from verdicts: other rules carry a mark in their pattern. */
static bool is_learned(const char *pattern)
{
    return strchr(pattern, ' ') == NULL;
}

/* Learned rules are unique by type and pattern, and those without submissions are retired. */
static void judge_rules(struct sim_call *call, struct slice reply)
{
    Errata__V1__ListLearnedRulesResponse *page =
        errata__v1__list_learned_rules_response__unpack(NULL, reply.size, reply.data);
    size_t learned = 0;

    for (size_t i = 0; page != NULL && i < page->n_rules; i++) {
        if (!is_learned(page->rules[i]->pattern)) {
            continue;
        }
        learned++;
        if ((page->rules[i]->learned_from_feedback_count == 0) !=
            (page->rules[i]->state == ERRATA__V1__ARTIFACT_STATE__ARTIFACT_STATE_RETIRED)) {
            wrong(call, "a rule whose state is not that of its count");
        }
        (void)snprintf(call->member->rule_id, SIM_ID_BYTES, "%s", page->rules[i]->id);
    }
    if (page == NULL || learned > 3 * SHARED_INDICATORS) {
        wrong(call, "more rules than types and patterns");
    }
    errata__v1__list_learned_rules_response__free_unpacked(page, NULL);
}

static void judge_stats(struct sim_call *call, struct slice reply)
{
    /* Less than at the start of the call if some were retracted since. */
    uint64_t least =
        sim_of(call->member)->model->orgs[call->member->caller.org].acknowledged_verdicts;
    Errata__V1__GetVerdictStatsResponse *read =
        errata__v1__get_verdict_stats_response__unpack(NULL, reply.size, reply.data);

    if (read == NULL || read->real_receipts + read->fake_receipts + read->suspicious_receipts !=
                            read->total_feedback) {
        wrong(call, "the verdicts do not add up");
    } else if (read->total_feedback < (call->least < least ? call->least : least)) {
        wrong(call, "fewer submissions than were acknowledged");
    }
    errata__v1__get_verdict_stats_response__free_unpacked(read, NULL);
}

/* Each rule counts once, with the adjustment of its type or the one it came with, and the weights make the score. */
static void judge_score(struct sim_call *call, struct slice reply)
{
    static const double adjustments[] = {0, 0.05, -0.03, 0.04}; /* by type */
    Errata__V1__ScoreDocumentResponse *read =
        errata__v1__score_document_response__unpack(NULL, reply.size, reply.data);
    double score = SCORE;

    if (read == NULL || read->n_events > 3 * SHARED_INDICATORS + 1) {
        wrong(call, "more rules than types and patterns");
    }
    for (size_t i = 0; read != NULL && i < read->n_events; i++) {
        const Errata__V1__ScoreEvent *event = read->events[i];
        bool learned =
            strstr(event->message, "RY m") == NULL; /* the message ends with the pattern */
        double adjustment = learned ? adjustments[event->evidence->rule_type] : SIM_RULE_ADJUSTMENT;

        score += event->weight;
        if (event->weight < adjustment - 1e-9 || event->weight > adjustment + 1e-9 ||
            (learned && event->evidence->feedback_count == 0)) {
            wrong(call, "a weight that is not its rule's, or a rule without submissions");
        }
        if (i > 0 && strcmp(read->events[i - 1]->rule_id, event->rule_id) >= 0) {
            wrong(call, "events that are not in the order of their rules");
        }
    }
    if (read != NULL && (read->score < score - 1e-9 || read->score > score + 1e-9)) {
        wrong(call, "a score that is not the sum of its weights");
    }
    errata__v1__score_document_response__free_unpacked(read, NULL);
}

void sim_judge_verdicts(struct sim_call *call, struct slice reply)
{
    if (call->op == SIM_LIST_RULES) {
        judge_rules(call, reply);
    } else if (call->op == SIM_SCORE) {
        judge_score(call, reply);
    } else {
        judge_stats(call, reply);
    }
}

void sim_keep_verdict_id(struct sim *sim, struct sim_write *write, struct slice answer)
{
    Errata__V1__SubmitVerdictResponse *submitted =
        errata__v1__submit_verdict_response__unpack(NULL, answer.size, answer.data);

    if (submitted == NULL || submitted->submission == NULL) {
        sim_fail(sim, "the answer to write %" PRIu64 " has no submission", write->number);
    } else {
        (void)snprintf(write->ids[0], SIM_ID_BYTES, "%s", submitted->submission->id);
    }
    errata__v1__submit_verdict_response__free_unpacked(submitted, NULL);
}
