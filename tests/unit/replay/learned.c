/*
 * learned.c: see learned.h. References are made as lookups make them, at one time forever, so that some
 * are cited again, for the same subject and for others.
 */
#include "tests/unit/replay/learned.h"

#include "server/domain/corrections/examples.h"
#include "server/domain/extractions/extractions.h"
#include "server/domain/mappings/mappings.h"
#include "server/domain/prompts/prompt_templates.h"
#include "server/domain/retractions/retractions.h"
#include "server/domain/reviews/items.h"
#include "server/domain/reviews/reviews.h"
#include "server/domain/reviews/thresholds.h"
#include "server/domain/settings/settings.h"
#include "server/domain/verdicts/keys.h"
#include "server/domain/verdicts/verdicts.h"
#include "store/base/wire.h"

#define LAYOUTS 2
#define NAMES 5
#define MAPPINGS 6
#define REFERENCES_MAX 3
#define INDICATORS 8

static struct slice name_of(struct world *world, const char *kind, uint32_t count)
{
    return arena_printf(&world->arena, "%s-%u", kind, world_draw(world, count));
}

static struct event_caller caller_of_all(void)
{
    return (struct event_caller){ROLE_ADMIN, {NULL, 0}, 0xabcd, false};
}

static int64_t draw_past(struct world *world)
{
    return world->clock.wall_us - (int64_t)world_draw(world, 1000000) * 1000000;
}

static struct slice write_reference(struct world *world, struct org_id org,
                                    const struct exposure *exposure)
{
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    struct exposure_key key;
    struct wire_reader reader;
    struct wire_field field = {0};
    struct buffer body;

    exposure_key_init(&key, bytes);
    buffer_init(&body, &world->arena, 0);
    exposure_write(&key, org, exposure, 1, &body);
    reader = wire_reader_of(buffer_slice(&body));
    assert_int_equal(wire_next(&reader, &field), OK);
    return field.bytes;
}

/* Returns the reference of GetExamples for a layout. */
static struct slice refer_to_examples(struct world *world, struct store_txn *txn, struct org_id org)
{
    const struct examples_query query = {.org = org,
                                         .layout_fingerprint = name_of(world, "layout", LAYOUTS),
                                         .document_id = name_of(world, "document", NAMES),
                                         .limit = 1 + world_draw(world, EXAMPLES_LIMIT_MAX)};
    struct examples_found *found = arena_alloc(&world->arena, sizeof(*found));
    struct exposure exposure = {.kind = EXPOSURE_KIND_EXAMPLES, .served_at_us = WORLD_START_US};

    assert_non_null(found);
    assert_int_equal(examples_find(&world->arena, txn, &query, found), OK);
    exposure.arm = found->arm;
    exposure.artifacts = found->artifacts;
    exposure.artifact_count = found->count;
    return write_reference(world, org, &exposure);
}

/* Returns the reference of MatchLines with one applied mapping, or none. */
static struct slice refer_to_matches(struct world *world, struct org_id org)
{
    struct exposed_artifact artifact = {.version = 1, .line_count = 1 + world_draw(world, 3)};
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_MATCHES,
        .arm = EXPERIMENT_ARM_NONE,
        .served_at_us = WORLD_START_US,
        .artifacts = &artifact,
    };
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    if (world_find_row(world, TABLE_MAPPING, org.uuid, world_draw(world, 3), &key, &value)) {
        assert_int_equal(key_read_event(key, &artifact.seq), OK);
        exposure.artifact_count = 1;
    }
    return write_reference(world, org, &exposure);
}

static void draw_subject(struct world *world, struct extraction_input *input)
{
    if (world_draw(world, 3) > 0) {
        input->document_id = name_of(world, "document", NAMES);
    }
    if (world_draw(world, 2) > 0) {
        input->draft_order_id = name_of(world, "draft", NAMES);
    }
}

static enum err write_extraction(struct world *world, struct store_txn *txn, struct org_id org)
{
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    struct extraction_input input = {
        .layout_fingerprint = name_of(world, "layout", LAYOUTS),
        .has_confidence = true,
        .confidence = (double)world_draw(world, 1001) / 1000,
        .field_count = world_draw(world, 3),
        .exposure_ref_count = world_draw(world, REFERENCES_MAX),
    };
    struct exposure_key key;
    struct extraction_stored stored;
    const struct extraction_request request = {
        .org = org, .caller = caller_of_all(), .key = &key, .input = &input};

    exposure_key_init(&key, bytes);
    draw_subject(world, &input);
    for (size_t i = 0; i < input.exposure_ref_count; i++) {
        input.exposure_refs[i] = world_draw(world, 3) == 0 ? refer_to_matches(world, org)
                                                           : refer_to_examples(world, txn, org);
    }
    if (world_draw(world, 4) == 0) {
        input.time.is_given = true;
        input.time.created_at_us = draw_past(world);
    }
    return extraction_store(&world->ctx, txn, &request, &stored);
}

