/*
 * rule_files_tests.c: documents of rules round trip, and damaged ones change nothing.
 */
#include "server/domain/rule_files/file_time.h"
#include "server/domain/rule_files/rule_export.h"
#include "server/domain/rule_files/rule_import.h"
#include "store/base/json.h"
#include "tests/support/store/store_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define ROUNDS 4000
#define RULES_MAX 12

static struct store_txn *begin(struct store_fixture *fixture)
{
    struct store_txn *txn = store_fixture_begin(fixture);

    log_begin_write(txn, NULL);
    return txn;
}

/* Returns a random number below a limit. */
static size_t draw(struct store_fixture *fixture, size_t limit)
{
    uint32_t number = 0;

    random_fill(fixture->ctx.random, &number, sizeof(number));
    return number % limit;
}

static struct slice export_all(struct store_fixture *fixture, struct store_txn *txn, uint8_t org)
{
    struct rule_export rule_export = {.has_begun = false};
    struct buffer document;

    buffer_init(&document, &fixture->arena, 4096);
    while (!rule_export.has_ended) {
        assert_int_equal(rule_export_next(txn, store_fixture_org(org), &rule_export, &document),
                         OK);
    }
    return buffer_slice(&document);
}

/* Checks a text like a request, then reads it. */
static enum err read_document(struct store_fixture *fixture, struct slice text,
                              struct rule_import *ret_import)
{
    const struct json_rules rules = {.depth_max = JSON_FIELD_DEPTH_MAX};
    struct json_value value = {.kind = JSON_NULL};
    struct json_problem problem;
    enum err err = json_check(&fixture->arena, text, &rules, &value, &problem);

    fault_init(&fixture->fault, &fixture->arena);
    if (err == OK && value.kind != JSON_OBJECT) {
        return ERR_INVALID;
    }
    return err != OK ? err : rule_import_read(&fixture->ctx, text, ret_import);
}

static struct work_result write_document(struct store_fixture *fixture, struct store_txn *txn,
                                         uint8_t org, const struct rule_import *import,
                                         bool replace)
{
    const struct rule_import_request request = {
        .org = store_fixture_org(org),
        .caller = {ROLE_ADMIN, {NULL, 0}, 0xabcd, false},
        .import = import,
        .replace = replace,
    };
    struct work_result result = {.first_seq = 0};

    assert_int_equal(rule_import_write(&fixture->ctx, txn, &request, &result), OK);
    return result;
}

/* A document of random rules, each with a random part of the members. */
static struct slice random_document(struct store_fixture *fixture)
{
    static const char *const types[] = {"false_negative", "false_positive", "missed_indicator"};
    static const char *const states[] = {"proposed",        "shadow",  "active",
                                         "sunset_proposed", "retired", "rejected"};
    size_t count = draw(fixture, RULES_MAX);
    struct buffer text;

    buffer_init(&text, &fixture->arena, 4096);
    buffer_printf(&text, "{\"rules\":[");
    for (size_t i = 0; i < count; i++) {
        size_t type = draw(fixture, 3);
        double adjustment = (double)draw(fixture, 1000000001) / 1e9;

        buffer_printf(&text, "%s{\"pattern\":\"p%d\\u00e9\",\"rule_type\":\"%s\"", i > 0 ? "," : "",
                      (int)i, types[type]);
        if (draw(fixture, 4) > 0) {
            buffer_printf(&text, ",\"confidence_adjustment\":");
            json_write_double(&text, type == 1 ? -adjustment : adjustment);
        }
        if (draw(fixture, 2) > 0) {
            buffer_printf(&text, ",\"state\":\"%s\"", states[draw(fixture, 6)]);
        }
        if (draw(fixture, 2) > 0) {
            buffer_printf(&text,
                          ",\"enabled\":%s,\"auto_learned\":%s,\"accuracy_on_validation\":0.%d",
                          draw(fixture, 2) ? "true" : "false", draw(fixture, 2) ? "true" : "false",
                          (int)draw(fixture, 1000000));
        }
        if (draw(fixture, 2) > 0) {
            buffer_printf(&text, ",\"learned_from_feedback_count\":%d", (int)draw(fixture, 1000));
        }
        buffer_printf(&text, "}");
    }
    buffer_printf(&text, "],\"schema_version\":1}");
    assert_true(buffer_ok(&text));
    return buffer_slice(&text);
}

