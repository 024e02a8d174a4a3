/*
 * fonts_tests.c: measurements do not depend on the fonts of the machine. Half of the sample files
 * name fonts that they do not contain, which Poppler replaces by similar ones.
 */
#include "server/jobs/pdf/measure/measure.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Kinds of fonts that PDFs name without embedding them: the base fonts, other Latin fonts, and
 * those of East Asia. */
static const char *const files[] = {
    "layout/gen-L00-0.pdf",          "layout/gen-L05-0.pdf",
    "layout/p1-nics-2016-04-04.pdf", "table-truth/eu-001.pdf",
    "table-truth/eu-005.pdf",        "table-truth/eu-008.pdf",
    "table-truth/eu-025.pdf",        "form/pdffill-demo.pdf",
    "script/noembed-sjis.pdf",       "malformed/malformed-from-issue-932.pdf",
};

#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

struct measured {
    uint64_t covered_cells;
    uint64_t page_cells;
    uint64_t snippet_hash;
    uint64_t sketch_hash;
    uint32_t page_count;
    uint32_t pages_read;
    uint32_t text_chars;
    uint32_t tables;
    uint32_t reason;
    uint32_t cut;
};

/* FNV-1a. */
static uint64_t hash_of(struct slice text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < text.size; i++) {
        hash = (hash ^ text.data[i]) * 0x100000001b3u;
    }
    return hash;
}

static struct measured measure_file(const char *name)
{
    struct measured measured = {0};
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    struct pdf_explanation explanation = {0};
    struct family_sketch sketch = {.count = 0};
    char path[256];
    int fd = -1;

    (void)snprintf(path, sizeof(path), "tests/data/pdf/%s", name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    measured.reason = (uint32_t)measure_open(fd, (struct slice){0}, &document);
    if (measured.reason == PDF_READ) {
        measured.reason = (uint32_t)measure_text(document, &text);
        measured.cut = (uint32_t)measure_tables(document, 0, &explanation);
        measure_sketch(document, &explanation, &sketch);
        measured.sketch_hash = hash_of(slice_of(sketch.features, sketch.count * sizeof(uint32_t)));
        measured.covered_cells = text.covered_cells;
        measured.page_cells = text.page_cells;
        measured.snippet_hash = hash_of(text.snippet);
        measured.page_count = text.page_count;
        measured.pages_read = text.pages_read;
        measured.text_chars = text.text_chars;
        for (size_t i = 0; i < explanation.table_count; i++) {
            measured.tables += explanation.tables[i].counted ? 1 : 0;
        }
        measure_close(document);
    }
    close(fd);
    return measured;
}

/* Measures all files in a process of its own, since Poppler searches fonts only once per
 * process. */
static void measure_all(const char *fontconfig_file, struct measured *ret_measured)
{
    int ends[2];
    int status = 0;
    size_t got = 0;
    pid_t pid = 0;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (fontconfig_file != NULL) {
            (void)setenv("FONTCONFIG_FILE", fontconfig_file, 1);
        }
        (void)!freopen("/dev/null", "w",
                       stderr); /* suppresses Poppler's messages about missing fonts */
        (void)measure_warm_up();
        for (size_t i = 0; i < FILE_COUNT; i++) {
            struct measured measured = measure_file(files[i]);

            if (write(ends[1], &measured, sizeof(measured)) != (ssize_t)sizeof(measured)) {
                _exit(1);
            }
        }
        _exit(0);
    }
    close(ends[1]);
    while (got < FILE_COUNT * sizeof(*ret_measured)) {
        ssize_t size =
            read(ends[0], (uint8_t *)ret_measured + got, FILE_COUNT * sizeof(*ret_measured) - got);

        assert_true(size > 0);
        got += (size_t)size;
    }
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Goal: a machine without any font measures the same. Method: fontconfig is configured without
 * fonts, and the same files are measured with this machine's fonts. */
static void test_measures_do_not_depend_on_fonts(void **state)
{
    static const char no_fonts[] =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n"
        "<fontconfig></fontconfig>\n";
    char path[] = "/tmp/errata-fonts-XXXXXX";
    struct measured with[FILE_COUNT] = {0};
    struct measured without[FILE_COUNT] = {0};
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, no_fonts, sizeof(no_fonts) - 1), (int)sizeof(no_fonts) - 1);
    close(fd);
    measure_all(NULL, with);
    measure_all(path, without);
    unlink(path);
    for (size_t i = 0; i < FILE_COUNT; i++) {
        assert_int_equal(with[i].reason, PDF_READ);
        assert_true(with[i].text_chars > 0);
        if (memcmp(&with[i], &without[i], sizeof(with[i])) != 0) {
            fail_msg("%s has other measures without fonts", files[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measures_do_not_depend_on_fonts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
