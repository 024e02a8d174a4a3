/*
 * samples.c: see samples.h.
 */
#include "tests/unit/rows/samples.h"
#include "server/domain/events/subject.h"

#include "store/log.h"

struct uuid sample_uuid(uint8_t number)
{
    struct uuid uuid;

    memset(uuid.bytes, number, sizeof(uuid.bytes));
    return uuid;
}

struct sha256_digest sample_digest(uint8_t number)
{
    struct sha256_digest digest;

    memset(digest.bytes, number, sizeof(digest.bytes));
    return digest;
}

struct envelope_record sample_envelope(void)
{
    struct envelope_record record = {
        .org = sample_uuid(0x11),
        .seq = 2,
        .id = sample_uuid(0x22),
        .kind = EVENT_FEEDBACK,
        .annotator = ANNOTATOR_HUMAN,
        .source = SOURCE_BACKFILL,
        .recorded_at_us = SAMPLE_TIME_US + 1000000,
        .created_at_us = SAMPLE_TIME_US,
        .actor_user_id = SLICE("anna"),
        .subjects = {{SUBJECT_LAYOUT, SLICE("acme")}, {SUBJECT_ENTITY, SLICE("line/7")}},
        .subject_count = 2,
        .facts_sha256 = sample_digest(0xf0),
        .content_sha256 = sample_digest(0xc0),
        .previous_sha256 = sample_digest(0x90),
        .write_index = 0,
        .has_idempotency = true,
        .idempotency = {.org = sample_uuid(0x11), .request_sha256 = sample_digest(0x0e)},
    };

    memset(record.idempotency.key_hash, 0x1d, sizeof(record.idempotency.key_hash));
    return record;
}

struct event_record sample_event(struct slice envelope)
{
    struct event_record record = {
        .envelope_bytes = envelope,
        .envelope = sample_envelope(),
        .facts = SLICE("facts"),
        .content = SLICE("content"),
        .salt = SLICE("0123456789abcdef"),
        .content_removed = false,
    };

    return record;
}

struct org_head_record sample_org_head(void)
{
    struct org_head_record record = {
        .last_seq = 2,
        .last_recorded_at_us = SAMPLE_TIME_US,
        .last_envelope_sha256 = sample_digest(0x90),
        .stored_bytes = 4096,
    };

    return record;
}

struct layout_head_record sample_layout_head(void)
{
    struct layout_head_record record = {
        .measured = SLICE("a measured digest with 32 bytes."),
        .feedback_count = 300,
        .example_count = 2,
        .marks = {{9, SAMPLE_TIME_US, 0, 0, 0}, {4, -1, 9, 3, 2700000}},
        .mark_count = 2,
        .first_document_seq = 3,
        .first_text_seq = 300,
        .updated_at_us = SAMPLE_TIME_US,
        .bare_count = 5,
        .bare_sum = 4000000,
    };

    return record;
}

struct example_record sample_example(void)
{
    struct example_record record = {
        .id = SLICE("\x22\x22\x22\x22\x22\x22\x22\x22"),
        .document_hash = SLICE("document"),
        .annotator_kind = 3,
        .example = SLICE("example"),
        .hint = {2, SLICE("\4\x40\"\"{}")},
        .hint_hash = "hash-of-the-hint",
        .copy_hash = 0x0102030405060708,
    };

    return record;
}

struct example_document_record sample_example_document(void)
{
    struct example_document_record record = {
        .annotator_kinds = 0xa,
        .has_superseded = true,
        .event_count = 4,
        .shown = {SAMPLE_TIME_US - 1, 8},
        .packed = SLICE("packed"),
    };

    return record;
}

struct example_mark_record sample_example_mark(void)
{
    struct example_mark_record record = {
        .superseded_by_seq = 300, .carried_count = 3, .carried_sum = 2700000};

    return record;
}

struct retracted_example_record sample_retracted_example(void)
{
    struct retracted_example_record record = {
        .retracted_by_seq = 400, .superseded_by_seq = 300, .row = SLICE("row")};

    return record;
}

void sample_entity(struct entity_record *ret_record)
{
    memset(ret_record, 0, sizeof(*ret_record));
    ret_record->remaining.items[0] = SLICE("unit");
    ret_record->remaining.count = 1;
}

struct document_record sample_document(void)
{
    struct document_record record = {
        .seq = 9,
        .first_seq = 4,
        .created_at_us = SAMPLE_TIME_US,
        .sha256 = sample_digest(0xd0),
        .layout_fingerprint =
            SLICE("f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1"),
        .scan = true,
        .family_seq = 300,
    };

    return record;
}

