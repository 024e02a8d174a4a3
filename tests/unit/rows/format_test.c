/*
 * format_test.c: checks the examples of FORMAT.md. Each is built here by the store's code and
 * compared with the hex in the file, byte for byte. With ERRATA_PRINT_FORMAT=1 it prints the
 * examples instead, for an intended change of the format.
 */
#include "tests/unit/rows/rows_tests.h"

#include "server/domain/admin/keys.h"
#include "server/domain/artifacts/keys.h"
#include "server/domain/corrections/keys.h"
#include "server/domain/counters/keys.h"
#include "server/domain/dead_letters/keys.h"
#include "server/domain/decisions/keys.h"
#include "server/domain/events/feedback.h"
#include "server/domain/events/removal.h"
#include "server/domain/events/retraction.h"
#include "server/domain/experiment/records.h"
#include "server/domain/exposures/keys.h"
#include "server/domain/extractions/rows/keys.h"
#include "server/domain/guidelines/keys.h"
#include "server/domain/layouts/keys.h"
#include "server/domain/mappings/keys.h"
#include "server/domain/prompts/keys.h"
#include "server/domain/quotas/keys.h"
#include "server/domain/reviews/records.h"
#include "server/domain/turns/records.h"
#include "server/domain/verdicts/keys.h"
#include "store/base/buffer.h"
#include "store/log.h"
#include "tests/unit/rows/kinds.h"
#include "tests/unit/rows/samples.h"

#include <errata/v1/guideline.fields.h>
#include <stdio.h>
#include <stdlib.h>

#define FORMAT_FILE "store/FORMAT.md"
#define FORMAT_BYTES_MAX (1u << 20)
#define HEX_DIGITS_A_LINE 64

/* An example of the file: a heading, a key, and a record, if any. */
struct example {
    const char *heading;
    struct key key; /* size 0: a part of a record, which has no key */
    struct slice record;
};

static struct slice read_format(struct arena *arena)
{
    FILE *file = fopen(FORMAT_FILE, "r");
    uint8_t *bytes = arena_alloc(arena, FORMAT_BYTES_MAX);
    size_t size = 0;

    assert_non_null(file);
    assert_non_null(bytes);
    size = fread(bytes, 1, FORMAT_BYTES_MAX - 1, file);
    assert_int_equal(fclose(file), 0);
    bytes[size] = '\0';
    return slice_of(bytes, size);
}

static struct slice hex_of(struct arena *arena, struct slice bytes)
{
    struct buffer buffer;

    buffer_init(&buffer, arena, bytes.size * 2 + 1);
    for (size_t i = 0; i < bytes.size; i++) {
        buffer_printf(&buffer, "%02x", bytes.data[i]);
    }
    assert_true(buffer_ok(&buffer));
    return buffer_slice(&buffer);
}

/* Returns the hex digits of the lines after `label`, up to the next word that is not hex. */
static struct slice hex_after(struct arena *arena, const char *section, const char *label)
{
    const char *at = strstr(section, label);
    struct buffer buffer;

    buffer_init(&buffer, arena, 4096);
    if (at == NULL) {
        return slice_of(NULL, 0);
    }
    for (at += strlen(label); *at != '\0'; at++) {
        bool digit = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f');

        if (digit) {
            buffer_append_byte(&buffer, (uint8_t)*at);
        } else if (*at != ' ' && *at != '\n') {
            break;
        }
    }
    return buffer_slice(&buffer);
}

static void print_hex(const char *label, struct slice hex)
{
    for (size_t at = 0; at < hex.size; at += HEX_DIGITS_A_LINE) {
        size_t size = hex.size - at < HEX_DIGITS_A_LINE ? hex.size - at : HEX_DIGITS_A_LINE;

        printf("%-7s %.*s\n", at == 0 ? label : "", (int)size, (const char *)hex.data + at);
    }
    if (hex.size == 0) {
        printf("%s\n", label);
    }
}

