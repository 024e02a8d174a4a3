/*
 * contract_test.c: the generated tables of the real contract. They are compared with what protoc
 * itself says of the same files (a descriptor set made by the build), and with a few facts written
 * down here by hand.
 */
#include "server/codec/contract.h"
#include "store/base/wire.h"

#include <errata/contract_messages.h>
#include <errata/contract_methods.h>
#include <errata/v1/role.fields.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Well above what the contract takes; a test that reads less than the whole file fails. */
#define DESCRIPTORS_BYTES_MAX (1u << 20)

static struct slice read_descriptors(void)
{
    const char *path = getenv("ERRATA_TEST_DESCRIPTORS");
    uint8_t *bytes = malloc(DESCRIPTORS_BYTES_MAX);
    FILE *file = NULL;
    size_t size = 0;

    assert_non_null(bytes);
    if (path == NULL) {
        fail_msg("ERRATA_TEST_DESCRIPTORS must name protoc's descriptor set; run this by ctest");
    }
    file = fopen(path, "rb");
    assert_non_null(file);
    size = fread(bytes, 1, DESCRIPTORS_BYTES_MAX, file);
    assert_int_equal(fclose(file), 0);
    assert_true(size > 0 && size < DESCRIPTORS_BYTES_MAX);
    return slice_of(bytes, size);
}

static const struct contract_file *find_file(struct slice name)
{
    for (uint32_t i = 0; i < contract_file_count; i++) {
        if (slice_equal(contract_files[i].name, name)) {
            return &contract_files[i];
        }
    }
    return NULL;
}

/* The name (field 1) and the imports (field 3) of a FileDescriptorProto are the file's. */
static void check_head(const struct contract_file *file)
{
    struct wire_reader reader = wire_reader_of(file->descriptor);
    struct wire_field field;
    uint32_t imports = 0;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == 1) {
            assert_true(slice_equal(field.bytes, file->name));
        }
        if (field.number == 3) {
            assert_true(imports < file->dependency_count);
            assert_true(file->dependencies[imports] < contract_file_count);
            assert_true(slice_equal(contract_files[file->dependencies[imports]].name, field.bytes));
            imports++;
        }
    }
    assert_int_equal(imports, file->dependency_count);
}

/* Goal: reflection serves the descriptors that protoc makes. Method: every file of protoc's set has
 * an equal one. */
static void test_descriptors_equal_those_of_protoc(void **state)
{
    struct slice set = read_descriptors();
    struct wire_reader reader = wire_reader_of(set);
    struct wire_field entry;
    uint32_t count = 0;

    (void)state;
    while (wire_next(&reader, &entry) == OK) {
        struct wire_reader inside = wire_reader_of(entry.bytes);
        struct wire_field name;
        const struct contract_file *file = NULL;

        assert_int_equal(entry.number, 1);
        assert_int_equal(wire_next(&inside, &name), OK);
        assert_int_equal(name.number, 1);
        file = find_file(name.bytes);
        if (file == NULL) {
            fail_msg("%.*s is not embedded", (int)name.bytes.size, (const char *)name.bytes.data);
            return;
        }
        assert_true(slice_equal(file->descriptor, entry.bytes));
        check_head(file);
        count++;
    }
    assert_int_equal(reader.rest.size, 0);
    assert_int_equal(count, contract_file_count);
    free((void *)(uintptr_t)set.data);
}

static void check_fields(const struct message_info *message)
{
    for (uint32_t i = 0; i < message->count; i++) {
        const struct field_info *field = &message->fields[i];

        assert_true(i == 0 || message->fields[i - 1].number < field->number);
        assert_ptr_equal(contract_find_field(message, field->number), field);
        assert_int_equal(field->type == FIELD_MESSAGE, field->message != NULL);
        assert_int_equal(field->type == FIELD_ENUM, field->enumeration != NULL);
        assert_true(field->json_name.size > 0);
    }
    assert_null(contract_find_field(message, 0));
    assert_null(contract_find_field(message, UINT32_MAX));
}

/* Goal: binary search finds every row. Method: looks up each row, and unknown ones. */
static void test_every_row_is_found_by_name(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < contract_method_count; i++) {
        assert_ptr_equal(contract_find_method(contract_methods[i].path), &contract_methods[i]);
        assert_int_equal(contract_methods[i].index, i);
    }
    for (uint32_t i = 0; i < contract_message_count; i++) {
        assert_ptr_equal(contract_find_message(contract_messages[i]->full_name),
                         contract_messages[i]);
        check_fields(contract_messages[i]);
    }
    for (uint32_t i = 0; i < contract_symbol_count; i++) {
        assert_ptr_equal(contract_find_symbol(contract_symbols[i].name), &contract_symbols[i]);
        assert_true(contract_symbols[i].file < contract_file_count);
    }
    for (uint32_t i = 1; i < contract_file_count; i++) {
        assert_true(slice_compare(contract_files[i - 1].name, contract_files[i].name) < 0);
    }
    assert_null(contract_find_method(SLICE("")));
    assert_null(contract_find_method(SLICE("/errata.v1.PromptService/getexamples")));
    assert_null(contract_find_method(SLICE("/errata.v1.PromptService/GetExamples/")));
    assert_null(contract_find_message(SLICE("errata.v1.Nothing")));
    assert_null(contract_find_symbol(SLICE("zzz")));
}