struct family_record sample_family(void)
{
    struct family_record record = {
        .id = sample_uuid(0x22),
        .document_count = 300,
        .fingerprint_count = 5,
        .first_seen_at_us = SAMPLE_TIME_US,
        .last_seen_at_us = SAMPLE_TIME_US + 1,
        .sketch_seqs = {9, 4},
        .sketch_count = 2,
        .alias_seqs = {12, 300},
        .alias_count = 2,
    };

    return record;
}

struct family_sketch_record sample_family_sketch(void)
{
    struct family_sketch_record record = {.family_seq = 4,
                                          .sketch = SLICE("8 or more numbers of 32 bits....")};

    return record;
}

struct profile_record sample_profile(void)
{
    struct profile_record record = {
        .measured = sample_digest(0xf1),
        .id = sample_uuid(0x22),
        .seen_count = 300,
        .first_seen_at_us = SAMPLE_TIME_US,
        .last_seen_at_us = SAMPLE_TIME_US + 1,
        .page_count_sum = 600,
        .table_count_sum = 300,
        .text_coverage_sum = 9300,
        .text_density_sum = 120000,
        .fp_version = SLICE("1/22.12.0"),
    };

    return record;
}

struct counter_record sample_counter(void)
{
    struct counter_record record = {.count = 300, .name = SLICE("qty")};

    return record;
}

struct artifact_record sample_artifact(void)
{
    struct artifact_record record = {
        .none = {300, 200, 12},
        .treatment = {40, 41, 3},
        .control = {10, 9, 9},
        .shadow = {4, 2, 1},
        .withdrawn_seq = 9,
        .outcome_seqs = {300, 200, 7},
        .outcome_seq_count = 3,
    };

    return record;
}

struct artifact_life_record sample_artifact_life(void)
{
    struct artifact_life_record life = {
        .state = 3,
        .held_back = true,
        .set_by_person = true,
        .version = 2,
        .valid_from_seq = 300,
        .content_seq = 200,
    };

    return life;
}

struct layout_stats_record sample_layout_stats(void)
{
    struct layout_stats_record record = {
        .layout_fingerprint = SLICE("acme"),
        .extraction_count = 300,
        .corrected_count = 31,
        .treatment = {200, 12, 2400, 19},
        .control = {40, 9, 480, 14},
        .excluded_count = {50, 0, 10},
    };

    return record;
}

struct extraction_record sample_extraction(void)
{
    struct extraction_record record = {
        .seq = 9,
        .created_at_us = SAMPLE_TIME_US,
        .layout_fingerprint = SLICE("acme"),
        .arm = 2,
        .exclusion = 5,
        .field_count = 12,
        .cites_exposures = true,
        .corrected_by_seq = 300,
        .corrected_fields = {7, UINT64_MAX},
        .corrected_field_count = 2,
        .correction_seqs = {300, 301},
        .correction_count = 2,
    };

    return record;
}

struct extraction_key_record sample_extraction_key(void)
{
    struct extraction_key_record record = {.seq = 9};

    return record;
}

struct mapping_record sample_mapping(void)
{
    struct mapping_record record = {
        .id = sample_uuid(0x22),
        .customer_id = SLICE("customer-7"),
        .customer_sku = SLICE("ab-1"),
        .internal_sku = SLICE("SKU1"),
        .status = 2,
        .confidence = 1,
        .support_count = 3,
        .use_count = 300,
        .last_used_at_us = SAMPLE_TIME_US + 1,
        .created_at_us = SAMPLE_TIME_US,
        .updated_at_us = SAMPLE_TIME_US + 2,
        .last_seq = 9,
        .version = 4,
        .similar_block = 1,
        .settled_at_us = SAMPLE_TIME_US,
    };

    return record;
}

struct mapping_confirmed_record sample_mapping_confirmed(void)
{
    struct mapping_confirmed_record record = {
        .seq = 2, .version = 4, .id = sample_uuid(0x22), .internal_sku = SLICE("SKU1")};

    return record;
}

struct prompt_template_record sample_prompt_template(void)
{
    struct prompt_template_record record = {.seq = 9, .version = 2, .name = SLICE("invoices")};

    return record;
}

struct learned_rule_record sample_learned_rule(void)
{
    struct learned_rule_record record = {
        .id = sample_uuid(0x22),
        .rule_type = 2,
        .pattern = SLICE("font"),
        .action = 2,
        .adjustment = -30000000,
        .count = 3,
        .reinforcement_count = 1,
        .accuracy = 500000000,
        .life = sample_artifact_life(),
        .auto_learned = true,
        .created_at_us = SAMPLE_TIME_US,
        .updated_at_us = SAMPLE_TIME_US + 1,
        .source_id = sample_uuid(0x33),
        .imported_seq = 250,
    };

    return record;
}

