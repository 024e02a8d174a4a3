/*
 * descriptors_test.c: Goal: tables made at run time equal the generated ones, and a set that is
 * damaged or incomplete is refused. Method: the contract's own descriptors, read as if they came from
 * a file, beside the contract's tables.
 */
#include "tests/unit/bench_load/bench_load_tests.h"

#include "store/base/wire.h"
#include "tools/bench/load/methods.h"

#define FILES 1 /* FileDescriptorSet.file */

/* The set of the contract's files whose names begin with the prefix. */
static struct slice make_set(struct fixture *fixture, const char *prefix)
{
    struct buffer set;

    buffer_init(&set, &fixture->arena, 65536);
    for (uint32_t i = 0; i < contract_file_count; i++) {
        if (slice_starts_with(contract_files[i].name, slice_text(prefix))) {
            wire_put_bytes(&set, FILES, contract_files[i].descriptor);
        }
    }
    assert_true(buffer_ok(&set));
    return buffer_slice(&set);
}

static void expect_same_field(const struct field_info *field, const struct field_info *wanted)
{
    assert_true(slice_equal(field->name, wanted->name));
    assert_true(slice_equal(field->json_name, wanted->json_name));
    assert_int_equal(field->number, wanted->number);
    assert_int_equal(field->type, wanted->type);
    assert_int_equal(field->repeated, wanted->repeated);
    assert_int_equal(field->map, wanted->map);
    assert_int_equal(field->packed, wanted->packed);
    assert_int_equal(field->optional, wanted->optional);
    assert_int_equal(field->oneof, wanted->oneof);
    assert_int_equal(field->message != NULL, wanted->message != NULL);
    assert_int_equal(field->enumeration != NULL, wanted->enumeration != NULL);
    if (field->message != NULL) {
        assert_true(slice_equal(field->message->full_name, wanted->message->full_name));
    }
    if (field->enumeration != NULL) {
        assert_true(slice_equal(field->enumeration->full_name, wanted->enumeration->full_name));
        assert_int_equal(field->enumeration->count, wanted->enumeration->count);
        for (uint32_t i = 0; i < wanted->enumeration->count; i++) {
            assert_int_equal(field->enumeration->values[i].number,
                             wanted->enumeration->values[i].number);
        }
    }
}

static void test_descriptors_of_a_file_equal_the_contract(void **state)
{
    struct fixture *fixture = *state;
    struct descriptors descriptors;
    size_t compared = 0;

    assert_int_equal(descriptors_read(&fixture->ctx, "all", make_set(fixture, ""), &descriptors),
                     OK);
    for (uint32_t i = 0; i < contract_message_count; i++) {
        const struct message_info *wanted = contract_messages[i];
        const struct message_info *message =
            descriptors_find_message(&descriptors, wanted->full_name);

        assert_non_null(message);
        if (message == wanted) {
            continue; /* those of google.protobuf are in the contract itself */
        }
        compared++;
        assert_int_equal(message->count, wanted->count);
        assert_int_equal(message->well_known, wanted->well_known);
        for (uint32_t k = 0; k < wanted->count; k++) {
            expect_same_field(&message->fields[k], &wanted->fields[k]);
        }
    }
    assert_true(compared > 50);
    for (uint32_t i = 0; i < contract_method_count; i++) {
        const struct method_info *wanted = &contract_methods[i];
        const struct method_info *method = descriptors_find_method(&descriptors, wanted->path);

        assert_non_null(method);
        assert_true(slice_equal(method->request->full_name, wanted->request->full_name));
        assert_true(slice_equal(method->reply->full_name, wanted->reply->full_name));
        assert_int_equal(method->stream, wanted->stream);
    }
    assert_int_equal(methods_count(&descriptors), 2 * contract_method_count);
}

/* Requests built from the tables of a file equal those built from the contract's, byte by byte. */
static void test_requests_by_descriptors_equal_those_by_the_contract(void **state)
{
    static const char json[] =
        "{\"event\":{\"eventType\":\"FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED\",\"entityId\":"
        "\"${hex:9}"
        "\","
        "\"createdAt\":\"2026-01-02T03:04:05Z\",\"fieldsChanged\":[\"a\",\"b\"]}}";
    static const struct template_keys keys = {1, 0};
    struct fixture *fixture = *state;
    struct descriptors descriptors;
    const struct method_info *method = NULL;
    struct template theirs;
    struct template ours;

    assert_int_equal(descriptors_read(&fixture->ctx, "all", make_set(fixture, ""), &descriptors),
                     OK);
    method = descriptors_find_method(&descriptors,
                                     SLICE("/errata.v1.FeedbackService/CaptureFeedbackEvent"));
    assert_int_equal(
        template_compile(&fixture->ctx, method->request, slice_text(json), &keys, &theirs), OK);
    assert_int_equal(
        methods_compile(&fixture->ctx, NULL, method->path, slice_text(json), &keys, &ours), OK);
    assert_true(slice_equal(theirs.body, ours.body));
    assert_int_equal(theirs.places[0].at, ours.places[0].at);
}

static void test_damaged_descriptors_are_refused(void **state)
{
    struct fixture *fixture = *state;
    struct descriptors descriptors;
    struct slice set = make_set(fixture, "");

    assert_int_equal(
        descriptors_read(&fixture->ctx, "cut", slice_of(set.data, set.size - 5), &descriptors),
        ERR_INVALID);
    fixture_expect_fault(fixture, "cut: not a FileDescriptorSet; expected the output of protoc");
    assert_int_equal(descriptors_read(&fixture->ctx, "empty", slice_of(NULL, 0), &descriptors),
                     ERR_INVALID);
    fixture_expect_fault(fixture, "empty: it has no method");
    assert_int_equal(descriptors_read(&fixture->ctx, "one",
                                      make_set(fixture, "errata/v1/feedback_service.proto"),
                                      &descriptors),
                     ERR_INVALID);
    fixture_expect_fault(fixture, "one: it does not have a type that it names (was it written with "
                                  "--include_imports?): .errata.v1.");
}

int run_descriptors_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_descriptors_of_a_file_equal_the_contract,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_requests_by_descriptors_equal_those_by_the_contract,
                                        fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_descriptors_are_refused, fixture_set_up,
                                        fixture_tear_down)};

    return cmocka_run_group_tests_name("descriptors", tests, NULL, NULL);
}
