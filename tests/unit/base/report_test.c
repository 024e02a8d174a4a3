/*
 * report_test.c: the messages of the program: errors, faults, the log and failed assertions. Tests
 * read lines back from a pipe in place of standard error.
 */
#include "tests/unit/base/base_tests.h"

#include "store/base/assert.h"
#include "store/base/fault.h"
#include "store/base/json.h"
#include "store/base/logger.h"
#include "store/base/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int tear_down(void **state)
{
    logger_configure(LOGGER_INFO, LOGGER_TEXT);
    return arena_tear_down(state);
}

/* Goal: every error has a name, a text and a gRPC code. Method: all of them. */
static void test_every_error_has_name_text_and_code(void **state)
{
    (void)state;
    assert_string_equal(err_name(OK), "OK");
    assert_int_equal(err_status(OK), 0);
    for (int i = 1; i < ERR_COUNT; i++) {
        assert_true(strlen(err_name((enum err)i)) > 1);
        assert_true(strlen(err_text((enum err)i)) > 10);
        assert_in_range(err_status((enum err)i), 1, 16);
    }
    assert_string_equal(err_name(ERR_NOT_FOUND), "NOT_FOUND");
    assert_int_equal(err_status(ERR_NOT_FOUND), 5);
    assert_int_equal(err_retry_ms(ERR_NOT_FOUND), 0);
    assert_int_equal(err_retry_ms(ERR_BUSY), 200);
    assert_int_equal(err_retry_ms(ERR_TOO_LARGE), RETRY_NEVER);
}

/* Goal: overload has the codes of the contract: a full queue is UNAVAILABLE, a quota and a full disk are
 * RESOURCE_EXHAUSTED, all with a delay; a message that is too large is RESOURCE_EXHAUSTED without. */
static void test_overload_errors_have_contract_codes(void **state)
{
    (void)state;
    assert_int_equal(err_status(ERR_BUSY), 14);
    assert_int_equal(err_status(ERR_QUOTA), 8);
    assert_true(err_retry_ms(ERR_QUOTA) > 0);
    assert_int_equal(err_status(ERR_DISK_FULL), 8);
    assert_true(err_retry_ms(ERR_DISK_FULL) > 0);
    assert_int_equal(err_status(ERR_TOO_LARGE), 8);
}

/* Goal: faults are listed in order, copied, and counted above the limit. Method: 250 of them. */
static void test_fault_entries_are_ordered_and_bounded(void **state)
{
    struct fault fault;
    char field[16];

    fault_init(&fault, *state);
    assert_int_equal(fault_result(&fault), OK);
    for (int i = 0; i < 250; i++) {
        int size = snprintf(field, sizeof(field), "field%d", i);

        fault_add(&fault, slice_of(field, (size_t)size), "is %d%s", i, " too many");
    }
    assert_int_equal(fault_result(&fault), ERR_INVALID);
    assert_int_equal(fault.count, FAULT_ENTRIES_MAX);
    assert_int_equal(fault.total_count, 250);
    for (int i = 0; i < FAULT_ENTRIES_MAX; i++) {
        int size = snprintf(field, sizeof(field), "field%d", i);
        struct slice expected = arena_printf(*state, "is %d too many", i);

        assert_true(slice_equal(fault.entries[i].field, slice_of(field, (size_t)size)));
        assert_true(slice_equal(fault.entries[i].description, expected));
    }
}

/* Goal: a fault without memory still makes the request invalid. Method: an arena of 0 bytes. */
static void test_fault_without_memory_is_still_counted(void **state)
{
    struct arena none;
    struct fault fault;

    (void)state;
    arena_init(&none, 0);
    fault_init(&fault, &none);
    fault_add(&fault, SLICE("x"), "is wrong");
    assert_int_equal(fault_result(&fault), ERR_INVALID);
    assert_int_equal(fault.count, 0);
    assert_int_equal(fault.total_count, 1);
    assert_int_equal(fault_say(&fault, ERR_BUSY, "busy"), ERR_BUSY);
    assert_int_equal(fault.message.size, 0);
    assert_int_equal(fault_shorten(&fault, SLICE("abc")).size, 0);
    assert_int_equal(fault_say_reason(&fault, ERR_INVALID, "damaged", "no"), ERR_INVALID);
    assert_string_equal(fault.reason, "damaged"); /* the reason is set regardless */
    arena_deinit(&none);
}

