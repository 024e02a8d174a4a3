/*
 * layouts_tests.c: the layout fingerprint on known metadata; the folder's main; and, with --lines or
 * --measures, a program that reference.py compares with Python itself: it reads one metadata text,
 * or the numbers of one measured document, per line, and writes one answer per line.
 */
#include "server/domain/fingerprint/fingerprint.h"
#include "tests/unit/layouts/documents_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct arena arena;
    struct fault fault;
    struct ctx ctx;
};

static void fixture_init(struct fixture *fixture)
{
    memset(fixture, 0, sizeof(*fixture));
    arena_init(&fixture->arena, 64u << 20);
    fault_init(&fixture->fault, &fixture->arena);
    fixture->ctx = (struct ctx){&fixture->arena, NULL, NULL, &fixture->fault};
}

static void expect(const char *metadata, const char *canonical, const char *hex)
{
    struct layout_fingerprint found = {{NULL, 0}, {0}};
    struct fixture fixture;

    fixture_init(&fixture);
    assert_int_equal(fingerprint_compute(&fixture.ctx, slice_text(metadata), &found), OK);
    assert_int_equal(found.canonical_json.size, strlen(canonical));
    assert_memory_equal(found.canonical_json.data, canonical, strlen(canonical));
    if (hex != NULL) {
        assert_memory_equal(found.text, hex, 64);
    }
    arena_deinit(&fixture.arena);
}

/* Goal: known metadata has the fingerprint that Python computes. Method: texts and digests computed
 * with Python. */
static void test_fingerprint_equals_that_of_python(void **state)
{
    (void)state;
    expect("{\"page_count\": 1, \"page_dimensions\": [[595.0, 842]], \"table_count\": 2, "
           "\"text_coverage_ratio\": 0.305}",
           "{\"page_count\": 1, \"page_dimensions\": [[595.0, 842]], \"table_count\": 2, "
           "\"text_coverage_ratio\": 0.3}",
           "1f01f836137a502655d6b998ebf9d6644841af3f29c97148a403531f44217110");
    expect("{}",
           "{\"page_count\": null, \"page_dimensions\": null, \"table_count\": null, "
           "\"text_coverage_ratio\": 0}",
           "a41aa50784cb6040800e7ce7e6743d6cb8e5387c362e8f995e3e413ae5706ea6");
    expect("{\"page_dimensions\": {\"b\": -0, \"a\": [1E400, -Infinity, NaN, \"\\u00e4\\u007f\"]}, "
           "\"text_coverage_ratio\": -0.001, \"page_count\": 1e16}",
           "{\"page_count\": 1e+16, \"page_dimensions\": {\"a\": [Infinity, -Infinity, NaN, "
           "\"\\u00e4\\u007f\"], \"b\": 0}, \"table_count\": null, \"text_coverage_ratio\": -0.0}",
           NULL);
}

static void expect_refused(const char *metadata, const char *why)
{
    struct layout_fingerprint found = {{NULL, 0}, {0}};
    struct fixture fixture;

    fixture_init(&fixture);
    assert_int_equal(fingerprint_compute(&fixture.ctx, slice_text(metadata), &found), ERR_INVALID);
    assert_int_equal(fixture.fault.count, 1);
    assert_true(slice_equal(fixture.fault.entries[0].field, SLICE("metadata_json")));
    assert_non_null(memmem(fixture.fault.entries[0].description.data,
                           fixture.fault.entries[0].description.size, why, strlen(why)));
    arena_deinit(&fixture.arena);
}

/* Goal: metadata on which Python would raise an exception is refused by name. Method: one text for
 * each reason. */
static void test_metadata_that_python_refuses_is_refused(void **state)
{
    char *digits = NULL;

    (void)state;
    expect_refused("[1]", "not a JSON object");
    expect_refused("{\"page_count\": 1", "invalid JSON");
    expect_refused("{\"page_count\": 1, \"page_count\": 2}", "invalid JSON");
    expect_refused("{\"text_coverage_ratio\": null}", "is not a number");
    expect_refused("{\"text_coverage_ratio\": \"0.5\"}", "is not a number");
    expect_refused("{\"text_coverage_ratio\": []}", "is not a number");
    digits = malloc(4400);
    assert_non_null(digits);
    (void)snprintf(digits, 4400, "{\"other\": [0.5, %04301d]}", 0);
    memset(digits + 16, '7', 4301);
    expect_refused(digits, "4301 digits");
    free(digits);
}

static int answer_lines(void)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size = 0;

    while ((size = getline(&line, &capacity, stdin)) > 0) {
        struct layout_fingerprint found = {{NULL, 0}, {0}};
        struct fixture fixture;

        fixture_init(&fixture);
        if (fingerprint_compute(&fixture.ctx, slice_of(line, (size_t)size - 1), &found) == OK) {
            (void)printf("%.64s %.*s\n", found.text, (int)found.canonical_json.size,
                         (const char *)found.canonical_json.data);
        } else {
            (void)printf("refused\n");
        }
        arena_deinit(&fixture.arena);
    }
    free(line);
    return 0;
}

#define LINE_PAGES_MAX 64

/* Reads `tables covered cells width height...`; the numbers read back exactly. */
static bool read_measures(const char *line, struct document_page pages[LINE_PAGES_MAX],
                          struct document_measures *measures)
{
    char *at = NULL;

    memset(measures, 0, sizeof(*measures));
    measures->has_table_count = true;
    measures->table_count = (uint32_t)strtoul(line, &at, 10);
    measures->covered_cells = strtoull(at, &at, 10);
    measures->page_cells = strtoull(at, &at, 10);
    measures->pages = pages;
    while (*at == ' ' && measures->page_count < LINE_PAGES_MAX) {
        pages[measures->page_count].width = strtod(at, &at);
        pages[measures->page_count].height = strtod(at, &at);
        measures->page_count++;
    }
    return *at == '\n' && measures->page_count > 0;
}

static int answer_measures(void)
{
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, stdin) > 0) {
        struct document_page pages[LINE_PAGES_MAX];
        struct document_measures measures;
        struct layout_fingerprint found;
        struct fixture fixture;

        fixture_init(&fixture);
        if (read_measures(line, pages, &measures) &&
            fingerprint_of_measures(&fixture.arena, &measures, &found) == OK) {
            (void)printf("%.64s %.*s\n", found.text, (int)found.canonical_json.size,
                         (const char *)found.canonical_json.data);
        } else {
            (void)printf("refused\n");
        }
        arena_deinit(&fixture.arena);
    }
    free(line);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fingerprint_equals_that_of_python),
        cmocka_unit_test(test_metadata_that_python_refuses_is_refused),
    };

    if (argc == 2 && strcmp(argv[1], "--lines") == 0) {
        return answer_lines();
    }
    if (argc == 2 && strcmp(argv[1], "--measures") == 0) {
        return answer_measures();
    }
    return cmocka_run_group_tests_name("layouts", tests, NULL, NULL) + run_documents_tests() +
           run_families_tests() + run_family_changes_tests() + run_lists_tests();
}