/* Goal: options are in the tables. Method: compares a few methods with the options in the .proto
 * files. */
static void test_method_options_are_in_the_table(void **state)
{
    const struct method_info *capture =
        contract_find_method(SLICE("/errata.v1.FeedbackService/CaptureFeedbackEvent"));
    const struct method_info *watch =
        contract_find_method(SLICE("/errata.v1.EventService/WatchEvents"));
    const struct method_info *health = contract_find_method(SLICE("/grpc.health.v1.Health/Check"));
    const struct method_info *reflection = contract_find_method(
        SLICE("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"));

    (void)state;
    assert_non_null(capture);
    assert_int_equal(capture->index, CONTRACT_METHOD_FEEDBACK_SERVICE_CAPTURE_FEEDBACK_EVENT);
    assert_int_equal(capture->transaction, METHOD_WRITE);
    assert_int_equal(capture->stage, METHOD_PREPARE);
    assert_int_equal(capture->backfill_roles, 1u << ROLE_INTEGRATOR);
    assert_int_equal(capture->roles & (1u << ROLE_VIEWER), 0);
    assert_false(capture->open || capture->no_side_effects);
    assert_ptr_equal(capture->request, &contract_errata_v1_capture_feedback_event_request);
    assert_non_null(watch);
    assert_int_equal(watch->stream, METHOD_SERVER_STREAM);
    assert_int_equal(watch->transaction, METHOD_READ);
    assert_non_null(health);
    assert_true(health->open);
    assert_int_equal(health->roles, 0);
    assert_int_equal(health->transaction, METHOD_NO_TRANSACTION);
    assert_non_null(reflection);
    assert_int_equal(reflection->stream, METHOD_BIDI_STREAM);
    for (uint32_t i = 0; i < contract_method_count; i++) {
        assert_true(contract_methods[i].open == (contract_methods[i].roles == 0));
    }
}

/* Goal: rules of fields are in the tables. Method: compares a few with the .proto, by hand. */
static void test_field_rules_are_in_the_table(void **state)
{
    const struct field_info *size = contract_find_field(&contract_errata_v1_list_events_request, 1);
    const struct field_info *before = contract_find_field(&contract_errata_v1_feedback_event, 20);
    const struct field_info *time = contract_find_field(&contract_errata_v1_feedback_event, 12);
    const struct field_info *as_of =
        contract_find_field(&contract_errata_v1_get_examples_request, 8);

    (void)state;
    assert_true(size->rules.not_negative && size->rules.max_value == 0);
    assert_true(slice_equal(size->json_name, SLICE("pageSize")));
    assert_int_equal(before->rules.format, FORMAT_JSON_OBJECT);
    assert_true(before->rules.content && !before->optional);
    assert_true(time->rules.not_future);
    assert_int_equal(time->message->well_known, MESSAGE_TIMESTAMP);
    assert_int_equal(as_of->oneof, 0);
    assert_true(as_of->optional);
    assert_true(contract_find_field(&contract_errata_v1_feedback_event, 9)->optional);
    assert_int_equal(contract_find_field(&contract_errata_v1_feedback_event, 9)->oneof, -1);
    assert_true(contract_find_field(&contract_errata_v1_watch_events_request, 2)->packed);
    assert_true(contract_find_field(&contract_google_protobuf_struct, 1)->map);
}

/* Goal: enums have both spellings. Method: one enum with a prefix and one without. */
static void test_enums_have_full_and_short_names(void **state)
{
    const struct enum_info *type = &contract_errata_v1_feedback_event_type;
    const struct enum_info *health = &contract_grpc_health_v1_health_check_response_serving_status;
    enum role role = ROLE_UNSPECIFIED;

    (void)state;
    assert_int_equal(type->values[1].number, 1);
    assert_true(slice_equal(type->values[1].name, SLICE("FEEDBACK_EVENT_TYPE_MAPPING_CONFIRMED")));
    assert_true(slice_equal(type->values[1].short_name, SLICE("MAPPING_CONFIRMED")));
    assert_true(slice_equal(health->values[1].short_name, SLICE("SERVING")));
    assert_true(role_from_wire(6, &role));
    assert_int_equal(role, ROLE_ADMIN);
    assert_false(role_from_wire(7, &role));
    assert_false(role_from_wire(-1, &role));
    for (uint32_t i = 1; i < contract_enum_count; i++) {
        assert_true(slice_compare(contract_enums[i - 1]->full_name, contract_enums[i]->full_name) <
                    0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors_equal_those_of_protoc),
        cmocka_unit_test(test_every_row_is_found_by_name),
        cmocka_unit_test(test_method_options_are_in_the_table),
        cmocka_unit_test(test_field_rules_are_in_the_table),
        cmocka_unit_test(test_enums_have_full_and_short_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
