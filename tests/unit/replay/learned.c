/*
 * learned.c: see learned.h. References are made as by lookups, all at the same time, so that some are
 * cited again, for the same subject and for others.
 */
#include "tests/unit/replay/learned.h"

#include "server/domain/corrections/examples.h"
#include "server/domain/dead_letters/dead_letters.h"
#include "server/domain/decisions/evaluations.h"
#include "server/domain/extractions/extractions.h"
#include "server/domain/generation/generation.h"
#include "server/domain/guidelines/agent_prompt.h"
#include "server/domain/guidelines/gate.h"
#include "server/domain/learning/state.h"
#include "server/domain/mappings/mappings.h"
#include "server/domain/prompts/prompt_templates.h"
#include "server/domain/retractions/retractions.h"
#include "server/domain/reviews/fragment_sets.h"
#include "server/domain/reviews/items.h"
#include "server/domain/reviews/reviews.h"
#include "server/domain/reviews/thresholds.h"
#include "server/domain/settings/settings.h"
#include "server/domain/turns/turns.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/verdicts.h"
#include "store/base/wire.h"

#define LAYOUTS 2
#define NAMES 5
#define MAPPINGS 6
#define REFERENCES_MAX 3
#define INDICATORS 8

static struct slice name_of(struct fixture *fixture, const char *kind, uint32_t count)
{
    return arena_printf(&fixture->arena, "%s-%u", kind, fixture_draw(fixture, count));
}

static struct event_caller caller_of_all(void)
{
    return (struct event_caller){ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
}

static int64_t draw_past(struct fixture *fixture)
{
    return fixture->clock.wall_us - (int64_t)fixture_draw(fixture, 1000000) * 1000000;
}

static struct slice write_reference(struct fixture *fixture, struct org_id org,
                                    const struct exposure *exposure)
{
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    struct exposure_key key;
    struct wire_reader reader;
    struct wire_field field = {0};
    struct buffer body;

    exposure_key_init(&key, bytes);
    buffer_init(&body, &fixture->arena, 0);
    exposure_write(&key, org, exposure, 1, &body);
    reader = wire_reader_of(buffer_slice(&body));
    assert_int_equal(wire_next(&reader, &field), OK);
    return field.bytes;
}

/* Returns the reference of GetExamples for a layout. */
static struct slice refer_to_examples(struct fixture *fixture, struct store_txn *txn,
                                      struct org_id org)
{
    const struct examples_query query = {.org = org,
                                         .layout_fingerprint = name_of(fixture, "layout", LAYOUTS),
                                         .document_id = name_of(fixture, "document", NAMES),
                                         .limit = 1 + fixture_draw(fixture, EXAMPLES_LIMIT_MAX)};
    struct examples_found *found = arena_alloc(&fixture->arena, sizeof(*found));
    struct exposure exposure = {.kind = EXPOSURE_KIND_EXAMPLES, .served_at_us = FIXTURE_START_US};

    assert_non_null(found);
    assert_int_equal(examples_find(&fixture->arena, txn, &query, found), OK);
    exposure.arm = found->arm;
    exposure.artifacts = found->artifacts;
    exposure.artifact_count = found->count;
    return write_reference(fixture, org, &exposure);
}

/* Returns the reference of MatchLines with one applied mapping, or none. */
static struct slice refer_to_matches(struct fixture *fixture, struct org_id org)
{
    struct exposed_artifact artifact = {.version = 1, .line_count = 1 + fixture_draw(fixture, 3)};
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_MATCHES,
        .arm = EXPERIMENT_ARM_NONE,
        .served_at_us = FIXTURE_START_US,
        .artifacts = &artifact,
    };
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    if (fixture_find_row(fixture, TABLE_MAPPING, org.uuid, fixture_draw(fixture, 3), &key,
                         &value)) {
        assert_int_equal(key_read_event(key, &artifact.seq), OK);
        exposure.artifact_count = 1;
    }
    return write_reference(fixture, org, &exposure);
}

static void draw_subject(struct fixture *fixture, struct extraction_input *input)
{
    if (fixture_draw(fixture, 3) > 0) {
        input->document_id = name_of(fixture, "document", NAMES);
    }
    if (fixture_draw(fixture, 2) > 0) {
        input->draft_order_id = name_of(fixture, "draft", NAMES);
    }
}