static struct mapping_name draw_mapping(struct world *world)
{
    struct mapping_name name;

    assert_int_equal(
        mapping_name_read(&world->ctx, slice_of(NULL, 0), name_of(world, "customer", 2),
                          name_of(world, "sku", MAPPINGS), name_of(world, "internal", 3), &name),
        OK);
    return name;
}

static enum err write_suggestion(struct world *world, struct store_txn *txn, struct org_id org)
{
    const struct event_caller caller = caller_of_all();
    const struct mapping_suggestion suggestion = {
        .name = draw_mapping(world),
        .confidence = (double)world_draw(world, 100) / 100,
    };
    uint64_t seq = 0;

    return mapping_suggest(&world->ctx, txn, org, &caller, &suggestion, &seq);
}

static enum err write_judgement(struct world *world, struct store_txn *txn, struct org_id org)
{
    const struct event_caller caller = caller_of_all();
    struct mapping_judgement judgement = {
        .event_type = world_draw(world, 3) == 0 ? FEEDBACK_EVENT_TYPE_MAPPING_REJECTED
                                                : FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED,
        .name = draw_mapping(world),
        .time = {.is_given = world_draw(world, 4) == 0},
    };
    uint64_t seq = 0;

    if (judgement.time.is_given) {
        judgement.time.created_at_us = draw_past(world);
    }
    return mapping_judge(&world->ctx, txn, org, &caller, &judgement, &seq);
}

static enum err write_settings(struct world *world, struct store_txn *txn, struct org_id org)
{
    const struct settings_change change = {.has_holdout_percent = true,
                                           .holdout_percent = world_draw(world, 3) * 30};
    uint64_t seq = 0;

    return settings_update(&world->ctx, txn, org, SLICE("anna"), &change, &seq);
}

static enum err write_template(struct world *world, struct store_txn *txn, struct org_id org)
{
    struct prompt_template_draft draft = {
        .name = name_of(world, "template", 3),
        .text = SLICE("Read {{document_text}} as in {{hint_examples}}."),
        .comment = SLICE("shorter"),
        .actor_user_id = SLICE("anna"),
    };
    uint64_t seq = 0;

    assert_int_equal(prompt_template_prepare(&world->ctx, &draft), OK);
    return prompt_template_put(&world->ctx, txn, org, &draft, &seq);
}

/* Retracts one of the newest events, perhaps again; most kinds are refused, which stores nothing. */
static enum err write_retraction(struct world *world, struct store_txn *txn, struct org_id org)
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
    back = world_draw(world, head.last_seq < 60 ? (uint32_t)head.last_seq : 60);
    assert_int_equal(log_read(txn, org, head.last_seq - back, &event), OK);
    request.event_id = event.id;
    err = retraction_store(&world->ctx, txn, &request, &seq);
    return err == ERR_PRECONDITION ? OK : err;
}

/* One indicator in one of the three lists, and another in another. */
static void draw_indicators(struct world *world, struct verdict_input *input)
{
    struct verdict_indicators *lists[] = {&input->confirmed, &input->rejected, &input->missed};
    uint32_t first = world_draw(world, 3);

    for (uint32_t i = 0; i < 2; i++) {
        struct verdict_indicators *list = lists[(first + i) % 3];

        list->items[list->count++] =
            arena_printf(&world->arena, "indicator-%u-%u", i, world_draw(world, INDICATORS));
    }
}

/* Returns the reference of a score in which one rule fired, or none. */
static struct slice refer_to_score(struct world *world, struct org_id org)
{
    struct exposed_artifact artifact = {.version = 1};
    struct exposure exposure = {
        .kind = EXPOSURE_KIND_SCORE,
        .arm = EXPERIMENT_ARM_NONE,
        .served_at_us = WORLD_START_US,
        .artifacts = &artifact,
        .verdicts = {VERDICT_REAL, VERDICT_FAKE, VERDICT_FAKE},
    };
    struct learned_rule_record rule;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};

    if (world_find_row(world, TABLE_LEARNED_RULE, org.uuid, world_draw(world, 3), &key, &value)) {
        assert_int_equal(key_read_learned_rule(key, &artifact.seq), OK);
        assert_int_equal(record_decode_learned_rule(value, &rule), OK);
        artifact.version = rule.life.version;
        artifact.rule.raises = world_draw(world, 2) == 0;
        artifact.rule.shadow = world_draw(world, 4) == 0;
        exposure.artifact_count = 1;
    }
    return write_reference(world, org, &exposure);
}

static enum err write_verdict(struct world *world, struct store_txn *txn, struct org_id org)
{
    struct verdict_input *input = arena_calloc(&world->arena, 1, sizeof(*input));
    const uint8_t bytes[EXPOSURE_KEY_BYTES] = {7};
    struct exposure_key key;
    struct slice reference = refer_to_score(world, org);
    const struct verdict_request request = {
        .org = org, .caller = caller_of_all(), .input = input, .key = &key};
    struct work_result result = {.first_seq = 0};