static void compare_example(struct arena *arena, const char *text, const struct example *example)
{
    struct slice key = hex_of(arena, slice_of(example->key.bytes, example->key.size));
    struct slice record = hex_of(arena, example->record);
    struct slice heading = arena_printf(arena, "\n### %s\n", example->heading);
    const char *start = strstr(text, (const char *)heading.data);
    const char *fence = start == NULL ? NULL : strstr(start, "\n```\n");
    const char *end = fence == NULL ? NULL : strstr(fence + 5, "\n```");
    struct slice section = {NULL, 0};

    if (getenv("ERRATA_PRINT_FORMAT") != NULL) {
        printf("\n### %s\n```\n", example->heading);
        if (key.size > 0) {
            print_hex("key", key);
        }
        print_hex("record", record);
        printf("```\n");
        return;
    }
    if (end == NULL) {
        fail_msg("%s has no example under \"### %s\"", FORMAT_FILE, example->heading);
        return;
    }
    assert_true(arena_copy(arena, slice_of(fence, (size_t)(end - fence)), &section));
    assert_true(slice_equal(hex_after(arena, (const char *)section.data, "\nkey"), key));
    assert_true(slice_equal(hex_after(arena, (const char *)section.data, "\nrecord"), record));
}

static struct slice sample_of(struct arena *arena, const char *name)
{
    struct slice bytes = {NULL, 0};

    for (size_t i = 0; i < RECORD_KIND_COUNT; i++) {
        if (strcmp(record_kinds[i].name, name) == 0) {
            assert_int_equal(record_kinds[i].sample(arena, &bytes), OK);
            return bytes;
        }
    }
    fail_msg("no record is called %s", name);
    return bytes;
}

/* The examples of decisions, and of the rules for agents that follow from them. */
static void compare_decisions(struct arena *arena, const char *text, struct org_id org)
{
    static const uint8_t seq[] = {0, 0, 0, 0, 0, 0, 0, 2};
    struct sha256_digest digest = sample_digest(0xe1);
    const struct example examples[] = {
        {"decision", key_decision(org, SLICE("d-1")), slice_of(seq, sizeof(seq))},
        {"decision_time", key_decision_time(org, SAMPLE_TIME_US, 2), slice_of(seq, sizeof(seq))},
        {"decision_agent", key_decision_agent(org, SLICE("coder"), SAMPLE_TIME_US, 2),
         slice_of(seq, sizeof(seq))},
        {"decision_cluster", key_decision_cluster(org, SLICE("coder"), SLICE("model:2"), 2),
         SLICE("\0\0\0\2\0\0\x10\0\xff\xff\xf0\0")},
        {"decision_member", key_decision_member(org, 1, 2), slice_of(seq, sizeof(seq))},
        {"decision_high", key_decision_high(org, 2), slice_of(seq, sizeof(seq))},
        {"decision_theme", key_decision_theme(org, SLICE("model:2"), 2),
         SLICE("\xc8\x4a\x9e\x3a\xd1\x44\xb4\x3d\xa7\x39\x95\xa5\xa1\x27\x04\xf7\x10\0\xf0\0")},
        {"decision_evaluation", key_decision_evaluation(org, 2, SLICE("judge")),
         slice_of(seq, sizeof(seq))},
        {"decision_override", key_decision_override(org, 2), slice_of(seq, sizeof(seq))},
        {"evaluator", key_evaluator(org, SLICE("judge")), sample_of(arena, "evaluator")},
        {"dead_letter", key_dead_letter(org, 2), slice_of(seq, sizeof(seq))},
        {"dead_letter_entry",
         key_dead_letter_entry(org, SLICE("decisions"), SLICE("1-0"),
                               slice_of(digest.bytes, sizeof(digest.bytes))),
         slice_of(seq, sizeof(seq))},
        {"dead_letter_retry", key_dead_letter_retry(org, 1), slice_of(seq, sizeof(seq))},
        {"proposal", key_proposal(org, 2), sample_of(arena, "proposal")},
        {"proposal_pending", key_proposal_pending(org, true, 4, 2), slice_of(seq, sizeof(seq))},
        {"proposal_cluster", key_proposal_cluster(org, 1), slice_of(seq, sizeof(seq))},
        {"guideline", key_guideline(org, 2), slice_of(seq, sizeof(seq))},
        {"guideline_agent", key_guideline_agent(org, SLICE("coder"), RULE_TYPE_GUIDELINE, 300, 2),
         slice_of(seq, sizeof(seq))},
        {"guideline_version", key_guideline_version(org, SLICE("coder")),
         slice_of(seq, sizeof(seq))},
    };

    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        compare_example(arena, text, &examples[i]);
    }
}