static enum err write_extraction(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    struct extraction_input input = {
        .layout_fingerprint = name_of(fixture, "layout", LAYOUTS),
        .has_confidence = true,
        .confidence = (double)fixture_draw(fixture, 1001) / 1000,
        .field_count = fixture_draw(fixture, 3),
        .exposure_ref_count = fixture_draw(fixture, REFERENCES_MAX),
    };
    struct exposure_key key;
    struct extraction_stored stored;
    const struct extraction_request request = {
        .org = org, .caller = caller_of_all(), .key = &key, .input = &input};

    exposure_key_init(&key, bytes);
    draw_subject(fixture, &input);
    for (size_t i = 0; i < input.exposure_ref_count; i++) {
        input.exposure_refs[i] = fixture_draw(fixture, 3) == 0
                                     ? refer_to_matches(fixture, org)
                                     : refer_to_examples(fixture, txn, org);
    }
    if (fixture_draw(fixture, 4) == 0) {
        input.time.is_given = true;
        input.time.created_at_us = draw_past(fixture);
    }
    return extraction_store(&fixture->ctx, txn, &request, &stored);
}

static struct mapping_name draw_mapping(struct fixture *fixture)
{
    struct mapping_name name;

    assert_int_equal(mapping_name_read(
                         &fixture->ctx, slice_of(NULL, 0), name_of(fixture, "customer", 2),
                         name_of(fixture, "sku", MAPPINGS), name_of(fixture, "internal", 3), &name),
                     OK);
    return name;
}

static enum err write_suggestion(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct event_caller caller = caller_of_all();
    const struct mapping_suggestion suggestion = {
        .name = draw_mapping(fixture),
        .confidence = (double)fixture_draw(fixture, 100) / 100,
    };
    uint64_t seq = 0;

    return mapping_suggest(&fixture->ctx, txn, org, &caller, &suggestion, &seq);
}

static enum err write_judgement(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct event_caller caller = caller_of_all();
    struct mapping_judgement judgement = {
        .event_type = fixture_draw(fixture, 3) == 0 ? FEEDBACK_EVENT_TYPE_MAPPING_REJECTED
                                                    : FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
        .name = draw_mapping(fixture),
        .time = {.is_given = fixture_draw(fixture, 4) == 0},
    };
    uint64_t seq = 0;

    if (judgement.time.is_given) {
        judgement.time.created_at_us = draw_past(fixture);
    }
    return mapping_judge(&fixture->ctx, txn, org, &caller, &judgement, &seq);
}

static enum err write_settings(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct settings_change change = {.has_holdout_percent = true,
                                           .holdout_percent = fixture_draw(fixture, 3) * 30};
    uint64_t seq = 0;

    return settings_update(&fixture->ctx, txn, org, SLICE("anna"), &change, &seq);
}

static enum err write_template(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    struct prompt_template_draft draft = {
        .name = name_of(fixture, "template", 3),
        .text = SLICE("Read {{document_text}} as in {{hint_examples}}."),
        .comment = SLICE("shorter"),
        .actor_user_id = SLICE("anna"),
    };
    uint64_t seq = 0;

    assert_int_equal(prompt_template_prepare(&fixture->ctx, &draft), OK);
    return prompt_template_put(&fixture->ctx, txn, org, &draft, &seq);
}

/* Retracts one of the newest events, perhaps again; most kinds are refused, which stores nothing. */
static enum err write_retraction(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    struct retraction_request request = {
        .org = org, .caller = caller_of_all(), .reason = SLICE("wrong invoice")};
    struct log_head head;
    struct event event;
    uint64_t back = 0;
    uint64_t seq = 0;
    enum err err = OK;

    assert_int_equal(log_read_head(txn, org, &head), OK);
    if (head.last_seq == 0) {
        return OK;
    }
    back = fixture_draw(fixture, head.last_seq < 60 ? (uint32_t)head.last_seq : 60);
    assert_int_equal(log_read(txn, org, head.last_seq - back, &event), OK);
    request.event_id = event.id;
    err = retraction_store(&fixture->ctx, txn, &request, &seq);
    return err == ERR_PRECONDITION ? OK : err;
}

/* One indicator in one of the three lists, and another in another. */
static void draw_indicators(struct fixture *fixture, struct verdict_input *input)
{
    struct verdict_indicators *lists[] = {&input->confirmed, &input->rejected, &input->missed};
    uint32_t first = fixture_draw(fixture, 3);

    for (uint32_t i = 0; i < 2; i++) {
        struct verdict_indicators *list = lists[(first + i) % 3];

        list->items[list->count++] =
            arena_printf(&fixture->arena, "indicator-%u-%u", i, fixture_draw(fixture, INDICATORS));
    }
}