    assert_non_null(input);
    exposure_key_init(&key, bytes);
    input->exposure_refs = &reference;
    input->exposure_ref_count = world_draw(world, 2);
    input->receipt_id = name_of(world, "receipt", NAMES);
    input->original_verdict = (enum verdict)(1 + world_draw(world, 3));
    input->correct_verdict = (enum verdict)(1 + world_draw(world, 3));
    input->has_original_score = true;
    input->original_score = 0.5;
    input->reviewer_notes = SLICE("notes");
    input->time.is_given = world_draw(world, 4) == 0;
    if (input->time.is_given) {
        input->time.created_at_us = draw_past(world);
    }
    draw_indicators(world, input);
    return verdict_submit(&world->ctx, txn, &request, &result);
}

/* Changes a rule that exists; else submits a verdict. */
static enum err write_rule(struct world *world, struct store_txn *txn, struct org_id org)
{
    struct learned_rule_switch request = {.org = org, .caller = caller_of_all()};
    struct slice pattern = arena_printf(&world->arena, "indicator-%u-%u", world_draw(world, 2),
                                        world_draw(world, INDICATORS));
    struct learned_rule_row row;
    uint64_t seq = 0;
    enum err err = learned_rule_find(txn, org, pattern, LEARNED_RULE_TYPE_MISSED_INDICATOR, &row);

    if (err == ERR_NOT_FOUND) {
        return write_verdict(world, txn, org);
    }
    assert_int_equal(err, OK);
    request.id = row.record.id;
    return learned_rule_set_enabled(&world->ctx, txn, &request, &seq);
}

/* A review of one of few runs, in one of few subcategories. */
static enum err write_review(struct world *world, struct store_txn *txn, struct org_id org)
{
    const struct review_input input = {
        .run_id = name_of(world, "run", NAMES),
        .item_id = name_of(world, "item", NAMES),
        .subcategory = name_of(world, "subcategory", 2),
        .decision = (enum review_decision)(1 + world_draw(world, 3)),
        .flags = {[REVIEW_BAD_FORMAT] = (enum review_answer)world_draw(world, 3)},
        .missing_spec = SLICE("\x52\5Width"),
        .reviewed_by = name_of(world, "user", 3),
        .notes = SLICE("notes"),
        .item_snapshot_json = world_draw(world, 2) == 0 ? SLICE("{}") : slice_of(NULL, 0),
        .time = {.is_given = world_draw(world, 4) == 0, .created_at_us = draw_past(world)},
    };
    const struct review_request request = {.org = org, .caller = caller_of_all(), .input = &input};
    uint64_t seq = 0;

    return review_submit(&world->ctx, txn, &request, &seq);
}

static enum err write_item(struct world *world, struct store_txn *txn, struct org_id org)
{
    const struct run_item_request request = {
        .org = org,
        .caller = caller_of_all(),
        .run_id = name_of(world, "run", NAMES),
        .item_json = SLICE("{\"name\":\"X1\"}"),
    };
    uint64_t seq = 0;

    return run_item_put(&world->ctx, txn, &request, &seq);
}

static enum err write_thresholds(struct world *world, struct store_txn *txn, struct org_id org)
{
    const struct review_thresholds_change change = {
        .org = org,
        .caller = caller_of_all(),
        .subcategory = name_of(world, "subcategory", 2),
        .values = {[THRESHOLD_BAD_FORMAT] = world_draw(world, 11)},
    };
    uint64_t seq = 0;

    return review_thresholds_set(&world->ctx, txn, &change, &seq);
}

static enum err write_any(struct world *world, struct store_txn *txn, struct org_id org)
{
    switch (world_draw(world, 15)) {
    case 13:
        return world_draw(world, 4) == 0 ? write_item(world, txn, org)
                                         : write_review(world, txn, org);
    case 14:
        return world_draw(world, 4) == 0 ? write_thresholds(world, txn, org)
                                         : write_review(world, txn, org);
    case 8:
    case 9:
    case 10:
        return write_retraction(world, txn, org);
    case 0:
        return write_settings(world, txn, org);
    case 1:
        return write_template(world, txn, org);
    case 2:
        return write_suggestion(world, txn, org);
    case 3:
    case 4:
        return write_judgement(world, txn, org);
    case 11:
        return write_verdict(world, txn, org);
    case 12:
        return write_rule(world, txn, org);
    default:
        return write_extraction(world, txn, org);
    }
}

enum err learned_write(struct world *world, struct store_txn *txn, struct org_id org,
                       struct work_result *ret_result)
{
    struct log_head before;
    struct log_head after;
    enum err err = log_read_head(txn, org, &before);

    if (err == OK) {
        err = write_any(world, txn, org);
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
