/*
 * csv_test.c: comma-separated values, written and read back.
 */
#include "tests/unit/cli_terminal/cli_terminal_tests.h"
#include "tools/errata/terminal/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Opens a text as a file; kept alive by its caller. */
static FILE *open_text(const char *text, size_t size)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, size, "rb");

    assert_non_null(file);
    return file;
}

/* Reads all records and writes them as `1:a|b` lines: the first line and the fields of each. */
static void assert_read(const char *text, size_t size, const char *expected)
{
    FILE *file = open_text(text, size);
    struct csv_reader reader;
    struct csv_record record;
    struct buffer out;
    struct arena arena;
    enum csv_step step = CSV_RECORD;

    arena_init(&arena, (size_t)8 * 1024 * 1024);
    buffer_init(&out, &arena, 256);
    csv_reader_init(&reader, file);
    while ((step = csv_read(&reader, &record)) == CSV_RECORD) {
        buffer_printf(&out, "%llu:", (unsigned long long)record.line_number);
        for (size_t i = 0; i < record.count; i++) {
            buffer_printf(&out, "%s%.*s", i > 0 ? "|" : "", (int)record.fields[i].size,
                          (const char *)record.fields[i].data);
        }
        buffer_append_byte(&out, ';');
    }
    if (step == CSV_FAILED) {
        buffer_printf(&out, "%llu: %s", (unsigned long long)record.line_number, reader.problem);
    }
    buffer_append_byte(&out, '\0');
    assert_string_equal((const char *)out.data, expected);
    csv_reader_deinit(&reader);
    assert_int_equal(fclose(file), 0);
    arena_deinit(&arena);
}

static void assert_text(const char *text, const char *expected)
{
    assert_read(text, strlen(text), expected);
}

/* Goal: exactly the fields that RFC 4180 requires to be quoted are quoted. Method: records with
 * each kind of character, against their expected texts. */
static void test_required_fields_are_quoted(void **state)
{
    static const struct slice plain[] = {SLICE("a"), SLICE(""), SLICE(" b;c\t'")};
    static const struct slice quoted[] = {SLICE("a,b"), SLICE("say \"x\""), SLICE("two\r\nlines"),
                                          SLICE("\xe5\x82\x99\xe8\x80\x83")};
    static const struct slice empty[] = {SLICE("")};
    struct arena arena;
    struct buffer out;

    (void)state;
    arena_init(&arena, 1 << 16);
    buffer_init(&out, &arena, 256);
    csv_write(&out, plain, 3);
    csv_write(&out, quoted, 4);
    csv_write(&out, empty, 1);
    buffer_append_byte(&out, '\0');
    assert_string_equal((const char *)out.data,
                        "a,, b;c\t'\r\n"
                        "\"a,b\",\"say \"\"x\"\"\",\"two\r\nlines\",\xe5\x82\x99\xe8\x80\x83\r\n"
                        "\"\"\r\n");
    arena_deinit(&arena);
}

/* Goal: files as programs and people write them are read, each record with the line it begins on.
 * Method: quotes, line ends, blank lines, marks and separators of several kinds. */
static void test_usual_csv_forms_are_read(void **state)
{
    (void)state;
    assert_text("a,b\r\n1,2\r\n", "1:a|b;2:1|2;");
    assert_text("a,b\n\n\n1,\n,2", "1:a|b;4:1|;5:|2;");
    assert_text("a,b\n\"x\"\"y\",\"1\n2\"\n3,4\n", "1:a|b;2:x\"y|1\n2;4:3|4;");
    assert_text("\xef\xbb\xbf"
                "a;b\n1,5;2\n",
                "1:a|b;2:1,5|2;");
    assert_text("a\tb\n1,5\t2\n", "1:a|b;2:1,5|2;");
    assert_text("a,b\n5\" pipe,\"\"\n", "1:a|b;2:5\" pipe|;");
    assert_text("\"\"\n", "1:;");
    assert_text("\n", "");
}

/* Goal: invalid CSV is refused where it begins, and an open quote does not consume the file.
 * Method: such files; the last is larger than a record may be. */