/* Goal: rules are the same after import and export, for all values, and a second import of the export finds
 * nothing to change. Method: random documents, replacing those before; the export is read again and compared. */
static void test_random_rules_survive_import_and_export(void **state)
{
    struct store_fixture *fixture = *state;

    for (int round = 0; round < 200; round++) {
        struct store_txn *txn = begin(fixture);
        struct rule_import import;
        struct rule_import again;
        struct slice document = random_document(fixture);

        assert_int_equal(read_document(fixture, document, &import), OK);
        (void)write_document(fixture, txn, 1, &import, false);
        assert_int_equal(read_document(fixture, export_all(fixture, txn, 1), &again), OK);
        assert_int_equal(again.count, import.count);
        for (size_t i = 0; i < import.count; i++) {
            const struct learned_rule_values *wanted = &import.items[i].values;
            const struct learned_rule_values *found = &again.items[i].values;
            enum artifact_state state_wanted =
                wanted->state == ARTIFACT_STATE_UNSPECIFIED ? ARTIFACT_STATE_ACTIVE : wanted->state;

            assert_int_equal(again.items[i].rule_type, import.items[i].rule_type);
            assert_true(slice_equal(again.items[i].pattern, import.items[i].pattern));
            assert_int_equal(found->adjustment, wanted->adjustment);
            assert_int_equal(found->count, wanted->count);
            assert_int_equal(found->accuracy, wanted->accuracy);
            assert_int_equal(found->enabled, wanted->enabled);
            assert_int_equal(found->auto_learned, wanted->auto_learned);
            assert_int_equal(found->state, state_wanted);
        }
        assert_int_equal(write_document(fixture, txn, 1, &again, true).count, 0);
        store_abort(txn);
        arena_reset(&fixture->arena);
    }
}

/* Goal: another adjustment is a new version; another state or count is not a new version. Method: one rule, imported
 * with each. */
static void test_only_another_adjustment_is_a_version(void **state)
{
    static const struct {
        const char *members;
        uint32_t version;
        uint32_t events;
    } steps[] = {
        {"\"confidence_adjustment\":0.1", 1, 1},
        {"\"confidence_adjustment\":0.1", 1, 0},
        {"\"confidence_adjustment\":0.1,\"enabled\":false", 1, 1},
        {"\"confidence_adjustment\":0.1,\"state\":\"retired\"", 1, 1},
        {"\"confidence_adjustment\":0.2", 2, 1},
        {"\"confidence_adjustment\":0.2,\"learned_from_feedback_count\":4", 2, 1},
    };
    struct store_fixture *fixture = *state;
    struct store_txn *txn = begin(fixture);

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct slice text = arena_printf(&fixture->arena,
                                         "{\"schema_version\":1,\"rules\":[{\"rule_type\":\"missed_"
                                         "indicator\",\"pattern\":\"p\",%s}]}",
                                         steps[i].members);
        struct learned_rule_row row;
        struct rule_import import;

        assert_int_equal(read_document(fixture, text, &import), OK);
        assert_int_equal(write_document(fixture, txn, 1, &import, false).count, steps[i].events);
        assert_int_equal(learned_rule_find(txn, store_fixture_org(1), SLICE("p"),
                                           LEARNED_RULE_TYPE_MISSED_INDICATOR, &row),
                         OK);
        assert_int_equal(row.record.life.version, steps[i].version);
        assert_int_equal(row.record.life.state,
                         i < 3 ? ARTIFACT_STATE_ACTIVE : ARTIFACT_STATE_RETIRED);
    }
    store_abort(txn);
}