/* Goal: the format's description is current. Method: the example of every table is built and
 * compared. */
static void test_examples_of_the_format_are_current(void **state)
{
    static const uint8_t seq[] = {0, 0, 0, 0, 0, 0, 0, 2};
    static const uint8_t counted[] = {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9};
    static const uint8_t change[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
                                     0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7};
    static const uint8_t hash[16] = {0x1d, 0x1d, 0x1d, 0x1d, 0x1d, 0x1d, 0x1d, 0x1d,
                                     0x1d, 0x1d, 0x1d, 0x1d, 0x1d, 0x1d, 0x1d, 0x1d};
    struct org_id org = {sample_uuid(0x11)};
    struct key_fingerprint fingerprint = key_fingerprint_of(SLICE("acme"));
    struct sha256_digest measured = sample_digest(0xf1);
    struct key none = {.size = 0};
    uint8_t family_example[sizeof(fingerprint.bytes) + 1];
    struct review_run_hash run = review_run_hash_of(SLICE("run-7"));
    struct slice run_value = slice_of(run.bytes, sizeof(run.bytes));
    uint8_t newest[REVIEW_NEWEST_BYTES] = {0};
    struct slice empty = {NULL, 0};
    struct arena arena;
    struct slice text = {NULL, 0};

    (void)state;
    arena_init(&arena, SIZE_MAX);
    text = read_format(&arena);
    memcpy(family_example, fingerprint.bytes, sizeof(fingerprint.bytes));
    family_example[sizeof(fingerprint.bytes)] = ANNOTATOR_HUMAN;
    memcpy(newest, run.bytes, sizeof(run.bytes));
    newest[sizeof(newest) - 1] = 3;
    struct example examples[] = {
        {"event", key_event(org, 2), sample_of(&arena, "event")},
        {"event: its envelope", none, sample_of(&arena, "event: its envelope")},
        {"org_head", key_org(org), sample_of(&arena, "org_head")},
        {"event_id", key_event_id(org, sample_uuid(0x22)), slice_of(seq, sizeof(seq))},
        {"subject", key_subject(org, SUBJECT_LAYOUT, SLICE("acme"), SAMPLE_TIME_US, 2), empty},
        {"backfill", key_backfill(org, SAMPLE_TIME_US, 2), empty},
        {"example: the layout's head", key_layout_head(org, &fingerprint),
         sample_of(&arena, "example: the layout's head")},
        {"example", key_example(org, &fingerprint, SAMPLE_TIME_US, 9),
         sample_of(&arena, "example")},
        {"example_document", key_example(org, &fingerprint, SAMPLE_TIME_US, 9),
         sample_of(&arena, "example_document")},
        {"example_mark", key_example_mark(org, 9), sample_of(&arena, "example_mark")},
        {"example_retracted", key_example(org, &fingerprint, SAMPLE_TIME_US, 9),
         sample_of(&arena, "example_retracted")},
        {"example_freed", key_example_freed(org, 9, 400), slice_of(seq, sizeof(seq))},
        {"entity_past", key_entity_past(org, SLICE("line"), SLICE("7"), SAMPLE_TIME_US, 9), empty},
        {"entity", key_entity(org, SLICE("line"), SLICE("7"), 9), sample_of(&arena, "entity")},
        {"feedback_subject",
         key_feedback_subject(org, SUBJECT_DRAFT_ORDER, SLICE("order-7"), SAMPLE_TIME_US, 9),
         empty},
        {"document", key_document(org, SLICE("invoice-7")), sample_of(&arena, "document")},
        {"document_time", key_document_time(org, SAMPLE_TIME_US, 9), empty},
        {"document_layout", key_document_layout(org, &fingerprint, SAMPLE_TIME_US, 9), empty},
        {"family", key_family(org, 9), sample_of(&arena, "family")},
        {"family_sketch", key_family_sketch(org, 9), sample_of(&arena, "family_sketch")},
        {"family_layout", key_family_layout(org, 9, &fingerprint),
         slice_of(measured.bytes, sizeof(measured.bytes))},
        {"layout_family", key_layout_family(org, &fingerprint, 9),
         slice_of(counted, sizeof(counted))},
        {"family_document", key_family_document(org, 9, SAMPLE_TIME_US, 9), empty},
        {"family_example", key_family_example(org, 9, SAMPLE_TIME_US, 9),
         slice_of(family_example, sizeof(family_example))},
        {"family_example_count", key_family_prefix(org, 9), slice_of(seq, sizeof(seq))},
        {"family_example_moved", key_family_example(org, 9, SAMPLE_TIME_US, 9),
         slice_of(family_example, sizeof(family_example))},
        {"document_moved", key_document_moved(org, SLICE("invoice-7"), 400),
         slice_of(seq, sizeof(seq))},
        {"layout_family_past", key_layout_family_past(org, &fingerprint, 9, 400),
         slice_of(seq, sizeof(seq))},
        {"family_change", key_family_change(org, 9), slice_of(change, sizeof(change))},
        {"profile", key_profile(org, &fingerprint), sample_of(&arena, "profile")},
        {"profile_last_seen", key_profile_last_seen(org, SAMPLE_TIME_US, &measured), empty},
        {"profile_most_seen", key_profile_most_seen(org, 300, &measured), empty},
        {"counter", key_counter(org, 20455, COUNTER_LINE_FIELD, SLICE("qty")),
         sample_of(&arena, "counter")},
        {"layout_stats", key_layout_stats(org, &fingerprint), sample_of(&arena, "layout_stats")},
        {"extraction", key_extraction(org, 9), sample_of(&arena, "extraction")},
        {"extraction_key", key_extraction_key(org, EXTRACTION_KEY_DOCUMENT, SLICE("invoice-7")),
         sample_of(&arena, "extraction_key")},
        {"extraction_kept", key_extraction_kept(org, 300, 9), empty},
        {"retracted", key_retracted(org, 9), slice_of(seq, sizeof(seq))},
        {"removal_floor", key_removal_floor(org, CONTENT_CLASS_CORRECTIONS),
         slice_of(seq, sizeof(seq))},
        {"removal_floor of an erased event", key_removal_erased(org, 9),
         slice_of(seq, sizeof(seq))},
        {"extraction_subject",
         key_extraction_subject(org, SUBJECT_DOCUMENT, SLICE("invoice-7"), SAMPLE_TIME_US, 9),
         empty},
        {"artifact", key_artifact(org, 9), sample_of(&arena, "artifact")},
        {"artifact_life", key_artifact_life(org, 9, 300), sample_of(&arena, "artifact_life")},
        {"artifact_evidence", key_artifact_evidence(org, 9, 300), slice_of(seq, sizeof(seq))},
        {"exposure", key_exposure(org, hash), slice_of(seq, sizeof(seq))},
        {"outcome", key_outcome(org, 2, EVENT_MAPPING_APPLIED, SLICE("invoice-7")),
         slice_of(seq, sizeof(seq))},
        {"mapping", key_mapping(org, 2), sample_of(&arena, "mapping")},
        {"mapping_sku", key_mapping_sku(org, SLICE("customer-7"), SLICE("ab-1"), 2), empty},
        {"mapping_internal", key_mapping_internal(org, SLICE("sku1"), SLICE("ab-1"), 2), empty},
        {"mapping_all", key_mapping_all(org, SLICE("ab-1"), 2), empty},
        {"mapping_pair", key_mapping_pair(org, SLICE("customer-7"), SLICE("ab-1"), SLICE("sku1")),
         slice_of(seq, sizeof(seq))},
        {"mapping_confirmed", key_mapping_confirmed(org, SLICE("customer-7"), SLICE("ab-1")),
         sample_of(&arena, "mapping_confirmed")},
        {"mapping_similar", key_mapping_similar(org, SLICE("customer-7"), 1), empty},
        {"prompt_template", key_prompt_template(org, SLICE("invoices"), 2),
         sample_of(&arena, "prompt_template")},
        {"learned_rule", key_learned_rule(org, 2), sample_of(&arena, "learned_rule")},
        {"learned_rule_pattern", key_learned_rule_pattern(org, SLICE("font"), 2),
         slice_of(seq, sizeof(seq))},
        {"verdict", key_verdict(org, SAMPLE_TIME_US, 2), sample_of(&arena, "verdict")},
        {"review", key_review(org, &run, SAMPLE_TIME_US, 300), sample_of(&arena, "review")},
        {"review_run", key_review_run(org, &run), sample_of(&arena, "review_run")},
        {"review_time", key_review_time(org, SAMPLE_TIME_US, 300), run_value},
        {"review_subcategory", key_review_subcategory(org, SLICE("laptops"), SAMPLE_TIME_US, 300),
         run_value},
        {"review_newest", key_review_subcategory(org, SLICE("laptops"), SAMPLE_TIME_US, 300),
         slice_of(newest, sizeof(newest))},
        {"review_item", key_review_item(org, &run, 299), slice_of(seq, sizeof(seq))},
        {"review_example", key_review_example(org, SLICE("laptops"), 299), run_value},
        {"review_thresholds", key_review_thresholds(org, SLICE("laptops")),
         sample_of(&arena, "review_thresholds")},
        {"fragment_set", key_fragment_set(org, 2), sample_of(&arena, "fragment_set")},
        {"fragment_approval", key_fragment_approval(org, 300), slice_of(seq, sizeof(seq))},
        {"rule_measure", key_rule_measure(org, 2, 1), sample_of(&arena, "rule_measure")},
        {"rule_set_measure", key_org(org), sample_of(&arena, "rule_set_measure")},
        {"measured_verdict", key_measured_verdict(org, 2, 1, 4), slice_of(seq, sizeof(seq))},
        {"settings", key_org(org), sample_of(&arena, "settings")},
        {"quota", key_quota_of_token(org, 0x01020304), sample_of(&arena, "quota")},
        {"organization", key_organization_global(sample_uuid(0x11)),
         sample_of(&arena, "organization")},
        {"organization_name", key_organization_name_global(SLICE("default")),
         slice_of(org.uuid.bytes, sizeof(org.uuid.bytes))},
        {"token", key_token_global(0x01020304), sample_of(&arena, "token")},
        {"token_by_org", key_token_by_org(org, 0x01020304), empty},
        {"idempotency", key_idempotency(org, 490923, hash), sample_of(&arena, "idempotency")},
        {"meta", key_meta_global(SLICE("format")), sample_of(&arena, "meta")},
    };
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        compare_example(&arena, (const char *)text.data, &examples[i]);
    }
    compare_decisions(&arena, (const char *)text.data, org);
    arena_deinit(&arena);
}