struct verdict_record sample_verdict(void)
{
    struct verdict_record record = {
        .original_verdict = 2, .correct_verdict = 1, .missed = SLICE("\x52\4font\x52\1a")};

    return record;
}

struct review_record sample_review(void)
{
    struct review_record record = {
        .decision = 3,
        .subcategory = SLICE("laptops"),
        .flags = {REVIEW_FALSE, REVIEW_TRUE, REVIEW_ABSENT, REVIEW_TRUE},
        .missing_spec = SLICE("\x52\5Width\x52\1a"),
        .reviewed_by = SLICE("anna"),
        .reviews_needed = 2,
        .retracted_seq = 400,
    };

    return record;
}

struct review_run_record sample_review_run(void)
{
    struct review_run_record record = {
        .run_id = SLICE("run-7"),
        .review_count = 3,
        .newest_seq = 300,
        .newest_created_at_us = SAMPLE_TIME_US,
        .subcategory = SLICE("laptops"),
        .is_reviewed = true,
        .item_seq = 299,
    };

    return record;
}

struct review_thresholds_record sample_review_thresholds(void)
{
    struct review_thresholds_record record = {
        .seq = 9, .values = {1, 10, 2, 3, 4}, .reviews_needed = 100};

    return record;
}

struct fragment_set_record sample_fragment_set(void)
{
    struct fragment_set_record record = {.seq = 9, .approved_seq = 300};

    return record;
}

struct turn_record sample_turn(void)
{
    struct turn_record record = {
        .seq = 9,
        .created_at_us = SAMPLE_TIME_US,
        .status = TURN_STATUS_ACCEPTED,
        .marked_seq = 300,
        .set_seq = 301,
    };

    return record;
}

struct rule_measure_record sample_rule_measure(void)
{
    struct rule_measure_record record = {
        .agreed = 30, .disagreed = 12, .undecided = 3, .kept_agreed = 5, .kept_disagreed = 11};

    return record;
}

struct rule_set_measure_record sample_rule_set_measure(void)
{
    struct rule_set_measure_record record = {
        .scores = 300,
        .directed = 280,
        .live = {200, 50, 4, 240, 11, 9, 190, 20, 3, 1},
        .shadow = {10, 1, 0, 9, 2, 0, 8, 1, 0, 0},
    };

    return record;
}

struct evaluator_record sample_evaluator(void)
{
    return (struct evaluator_record){
        .evaluator_id = SLICE("judge"), .evaluations = 300, .judged = 20, .overridden = 3};
}

struct proposal_record sample_proposal(void)
{
    struct proposal_record record = {
        .life = sample_artifact_life(),
        .vote_seq = 301,
        .expedited = true,
        .evidence_count = 4,
        .activated_seq = 301,
        .ended_seq = 302,
    };

    record.life.state = ARTIFACT_STATE_RETIRED;
    return record;
}

struct settings_record sample_settings(void)
{
    struct settings_record record = {
        .seq = 9,
        .holdout_percent = 10,
        .match_mode = 1,
        .annotator_kinds = 0xa,
        .grouping = 2,
        .stacking = 2,
        .suspicious_at = 300000001,
        .fake_at = 500000001,
        .reviews_needed = 3,
        .votes_needed = 1,
    };

    return record;
}

struct quota_record sample_quota(void)
{
    struct quota_record record = {
        .requests_per_second = 200,
        .request_burst = 1000,
        .concurrent_streams = 10,
        .pdf_jobs = 2,
        .stored_bytes = 1000000,
    };

    return record;
}

struct organization_record sample_organization(void)
{
    struct organization_record record = {
        .id = sample_uuid(0x11),
        .name = SLICE("default"),
        .created_at_us = SAMPLE_TIME_US,
        .suspended_at_us = SAMPLE_TIME_US + 1,
        .state_seq = 5,
    };

    return record;
}

struct token_record sample_token(void)
{
    struct token_record record = {
        .org = sample_uuid(0x11),
        .secret_sha256 = sample_digest(0x5e),
        .role = 6,
        .server = true,
        .user_id = SLICE("anna"),
        .created_by = SLICE("token:00000001"),
        .created_at_us = SAMPLE_TIME_US,
        .expire_at_us = SAMPLE_TIME_US + 1,
        .revoked_at_us = SAMPLE_TIME_US + 2,
    };

    return record;
}

struct idempotency_record sample_idempotency(void)
{
    struct idempotency_record record = {
        .request_sha256 = sample_digest(0x0e),
        .log_org = sample_uuid(0x11),
        .first_seq = 9,
        .count = 2,
    };

    return record;
}

struct meta_record sample_meta(void)
{
    struct meta_record record = {.number = 1, .bytes = SLICE("value")};

    return record;
}