/* Goal: a damaged document is refused with a reason, or has only values within the limits. Method: random bytes of a
 * document are replaced, removed or doubled. */
static void test_damaged_documents_are_refused_or_valid(void **state)
{
    struct store_fixture *fixture = *state;
    unsigned refused = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct rule_import import;
        struct slice text = {NULL, 0};
        uint8_t *bytes = NULL;
        enum err err = OK;

        assert_true(arena_copy(&fixture->arena, random_document(fixture), &text));
        bytes = (uint8_t *)(uintptr_t)text.data;
        for (size_t i = draw(fixture, 4); i > 0; i--) {
            size_t at = draw(fixture, text.size);
            size_t from = draw(fixture, text.size);

            bytes[at] = draw(fixture, 2) > 0 ? bytes[from] : (uint8_t)draw(fixture, 256);
        }
        text.size -= draw(fixture, 8) == 0 ? draw(fixture, text.size) : 0;
        err = read_document(fixture, text, &import);
        assert_true(err == OK || err == ERR_INVALID);
        refused += err == ERR_INVALID;
        for (size_t i = 0; err == OK && i < import.count; i++) {
            const struct learned_rule_values *values = &import.items[i].values;

            assert_true(values->adjustment >= -VERDICT_UNIT && values->adjustment <= VERDICT_UNIT);
            assert_true(values->accuracy <= (uint64_t)VERDICT_UNIT);
            assert_true(values->count <= RULE_IMPORT_COUNT_MAX);
            assert_in_range(import.items[i].pattern.size, 1, RULE_IMPORT_PATTERN_BYTES_MAX);
            assert_ptr_equal(rule_import_find(&import, (uint32_t)import.items[i].rule_type,
                                              import.items[i].pattern),
                             &import.items[i]);
        }
        arena_reset(&fixture->arena);
    }
    assert_in_range(refused, ROUNDS / 4, ROUNDS - ROUNDS / 8);
}

/* The largest count is 2^53: all integers up to it are exact in every reader of JSON. */
static void test_counts_are_exact_in_every_reader(void **state)
{
    static const struct {
        const char *count;
        enum err err;
    } counts[] = {{"9007199254740992", OK}, {"9007199254740993", ERR_INVALID}};
    struct store_fixture *fixture = *state;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct slice text =
            arena_printf(&fixture->arena,
                         "{\"schema_version\":1,\"rules\":[{\"rule_type\":\"false_negative\","
                         "\"pattern\":\"p\",\"learned_from_feedback_count\":%s}]}",
                         counts[i].count);
        struct rule_import import;

        assert_int_equal(read_document(fixture, text, &import), counts[i].err);
    }
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, store_fixture_set_up, store_fixture_tear_down)

static void assert_file_time(struct store_fixture *fixture, int64_t time_us, const char *expected)
{
    struct buffer text;

    buffer_init(&text, &fixture->arena, 64);
    file_time_put(time_us, &text);
    assert_true(buffer_ok(&text));
    assert_true(slice_equal(buffer_slice(&text), slice_text(expected)));
}

static void test_times_keep_their_microseconds(void **state)
{
    struct store_fixture *fixture = *state;

    assert_file_time(fixture, 1700000000123456, "\"2023-11-14T22:13:20.123456Z\"");
    assert_file_time(fixture, 1700000000000000, "\"2023-11-14T22:13:20Z\"");
    assert_file_time(fixture, -1, "\"1969-12-31T23:59:59.999999Z\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_rules_survive_import_and_export),
        TEST(test_only_another_adjustment_is_a_version),
        TEST(test_damaged_documents_are_refused_or_valid),
        TEST(test_times_keep_their_microseconds),
        TEST(test_counts_are_exact_in_every_reader),
    };

    return cmocka_run_group_tests_name("rule_files", tests, NULL, NULL);
}