/* Goal: the description of tables of turns is current. Method: their examples are built and
 * compared. */
static void test_examples_of_turns_are_current(void **state)
{
    static const uint8_t seq[] = {0, 0, 0, 0, 0, 0, 0, 2};
    struct org_id org = {sample_uuid(0x11)};
    struct turn_hash turn = turn_hash_of(SLICE("session-7"), SLICE("turn-9"));
    struct slice turn_value = turn_hash_slice(&turn);
    struct arena arena;
    struct slice text = {NULL, 0};

    (void)state;
    arena_init(&arena, SIZE_MAX);
    text = read_format(&arena);
    struct example examples[] = {
        {"turn", key_turn(org, &turn), sample_of(&arena, "turn")},
        {"turn_time", key_turn_time(org, SAMPLE_TIME_US, 9), turn_value},
        {"turn_session", key_turn_session(org, &turn, SAMPLE_TIME_US, 9), turn_value},
        {"turn_status", key_turn_status(org, TURN_STATUS_ACCEPTED, SAMPLE_TIME_US, 9), turn_value},
        {"turn_detection", key_turn(org, &turn), slice_of(seq, sizeof(seq))},
        {"turn_judged", key_turn_judged(org, 300), SLICE("\1")},
        {"turn_vector", key_org_seq(org, 9), SLICE("\10caller:2\xff\x7f\1\x80")},
    };
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        compare_example(&arena, (const char *)text.data, &examples[i]);
    }
    arena_deinit(&arena);
}

/* Goal: every table is in the description. Method: each table's name is a heading. */
static void test_every_table_is_described(void **state)
{
    struct arena arena;
    struct slice text = {NULL, 0};

    (void)state;
    arena_init(&arena, SIZE_MAX);
    text = read_format(&arena);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        struct slice heading =
            arena_printf(&arena, "\n### %s\n", store_table_name((enum store_table)i));

        assert_non_null(strstr((const char *)text.data, (const char *)heading.data));
    }
    arena_deinit(&arena);
}

int run_format_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_of_the_format_are_current),
        cmocka_unit_test(test_examples_of_turns_are_current),
        cmocka_unit_test(test_every_table_is_described),
    };

    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