/* Returns the reference of a score in which one rule fired, or none. */
static struct slice refer_to_score(struct fixture *fixture, struct org_id org)
{
    struct exposed_artifact artifact = {.version = 1};
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_SCORE,
        .arm = EXPERIMENT_ARM_NONE,
        .served_at_us = FIXTURE_START_US,
        .artifacts = &artifact,
        .verdicts = {VERDICT_REAL, VERDICT_FAKE, VERDICT_FAKE},
    };
    struct learned_rule_record rule;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    if (fixture_find_row(fixture, TABLE_LEARNED_RULE, org.uuid, fixture_draw(fixture, 3), &key,
                         &value)) {
        assert_int_equal(key_read_learned_rule(key, &artifact.seq), OK);
        assert_int_equal(record_decode_learned_rule(value, &rule), OK);
        artifact.version = rule.life.version;
        artifact.rule.raises = fixture_draw(fixture, 2) == 0;
        artifact.rule.shadow = fixture_draw(fixture, 4) == 0;
        exposure.artifact_count = 1;
    }
    return write_reference(fixture, org, &exposure);
}

static enum err write_verdict(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    struct verdict_input *input = arena_calloc(&fixture->arena, 1, sizeof(*input));
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    struct exposure_key key;
    struct slice reference = refer_to_score(fixture, org);
    const struct verdict_request request = {
        .org = org, .caller = caller_of_all(), .input = input, .key = &key};
    struct work_result result = {.first_seq = 0};

    assert_non_null(input);
    exposure_key_init(&key, bytes);
    input->exposure_refs = &reference;
    input->exposure_ref_count = fixture_draw(fixture, 2);
    input->receipt_id = name_of(fixture, "receipt", NAMES);
    input->original_verdict = (enum verdict)(1 + fixture_draw(fixture, 3));
    input->correct_verdict = (enum verdict)(1 + fixture_draw(fixture, 3));
    input->has_original_score = true;
    input->original_score = 0.5;
    input->reviewer_notes = SLICE("notes");
    input->time.is_given = fixture_draw(fixture, 4) == 0;
    if (input->time.is_given) {
        input->time.created_at_us = draw_past(fixture);
    }
    draw_indicators(fixture, input);
    return verdict_submit(&fixture->ctx, txn, &request, &result);
}

/* Changes a rule that exists; else submits a verdict. */
static enum err write_rule(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    struct learned_rule_switch request = {.org = org, .caller = caller_of_all()};
    struct slice pattern =
        arena_printf(&fixture->arena, "indicator-%u-%u", fixture_draw(fixture, 2),
                     fixture_draw(fixture, INDICATORS));
    struct learned_rule_row row;
    uint64_t seq = 0;
    enum err err = learned_rule_find(txn, org, pattern, LEARNED_RULE_TYPE_MISSED_INDICATOR, &row);

    if (err == ERR_NOT_FOUND) {
        return write_verdict(fixture, txn, org);
    }
    assert_int_equal(err, OK);
    request.id = row.record.id;
    return learned_rule_set_enabled(&fixture->ctx, txn, &request, &seq);
}

/* Submits a review of a random run in a random subcategory. */
static enum err write_review(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct review_input input = {
        .run_id = name_of(fixture, "run", NAMES),
        .item_id = name_of(fixture, "item", NAMES),
        .subcategory = name_of(fixture, "subcategory", 2),
        .decision = (enum review_decision)(1 + fixture_draw(fixture, 3)),
        .flags = {[REVIEW_BAD_FORMAT] = (enum review_answer)fixture_draw(fixture, 3)},
        .missing_spec = SLICE("\x52\5Width"),
        .reviewed_by = name_of(fixture, "user", 3),
        .notes = SLICE("notes"),
        .item_snapshot_json = fixture_draw(fixture, 2) == 0 ? SLICE("{}") : slice_of(NULL, 0),
        .time = {.is_given = fixture_draw(fixture, 4) == 0, .created_at_us = draw_past(fixture)},
    };
    const struct review_request request = {.org = org, .caller = caller_of_all(), .input = &input};
    uint64_t seq = 0;

    return review_submit(&fixture->ctx, txn, &request, &seq);
}