/* Goal: a message is set and its error returned; a long text is cut between characters. Method: a
 * short one, and 2,000 bytes of two-byte characters. */
static void test_fault_message_is_cut_between_characters(void **state)
{
    struct fault fault;
    char text[2001];

    fault_init(&fault, *state);
    assert_int_equal(fault_say(&fault, ERR_EXISTS, "there is %s", "one"), ERR_EXISTS);
    assert_true(slice_equal(fault.message, SLICE("there is one")));
    assert_int_equal(fault_result(&fault), OK);
    for (size_t i = 0; i < 2000; i += 2) {
        memcpy(text + i, "\xc3\xa9", 2);
    }
    text[2000] = 0;
    fault_add(&fault, SLICE("f"), "x%s", text);
    assert_in_range(fault.entries[0].description.size, 1000, 1024);
    assert_true(text_is_utf8(fault.entries[0].description));
}

/* Goal: a failure with a reason has it before its message, and separately; other messages do not.
 * Method: one of each, and a sentence that is too long. */
static void test_fault_reason_precedes_the_message(void **state)
{
    struct fault fault;
    char text[2001];

    fault_init(&fault, *state);
    (void)fault_say(&fault, ERR_INVALID, "plain");
    assert_null(fault.reason);
    assert_int_equal(fault_say_reason(&fault, ERR_INVALID, "no_pages", "it has %d pages", 0),
                     ERR_INVALID);
    assert_true(slice_equal(fault.message, SLICE("no_pages: it has 0 pages")));
    assert_string_equal(fault.reason, "no_pages");
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    (void)fault_say_reason(&fault, ERR_INVALID, "damaged", "%s", text);
    assert_in_range(fault.message.size, 1000, 1024);
    assert_int_equal(memcmp(fault.message.data, "damaged: xxx", 12), 0);
    assert_string_equal(fault.reason, "damaged");
}

/* Goal: values are shown short and clean. Method: each kind of value. */
static void test_fault_values_are_shortened_and_cleaned(void **state)
{
    struct fault fault;
    uint8_t text[200];
    struct slice shown = {NULL, 0};

    fault_init(&fault, *state);
    assert_true(slice_equal(fault_shorten(&fault, SLICE("plain")), SLICE("plain")));
    assert_int_equal(fault_shorten(&fault, slice_of(NULL, 0)).size, 0);
    assert_true(slice_equal(fault_shorten(&fault, SLICE("a\nb\0c\x7f\xc2\x85\xff\xe2\x82")),
                            SLICE("a?b?c?????")));
    memset(text, 'x', sizeof(text));
    assert_int_equal(fault_shorten(&fault, slice_of(text, 64)).size, 64);
    shown = fault_shorten(&fault, slice_of(text, 65));
    assert_int_equal(shown.size, 67);
    assert_memory_equal(shown.data + 63, "x...", 4);
    memcpy(text + 62, "\xe2\x82\xac", 3); /* does not fit completely into 64 bytes */
    shown = fault_shorten(&fault, slice_of(text, 70));
    assert_int_equal(shown.size, 65);
    assert_memory_equal(shown.data + 61, "x...", 4);
}

/* Returns the output of `write_lines` to standard error. */
static size_t capture(void (*write_lines)(void), char *text, size_t room)
{
    int ends[2] = {-1, -1};
    int kept = dup(STDERR_FILENO);
    size_t size = 0;
    ssize_t got = 0;

    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    write_lines();
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    close(ends[1]);
    while ((got = read(ends[0], text + size, room - size)) > 0) {
        size += (size_t)got;
    }
    close(ends[0]);
    return size;
}

static void write_two_lines(void)
{
    const struct logger_field fields[] = {
        LOGGER_TEXT_FIELD("method", SLICE("a\"b\\c\n\xff\xc3\xa9")),
        LOGGER_NUMBER_FIELD("took_us", -42),
    };

    logger_write(LOGGER_INFO, "call \"done\"", fields, 2);
    logger_printf(LOGGER_DEBUG, "not wanted %d", 1);
    logger_printf(LOGGER_ERROR, "number %d", 7);
}

