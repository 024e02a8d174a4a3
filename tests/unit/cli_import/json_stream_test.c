/*
 * json_stream_test.c: files of JSON split into their records.
 */
#include "store/base/arena.h"
#include "store/base/buffer.h"
#include "tests/unit/cli_import/cli_import_tests.h"
#include "tools/errata/import/json_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const lists[] = {"data", "traces", NULL};

/* Reads all records and writes them as `1:{...};`: the first line of each, and the record or its problem. */
static void assert_stream(const char *text, enum json_stream_mode mode, const char *expected)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "rb");
    struct json_stream stream;
    enum json_stream_step step = JSON_STREAM_RECORD;
    struct slice record = {NULL, 0};
    struct buffer out;
    struct arena arena;

    assert_non_null(file);
    arena_init(&arena, (size_t)1024 * 1024);
    buffer_init(&out, &arena, 256);
    json_stream_init(&stream, file, lists, mode);
    while (step == JSON_STREAM_RECORD || step == JSON_STREAM_DAMAGED) {
        step = json_stream_read(&stream, &record);
        if (step == JSON_STREAM_RECORD) {
            buffer_printf(&out, "%llu:%.*s;", (unsigned long long)stream.record_line,
                          (int)record.size, (const char *)record.data);
        } else if (step != JSON_STREAM_END) {
            buffer_printf(&out, "%llu!%s;", (unsigned long long)stream.record_line, stream.problem);
        }
    }
    buffer_append_byte(&out, '\0');
    assert_string_equal((const char *)out.data, expected);
    json_stream_deinit(&stream);
    assert_int_equal(fclose(file), 0);
    arena_deinit(&arena);
}

/* Goal: each form of a file gives the same records. Method: lines, arrays, pages, pages one after the other, with
 * brackets and quotes in texts. */
static void test_each_form_gives_its_records(void **state)
{
    (void)state;
    assert_stream("{\"a\":1}\n{\"b\":[2]}\n", JSON_STREAM_UNKNOWN, "1:{\"a\":1};2:{\"b\":[2]};");
    assert_stream("{\"a\":1}\n\n\r\n{\"b\":2}", JSON_STREAM_LINES, "1:{\"a\":1};4:{\"b\":2};");
    assert_stream("[{\"a\":1},\n {\"a\":\n2}]\n", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};2:{\"a\":\n2};");
    assert_stream("{\n\"meta\":{\"data\":[9]},\"data\":[\n{\"a\":1},{\"a\":2}],\"next\":null}",
                  JSON_STREAM_UNKNOWN, "3:{\"a\":1};3:{\"a\":2};");
    assert_stream("{\"data\":[{\"a\":1}],\"m\":{}}\n{\"data\":[],\"m\":1}\n{\"data\":[{\"a\":2}]}",
                  JSON_STREAM_UNKNOWN, "1:{\"a\":1};3:{\"a\":2};");
    assert_stream("[{\"data\":[{\"a\":1}]},{\"traces\":[{\"a\":2}]}]", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};1:{\"a\":2};");
    assert_stream("{\"a\":\"}{[\\\"]\\\\\"}\n{\"data\":{\"x\":[1]}}", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":\"}{[\\\"]\\\\\"};2:{\"data\":{\"x\":[1]}};");
    assert_stream("{\"x\":\"data\",\"y\":[{\"a\":1}]}", JSON_STREAM_UNKNOWN,
                  "1:{\"x\":\"data\",\"y\":[{\"a\":1}]};");
    assert_stream("{\"data\" : \"text\"}", JSON_STREAM_UNKNOWN, "1:{\"data\" : \"text\"};");
    assert_stream("[{\"a\":1\n2}]", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1\n2};"); /* JSON that the check refuses */
    assert_stream("[1, \"a,]\", null]", JSON_STREAM_UNKNOWN, "1:1;1:\"a,]\";1:null;");
    assert_stream("", JSON_STREAM_UNKNOWN, "");
    assert_stream("[]", JSON_STREAM_UNKNOWN, "");
}

/* Goal: a damaged line is reported and the others are read; a truncated file yields its complete lines. Method: such files. */
static void test_damage_is_reported_at_its_line(void **state)
{
    (void)state;
    assert_stream("{\"a\":1}\n{\"b\":\n{\"c\":3}\n", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};2!the line ends within the record;3:{\"c\":3};");
    assert_stream("{\"a\":1}\n{\"b\":\"x\n{\"c\":3}\n", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};2!a line break within a string;3:{\"c\":3};");
    assert_stream("{\"b\":\"x\n{\"c\":3}\n", JSON_STREAM_LINES,
                  "1!a line break within a string;2:{\"c\":3};");
    assert_stream("{\"a\":1}\nnonsense\n{\"c\":3}\n", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};2:nonsense;3:{\"c\":3};");
    assert_stream("[{\"a\":1},\n{\"b\":", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};2!the file ends within a record or a list;");
    assert_stream("[{\"a\":1}\n", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};2!the file ends within a record or a list;");
    assert_stream("{\"data\":[{\"a\":1}]", JSON_STREAM_UNKNOWN,
                  "1:{\"a\":1};1!the file ends within a record or a list;");
    assert_stream("[{\"a\":\"x\ny\"},{\"a\":2}]", JSON_STREAM_UNKNOWN,
                  "1!a line break within a string;");
}

/* Goal: a line is one record, all of it, whether it is JSON or not. Method: lines with arrays, several values, and parts. */
static void test_whole_lines_are_records(void **state)
{
    (void)state;
    assert_stream(" {\"a\":1} \n\n \t\r\n[]\n{\"b\":2} {\"c\":3}\n[{\"d\":4}\n\"x",
                  JSON_STREAM_WHOLE_LINES,
                  "1:{\"a\":1} ;4:[];5:{\"b\":2} {\"c\":3};6:[{\"d\":4};7:\"x;");
    assert_stream("", JSON_STREAM_WHOLE_LINES, "");
}

/* Goal: a record above the limit is reported, and the next one is read. Method: a record of that size. */
static void test_record_above_the_limit_is_left_out(void **state)
{
    size_t size = JSON_STREAM_RECORD_BYTES_MAX + 100;
    char *text = malloc(size);
    static const char start[] = "{\"a\":\"";
    static const char end[] = "\"}\n{\"b\":2}\n";

    (void)state;
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, start, sizeof(start) - 1);
    memcpy(text + size - sizeof(end), end, sizeof(end));
    assert_stream(text, JSON_STREAM_UNKNOWN, "1!a record larger than 16 MiB;2:{\"b\":2};");
    assert_stream(text, JSON_STREAM_WHOLE_LINES, "1!a record larger than 16 MiB;2:{\"b\":2};");
    text[size - sizeof(end) + 2] = '\0'; /* the file ends without a line feed */
    assert_stream(text, JSON_STREAM_WHOLE_LINES, "1!a record larger than 16 MiB;");
    free(text);
}

int run_json_stream_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_form_gives_its_records),
                                       cmocka_unit_test(test_damage_is_reported_at_its_line),
                                       cmocka_unit_test(test_whole_lines_are_records),
                                       cmocka_unit_test(test_record_above_the_limit_is_left_out)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