static enum err write_item(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct run_item_request request = {
        .org = org,
        .caller = caller_of_all(),
        .run_id = name_of(fixture, "run", NAMES),
        .item_json = SLICE("{\"name\":\"X1\"}"),
    };
    uint64_t seq = 0;

    return run_item_put(&fixture->ctx, txn, &request, &seq);
}

static enum err write_thresholds(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct review_thresholds_change change = {
        .org = org,
        .caller = caller_of_all(),
        .subcategory = name_of(fixture, "subcategory", 2),
        .values = {[THRESHOLD_BAD_FORMAT] = fixture_draw(fixture, 11)},
    };
    uint64_t seq = 0;

    return review_thresholds_set(&fixture->ctx, txn, &change, &seq);
}

/* Stores a set of fragments, or approves one that may be in use or not exist. */
static enum err write_fragments(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    struct fragment_set_draft draft = {.org = org, .caller = caller_of_all()};
    const struct fragment_set_approval approval = {
        .org = org,
        .caller = {ROLE_ADMIN, SLICE("anna"), 0xabcd, false},
        .version = (uint32_t)fixture_draw(fixture, 4),
    };
    uint64_t seq = 0;
    enum err err = OK;

    if (fixture_draw(fixture, 2) == 0) {
        draft.set = *fragment_set_default();
        draft.set.fragments[0].text = name_of(fixture, "text", NAMES);
        return fragment_set_put(&fixture->ctx, txn, &draft, &seq);
    }
    err = fragment_set_approve(&fixture->ctx, txn, &approval, &seq);
    return err == ERR_NOT_FOUND || err == ERR_PRECONDITION ? OK : err;
}

/* Classifies a decision, as an evaluator or as a person. */
static enum err write_evaluation(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                                 uint64_t decision_seq)
{
    struct evaluation_request request = {
        .org = org,
        .caller = caller_of_all(),
        .decision_seq = decision_seq,
        .classification = (enum decision_class)(1 + fixture_draw(fixture, 5)),
        .evaluator_id = name_of(fixture, "judge", 2),
    };
    struct decision_view decision;
    struct event recorded;
    uint64_t seq = 0;
    enum err err = decision_read(txn, org, decision_seq, &recorded, &decision);

    if (err != OK) {
        return err;
    }
    request.feedback_id = decision.id;
    return fixture_draw(fixture, 2) == 0 ? evaluation_submit(&fixture->ctx, txn, &request, &seq)
                                         : evaluation_override(&fixture->ctx, txn, &request, &seq);
}

static bool never(const void *user)
{
    (void)user;
    return false;
}

/* Returns the reference of the prompt that an agent has now. */
static struct slice refer_to_prompt(struct fixture *fixture, struct store_txn *txn,
                                    struct org_id org, struct slice agent)
{
    const struct agent_prompt_query query = {
        .org = org, .agent = agent, .base = SLICE("A"), .is_cancelled = never};
    struct agent_prompt prompt;
    struct exposure exposure;

    assert_int_equal(agent_prompt_build(&fixture->arena, txn, &query, &prompt), OK);
    assert_int_equal(agent_prompt_expose(&fixture->arena, &prompt, &exposure), OK);
    exposure.served_at_us = FIXTURE_START_US;
    return write_reference(fixture, org, &exposure);
}

/* Records a decision about one of two agents, with one of two comments, and a vector of the caller; it may cite a prompt. */
static enum err write_decision(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    static const float directions[2][2] = {{1, 0}, {0, 1}};
    static const char *const comments[] = {"Set a timeout on each remote call.",
                                           "Sort the imports of each module."};
    size_t chosen = fixture_draw(fixture, 2);
    struct decision_input input = {.view = {.decision_id = name_of(fixture, "decision", 1000),
                                            .gate_id = SLICE("HITL-1"),
                                            .epic_id = name_of(fixture, "epic", NAMES),
                                            .agent_name = name_of(fixture, "agent", 2),
                                            .decision = DECISION_OUTCOME_REJECTED,
                                            .reviewer_comment = slice_text(comments[chosen])},
                                   .kind = THEME_OF_CALLER,
                                   .space = SLICE("model:2")};
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    const struct decision_request request = {org, caller_of_all(), &input};
    struct generation_batch batch = {.org = org};
    struct decision_stored stored = {0};
    struct exposure_key key;
    struct slice reference = refer_to_prompt(fixture, txn, org, input.view.agent_name);
    uint64_t seq = 0;
    enum err err = decision_read_signals(fixture->ctx.arena, &input);

    exposure_key_init(&key, bytes);
    input.key = &key;
    input.exposure_refs = &reference;
    input.exposure_ref_count = fixture_draw(fixture, 2);
    if (err == OK) {
        err = theme_make(fixture->ctx.arena, directions[chosen], 2, NULL, &input.theme);
    }
    if (err == OK) {
        err = decision_record(&fixture->ctx, txn, &request, &stored);
    }
    if (err == OK && fixture_draw(fixture, 8) == 0) {
        err = generation_step(&fixture->ctx, txn, &batch, &seq);
    }
    if (err == OK && fixture_draw(fixture, 2) == 0) {
        err = write_evaluation(fixture, txn, org, stored.seq);
    }
    return err == ERR_EXISTS ? OK : err;
}