static void test_invalid_csv_is_refused_at_its_line(void **state)
{
    static const char start[] = "a\n\"";
    size_t size = 2 * CSV_RECORD_BYTES_MAX;
    char *large = malloc(size);

    (void)state;
    assert_text("a,b\n\"x\"y,2\n", "1:a|b;2: text after a closing quote");
    assert_text("a,b\n1,\"2\n3\n", "1:a|b;2: an unclosed quote");
    assert_text("a\n\xff\n", "1:a;2: bytes that are not UTF-8");
    assert_non_null(large);
    memset(large, '\n', size);
    memcpy(large, start, sizeof(start) - 1);
    assert_read(large, size, "1:a;2: a record larger than 16 MiB, perhaps with an unclosed quote");
    memset(large, ',', size);
    assert_read(large, 300, "1: a record with more than 256 fields");
    free(large);
}

/* A small random generator with the same output on every machine. */
static unsigned next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

#define FIELDS 3
#define FIELD_BYTES_MAX 12

/* A random field of the characters that CSV interprets, and a few others. */
static struct slice random_field(uint32_t *state, uint8_t *bytes)
{
    static const char letters[] = "\",;\r\n\t a\xc3\xa9";
    size_t size = next_random(state) % FIELD_BYTES_MAX;
    size_t used = 0;

    while (used < size) {
        size_t letter = next_random(state) % (sizeof(letters) - 2); /* the last is two bytes */

        if (letters[letter] == '\xc3') {
            bytes[used++] = (uint8_t)letters[letter++];
        }
        bytes[used++] = (uint8_t)letters[letter];
    }
    return slice_of(bytes, used);
}

/* Goal: everything written is read back. Method: random records of three fields after a heading,
 * each as a file. */
static void test_written_records_are_read_back(void **state)
{
    static const struct slice heading[] = {SLICE("a"), SLICE("b"), SLICE("c")};
    uint32_t random = 1;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t bytes[FIELDS][FIELD_BYTES_MAX + 2];
        struct slice fields[FIELDS];
        struct csv_reader reader;
        struct csv_record record;
        struct arena arena;
        struct buffer text;
        FILE *file = NULL;

        for (size_t j = 0; j < FIELDS; j++) {
            fields[j] = random_field(&random, bytes[j]);
        }
        arena_init(&arena, 1 << 16);
        buffer_init(&text, &arena, 256);
        csv_write(&text, heading, FIELDS);
        csv_write(&text, fields, FIELDS);
        file = open_text((const char *)text.data, text.size);
        csv_reader_init(&reader, file);
        assert_int_equal(csv_read(&reader, &record), CSV_RECORD);
        assert_int_equal(csv_read(&reader, &record), CSV_RECORD);
        assert_int_equal(record.count, FIELDS);
        for (size_t j = 0; j < FIELDS; j++) {
            assert_true(slice_equal(record.fields[j], fields[j]));
        }
        assert_int_equal(csv_read(&reader, &record), CSV_END);
        csv_reader_deinit(&reader);
        assert_int_equal(fclose(file), 0);
        arena_deinit(&arena);
    }
}

/* Goal: no bytes cause a crash, and reading always ends. Method: random bytes, half of them
 * separators and quotes, read to the end or the first problem. */
static void test_reading_of_random_bytes_ends(void **state)
{
    uint32_t random = 2;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t bytes[64];
        size_t size = 1 + next_random(&random) % sizeof(bytes);
        struct csv_reader reader;
        struct csv_record record;
        FILE *file = NULL;
        unsigned records = 0;

        for (size_t j = 0; j < size; j++) {
            unsigned letter = next_random(&random);

            bytes[j] = letter % 2 == 0 ? (uint8_t) "\",;\n"[letter / 2 % 4] : (uint8_t)(letter / 2);
        }
        file = open_text((const char *)bytes, size);
        csv_reader_init(&reader, file);
        while (csv_read(&reader, &record) == CSV_RECORD) {
            records++;
        }
        assert_true(records <= size);
        csv_reader_deinit(&reader);
        assert_int_equal(fclose(file), 0);
    }
}

int run_csv_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_required_fields_are_quoted),
                                       cmocka_unit_test(test_usual_csv_forms_are_read),
                                       cmocka_unit_test(test_invalid_csv_is_refused_at_its_line),
                                       cmocka_unit_test(test_written_records_are_read_back),
                                       cmocka_unit_test(test_reading_of_random_bytes_ends)};

    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