/* Goal: lines are valid JSON with every member; levels are respected. Method: two lines through a
 * pipe. */
static void test_json_lines_have_every_member(void **state)
{
    char text[2048];
    size_t size = 0;
    const char *end = NULL;
    const struct json_rules rules = {4, false};
    struct json_value line = {0};
    struct json_value member = {0};
    struct json_problem problem = {NULL, 0};
    struct slice shown = {NULL, 0};

    logger_configure(LOGGER_INFO, LOGGER_JSON);
    size = capture(write_two_lines, text, sizeof(text));
    end = memchr(text, '\n', size);
    assert_non_null(end);
    assert_int_equal(
        json_check(*state, slice_of(text, (size_t)(end - text)), &rules, &line, &problem), OK);
    assert_true(json_member(line, SLICE("message"), &member));
    assert_true(slice_equal(member.text, SLICE("\"call \\\"done\\\"\"")));
    assert_true(json_member(line, SLICE("level"), &member));
    assert_true(slice_equal(member.text, SLICE("\"info\"")));
    assert_true(json_member(line, SLICE("took_us"), &member));
    assert_true(slice_equal(member.text, SLICE("-42")));
    assert_true(json_member(line, SLICE("method"), &member));
    assert_int_equal(json_string(*state, member.text, &shown), OK);
    assert_true(slice_equal(shown, SLICE("a\"b\\c\n?\xc3\xa9")));
    assert_true(json_member(line, SLICE("time"), &member));
    assert_int_equal(json_check(*state, slice_of(end + 1, size - (size_t)(end + 1 - text)), &rules,
                                &line, &problem),
                     OK);
    assert_true(json_member(line, SLICE("message"), &member));
    assert_true(slice_equal(member.text, SLICE("\"number 7\"")));
}

/* Goal: text lines have the same members, and levels are respected. Method: the first line, after
 * its time; the same two lines at level error. */
static void test_text_lines_have_every_member(void **state)
{
    char text[2048];
    size_t size = 0;
    const char *level = NULL;

    (void)state;
    logger_configure(LOGGER_DEBUG, LOGGER_TEXT);
    assert_true(logger_wants(LOGGER_DEBUG));
    size = capture(write_two_lines, text, sizeof(text) - 1);
    text[size] = 0;
    level = strchr(text, ' ');
    assert_non_null(level);
    assert_memory_equal(level, " info \"call \\\"done\\\"\" method=\"a", 31);
    assert_non_null(strstr(text, " took_us=-42\n"));
    assert_non_null(strstr(text, " debug \"not wanted 1\"\n"));
    logger_configure(LOGGER_ERROR, LOGGER_TEXT);
    assert_false(logger_wants(LOGGER_WARNING));
    size = capture(write_two_lines, text, sizeof(text) - 1);
    text[size] = 0;
    assert_null(strstr(text, "call"));
    assert_non_null(strstr(text, " error \"number 7\"\n"));
}

static void write_long_lines(void)
{
    static char text[6000];
    struct logger_field fields[3] = {
        LOGGER_TEXT_FIELD("first", slice_of(text, 0)),
        LOGGER_TEXT_FIELD("second", slice_of(text, sizeof(text))),
        LOGGER_NUMBER_FIELD("third", 3),
    };

    memset(text, 1, sizeof(text));
    for (size_t size = 600; size < 720; size++) {
        fields[0].text = slice_of(text, size);
        logger_write(LOGGER_ERROR, "long", fields, 3);
    }
}

/* Goal: a line that is too long is cut to valid JSON of at most 4 KiB. Method: escapes of six
 * bytes, cut at every place near the end of the line. */