/* Puts a proposal in SHADOW. */
static enum err put_in_shadow(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                              struct uuid id)
{
    const struct artifact_decision decision = {.org = org,
                                               .caller = caller_of_all(),
                                               .artifact_id = id,
                                               .state = ARTIFACT_STATE_SHADOW,
                                               .reason = SLICE("measure it first")};
    uint64_t seq = 0;

    return artifact_set_state(&fixture->ctx, txn, &decision, &seq);
}

/* Proposes a rule, may put it in SHADOW, and may vote for it: one vote is enough. A refused proposal is rejected,
 * since each new one is compared with the pending ones. */
static enum err write_guideline(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct settings_change one_vote = {.votes_needed = 1};
    const struct slice agents[] = {name_of(fixture, "agent", 2)};
    const struct proposal_input input = {.org = org,
                                         .caller = caller_of_all(),
                                         .rule_type = RULE_TYPE_GUIDELINE,
                                         .agents = agents,
                                         .agent_count = 1,
                                         .rule_content = name_of(fixture, "rule", NAMES)};
    struct proposal_vote_request vote = {.org = org,
                                         .caller = {ROLE_ADMIN, SLICE("berta"), 0xabcd, false},
                                         .kind = PROPOSAL_VOTE_KIND_APPROVED};
    struct proposal proposal;
    uint64_t seq = 0;
    enum err err = settings_update(&fixture->ctx, txn, org, SLICE("root"), &one_vote, &seq);

    if (err == OK) {
        err = proposal_create(&fixture->ctx, txn, &input, &seq);
    }
    if (err == OK) {
        err = proposal_read(txn, org, seq, &proposal);
        vote.proposal_id = proposal.view.id;
    }
    if (err == OK && fixture_draw(fixture, 2) == 0) {
        err = put_in_shadow(fixture, txn, org, vote.proposal_id);
        err = err == ERR_PRECONDITION ? OK : err;
    }
    if (err == OK && fixture_draw(fixture, 8) > 0) {
        err = guideline_gate(&fixture->ctx, txn, &vote, &seq);
        if (err == ERR_PRECONDITION) {
            vote.kind = PROPOSAL_VOTE_KIND_REJECTED;
            err = guideline_gate(&fixture->ctx, txn, &vote, &seq);
        }
    }
    return err;
}

/* The cues of messages, made only once, since that takes longer than a write. */
static struct arena turn_arena;
static const struct cue_lexicon *turn_cues;

/* Records a turn, reads a message of it, or judges one; any of these may be refused. */
static enum err write_turn(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const float values[2] = {0.6F, fixture_draw(fixture, 2) == 0 ? 0.8F : -0.8F};
    const struct turn_vector vector = {SLICE("caller:2"), 2, values, true, EMBEDDER_NGRAMS};
    const struct event_time time = {.is_given = fixture_draw(fixture, 2) == 0,
                                    .created_at_us = draw_past(fixture)};
    struct slice session = name_of(fixture, "session", 3);
    struct slice turn = name_of(fixture, "turn", NAMES);
    const struct turn_input input = {.caller = caller_of_all(),
                                     .session_id = session,
                                     .turn_id = turn,
                                     .time = time,
                                     .outcome = VALIDATION_OUTCOME_APPROVE,
                                     .quality = 0.5,
                                     .query = SLICE("a query"),
                                     .vector = vector};
    const struct detect_input message = {.caller = caller_of_all(),
                                         .session_id = session,
                                         .turn_id = turn,
                                         .time = time,
                                         .message = SLICE("that's wrong"),
                                         .words = SLICE("that's wrong"),
                                         .vector = vector};
    const struct judge_input judgement = {.caller = caller_of_all(),
                                          .session_id = session,
                                          .turn_id = turn,
                                          .actor_user_id = SLICE("anna"),
                                          .status = TURN_STATUS_ACCEPTED};
    uint64_t seq = 0;
    enum err err = OK;

    switch (fixture_draw(fixture, 3)) {
    case 0:
        err = turn_judge(&fixture->ctx, txn, org, &judgement, &seq);
        break;
    case 1:
        if (turn_cues == NULL) {
            arena_init(&turn_arena, (size_t)16 << 20);
            err = cue_lexicon_new(&turn_arena, &turn_cues);
        }
        err = err == OK ? turn_detect(&fixture->ctx, txn, org, turn_cues, &message, &seq) : err;
        break;
    default:
        err = turn_record(&fixture->ctx, txn, org, &input, &seq);
        break;
    }
    return err == ERR_NOT_FOUND || err == ERR_EXISTS ? OK : err;
}