static void test_long_line_is_cut_to_valid_json(void **state)
{
    static char text[120 * 4096];
    struct slice rest = {NULL, 0};
    const struct json_rules rules = {4, false};
    size_t lines = 0;
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);

    logger_configure(LOGGER_ERROR, LOGGER_JSON);
    assert_non_null(file);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    write_long_lines();
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    rest = slice_of(text, fread(text, 1, sizeof(text), file));
    (void)fclose(file);
    while (rest.size > 0) {
        const uint8_t *end = memchr(rest.data, '\n', rest.size);
        struct json_value line = {0};
        struct json_problem problem = {NULL, 0};

        assert_non_null(end);
        assert_true((size_t)(end - rest.data) < 4096);
        assert_int_equal(json_check(*state, slice_of(rest.data, (size_t)(end - rest.data)), &rules,
                                    &line, &problem),
                         OK);
        rest = slice_after(rest, (size_t)(end - rest.data) + 1);
        lines++;
    }
    assert_int_equal(lines, 120);
}

static void meet_unexpected(void)
{
    assert_true(UNEXPECTED(1 == 1));
    assert_false(UNEXPECTED(1 == 2));
}

/* Goal: an unexpected condition is counted and logged, and execution continues. Method: one true,
 * one false. */
static void test_unexpected_condition_is_counted_and_logged(void **state)
{
    char text[2048];
    uint64_t before = assert_unexpected_count();
    size_t size = capture(meet_unexpected, text, sizeof(text) - 1);

    (void)state;
    text[size] = 0;
    assert_true(assert_unexpected_count() == before + 1);
    assert_non_null(strstr(text, "1 == 1"));
    assert_null(strstr(text, "1 == 2"));
}

/* Goal: a failed ASSERT aborts and logs its place. Method: in a child. */
static void test_assert_aborts(void **state)
{
    char text[512] = {0};
    int ends[2] = {-1, -1};
    int status = 0;
    pid_t child = -1;
    ssize_t got = 0;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        ASSERT(child == 1);
        _exit(0);
    }
    close(ends[1]);
    got = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(got > 0);
    assert_non_null(strstr(text, "child == 1"));
    assert_non_null(strstr(text, "report_test.c"));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static size_t file_lines(const char *path)
{
    FILE *file = fopen(path, "re");
    size_t lines = 0;
    int byte = 0;

    assert_non_null(file);
    while ((byte = fgetc(file)) != EOF) {
        lines += byte == '\n' ? 1 : 0;
    }
    assert_int_equal(fclose(file), 0);
    return lines;
}

static void write_one_line(void)
{
    logger_printf(LOGGER_ERROR, "one");
}

/* Goal: lines go to the file, to a new one after a rotation, and back; a file that cannot be opened changes nothing.
 * The last test here: standard error is a copy of the first one afterwards, which cannot be captured. */
static void test_lines_go_to_a_file(void **state)
{
    char path[] = "/tmp/errata-report-XXXXXX";
    char rotated[sizeof(path) + 2];
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    (void)snprintf(rotated, sizeof(rotated), "%s.1", path);
    logger_configure(LOGGER_INFO, LOGGER_TEXT);
    assert_true(logger_open(path));
    write_one_line();
    assert_int_equal(file_lines(path), 1);
    assert_int_equal(rename(path, rotated), 0);
    write_one_line();
    assert_int_equal(file_lines(rotated), 2);
    assert_false(logger_open("/nonexistent/file"));
    write_one_line();
    assert_int_equal(file_lines(rotated), 3);
    assert_true(logger_open(path));
    write_one_line();
    assert_int_equal(file_lines(rotated), 3);
    assert_int_equal(file_lines(path), 1);
    assert_true(logger_open(""));
    write_one_line();
    assert_int_equal(file_lines(path), 1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(rotated), 0);
}

int run_report_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overload_errors_have_contract_codes),
        cmocka_unit_test_setup_teardown(test_every_error_has_name_text_and_code, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_fault_entries_are_ordered_and_bounded, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_fault_without_memory_is_still_counted, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_fault_message_is_cut_between_characters, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_fault_reason_precedes_the_message, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_fault_values_are_shortened_and_cleaned, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_json_lines_have_every_member, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_text_lines_have_every_member, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_line_is_cut_to_valid_json, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_unexpected_condition_is_counted_and_logged,
                                        arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_assert_aborts, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lines_go_to_a_file, arena_set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