/* Stores an entry of a stream, or finds it; sometimes retries it. */
static enum err write_dead_letter(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    const struct entry_field field = {SLICE("data"), name_of(fixture, "data", 2 * NAMES)};
    const struct stream_entry entry = {
        .stream = SLICE("decisions"), .id = SLICE("1-0"), .fields = &field, .field_count = 1};
    struct dead_letter letter;
    struct dead_letter_retry retry = {
        .org = org, .caller = caller_of_all(), .letter = &letter, .feedback_id = {{1}}};
    struct event event;
    uint64_t seq = 0;
    enum err err = dead_letter_store(&fixture->ctx, txn, org, &entry, SLICE("refused"), &seq);

    if (err == OK) {
        err = log_read(txn, org, seq, &event);
    }
    if (err == OK) {
        err = dead_letter_find(&fixture->ctx, txn, org, event.id, &letter);
    }
    return err != OK || letter.retried_seq != 0 || fixture_draw(fixture, 3) > 0
               ? err
               : dead_letter_mark_retried(&fixture->ctx, txn, &retry, &seq);
}

static enum err write_any(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    switch (fixture_draw(fixture, 20)) {
    case 19:
        return write_decision(fixture, txn, org);
    case 16:
        return write_guideline(fixture, txn, org);
    case 17:
        return fixture_draw(fixture, 4) == 0 ? write_dead_letter(fixture, txn, org)
                                             : write_turn(fixture, txn, org);
    case 18:
        return write_turn(fixture, txn, org);
    case 13:
        return fixture_draw(fixture, 4) == 0 ? write_item(fixture, txn, org)
                                             : write_review(fixture, txn, org);
    case 14:
        return fixture_draw(fixture, 4) == 0 ? write_thresholds(fixture, txn, org)
                                             : write_review(fixture, txn, org);
    case 15:
        return write_fragments(fixture, txn, org);
    case 8:
    case 9:
    case 10:
        return write_retraction(fixture, txn, org);
    case 0:
        return write_settings(fixture, txn, org);
    case 1:
        return write_template(fixture, txn, org);
    case 2:
        return write_suggestion(fixture, txn, org);
    case 3:
    case 4:
        return write_judgement(fixture, txn, org);
    case 11:
        return write_verdict(fixture, txn, org);
    case 12:
        return write_rule(fixture, txn, org);
    default:
        return write_extraction(fixture, txn, org);
    }
}

/* The writes that change examples, and others whose content is removed. */
static enum err write_swept(struct fixture *fixture, struct store_txn *txn, struct org_id org)
{
    switch (fixture_draw(fixture, 10)) {
    case 0:
        return write_verdict(fixture, txn, org);
    case 1:
        return write_review(fixture, txn, org);
    case 2:
        return write_item(fixture, txn, org);
    case 3:
    case 4:
        return write_extraction(fixture, txn, org);
    default:
        return write_retraction(fixture, txn, org);
    }
}

enum err learned_write(struct fixture *fixture, struct store_txn *txn, struct org_id org,
                       struct work_result *ret_result)
{
    struct log_head before;
    struct log_head after;
    enum err err = log_read_head(txn, org, &before);

    if (err == OK) {
        err = fixture->sweeps ? write_swept(fixture, txn, org) : write_any(fixture, txn, org);
    }
    if (err == OK) {
        err = log_read_head(txn, org, &after);
    }
    if (err == OK) {
        ret_result->first_seq = before.last_seq + 1;
        ret_result->count = (uint32_t)(after.last_seq - before.last_seq);
    }
    return err;
}
