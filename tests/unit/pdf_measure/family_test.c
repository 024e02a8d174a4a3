/*
 * family_test.c: the features of a page, on synthetic glyphs and rulings, and the sketches of the
 * sample documents whose layouts are known. tests/bench/layout_families.c measures how accurate they
 * are; this test detects a regression.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include "server/jobs/pdf/measure/family.h"
#include "server/jobs/pdf/measure/measure.h"
#include "tests/unit/pdf_measure/pdf_writer.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER "tests/data/pdf/"
#define SAMPLES_MAX 128
#define GLYPHS_MAX 256

static const struct pdf_page_size page = {600, 800};

/* The features that were added so far, not sorted. */
static struct family_sketch_builder features;
static struct family_page_words page_words;

static int begin(void **state)
{
    (void)state;
    family_sketch_begin(&features);
    family_page_words_begin(&page_words);
    return 0;
}

/* Adds the words of a text, its glyphs 5 by 10 points, from an upper left corner. */
static void add_words_at(double x, double y, const uint32_t *text, size_t count)
{
    struct glyph glyphs[GLYPHS_MAX];

    assert_true(count <= GLYPHS_MAX);
    for (size_t i = 0; i < count; i++) {
        double left = x + 5 * (double)i;

        glyphs[i] = (struct glyph){.box = {left, y, left + 5, y + 10}, .code_point = text[i]};
    }
    family_add_words(&features, &page_words, (struct glyph_list){.items = glyphs, .count = count},
                     page);
}

static void add_ascii(double x, double y, const char *text)
{
    uint32_t code_points[GLYPHS_MAX];
    size_t count = strlen(text);

    for (size_t i = 0; i < count; i++) {
        code_points[i] = (uint8_t)text[i];
    }
    add_words_at(x, y, code_points, count);
}

/* The feature of a text as the rules write it. */
static uint32_t feature(enum family_feature_kind kind, const char *text)
{
    struct family_sketch_builder builder;

    family_sketch_begin(&builder);
    family_sketch_add(&builder, kind, slice_text(text));
    return builder.features[0];
}

static void expect(size_t index, enum family_feature_kind kind, const char *text)
{
    assert_true(index < features.count);
    if (features.features[index] != feature(kind, text)) {
        fail_msg("feature %zu is not %s", index, text);
    }
}

/* Goal: words become features by their kind, in a normal form. Method: words of each kind that is
 * taken, changed and left out. */
static void test_words_become_features_by_their_kind(void **state)
{
    static const uint32_t strasse[] = {'S', 't', 'r', 'a', 0xDF, 'e'};
    static const uint32_t ligature[] = {0xFB01, 'n'}; /* fi, n */
    static const uint32_t composed[] = {'u', 0x308, 'b', 'e', 'r'};
    static const uint32_t superscript[] = {'m', 'e', 'h', 0xB2};
    static const uint32_t arabic_digit[] = {'n', 'o', 0x663};

    (void)state;
    add_ascii(60, 80, "Invoice (Total): a 12 N12 -- \"x\"");
    assert_int_equal(features.count, 2);
    expect(0, FAMILY_FEATURE_WORD, "tinvoice|10|10");
    expect(1, FAMILY_FEATURE_WORD, "ttotal|17|10");
    add_words_at(6, 8, strasse, 6);
    add_words_at(6, 8, ligature, 2);
    add_words_at(6, 8, composed, 5);
    add_words_at(6, 8, superscript, 4);
    add_words_at(6, 8, arabic_digit, 3);
    assert_int_equal(features.count, 5);
    expect(2, FAMILY_FEATURE_WORD, "tstrasse|1|1");
    expect(3, FAMILY_FEATURE_WORD, "tfin|1|1");
    expect(4, FAMILY_FEATURE_WORD, "t\u00fcber|1|1");
}

/* Goal: only words near the top and the bottom count, by their top; a place at the border of two cells
 * is not moved by noise. Method: words around each limit. */
static void test_only_words_near_top_and_bottom_count(void **state)
{
    (void)state;
    add_ascii(0, 279.9, "above");
    add_ascii(0, 280, "below");
    add_ascii(0, 719.9, "higher");
    add_ascii(0, 720, "lower");
    assert_int_equal(features.count, 2);
    expect(0, FAMILY_FEATURE_WORD, "tabove|0|35");
    expect(1, FAMILY_FEATURE_WORD, "tlower|0|90");
    add_ascii(45, 12, "same");
    add_ascii(45 - 1e-9, 12 + 1e-9, "same");
    add_ascii(44.99, 11.99, "same");
    add_ascii(-3.01, -4.01, "left");
    assert_int_equal(features.count, 6);
    expect(2, FAMILY_FEATURE_WORD, "tsame|8|2");
    expect(3, FAMILY_FEATURE_WORD, "tsame|8|2");
    expect(4, FAMILY_FEATURE_WORD, "tsame|7|1");
    expect(5, FAMILY_FEATURE_WORD, "tleft|-1|-1");
}

/* Goal: long runs and coordinates that are not numbers add nothing. Method: a word of the greatest
 * length and one longer, of letters and of what grows most by NFKC; glyphs at infinity. */
static void test_extreme_values_add_nothing(void **state)
{
    uint32_t text[FAMILY_WORD_GLYPHS_MAX + 1];
    struct glyph far = {.box = {NAN, 5, 9, 9}, .code_point = 'x'};

    (void)state;
    for (size_t i = 0; i <= FAMILY_WORD_GLYPHS_MAX; i++) {
        text[i] = 'x';
    }
    add_words_at(0, 0, text, FAMILY_WORD_GLYPHS_MAX + 1);
    assert_int_equal(features.count, 0);
    add_words_at(0, 0, text, FAMILY_WORD_GLYPHS_MAX);
    assert_int_equal(features.count, 1);
    for (size_t i = 0; i < FAMILY_WORD_GLYPHS_MAX; i++) {
        text[i] = 0xFDFA; /* 18 code points, including spaces */
    }
    add_words_at(0, 0, text, FAMILY_WORD_GLYPHS_MAX);
    assert_int_equal(features.count, 2);
    family_add_words(&features, &page_words, (struct glyph_list){.items = &far, .count = 1}, page);
    text[0] = 0xD800; /* code points that UTF-8 cannot encode */
    text[1] = 0x110000;
    add_words_at(0, 0, text, 2);
    family_add_font(&features, SLICE("Helvetica"), INFINITY);
    assert_int_equal(features.count, 2);
    add_ascii(1e300, 5, "far");
    assert_int_equal(features.count, 3);
}

/* Goal: rulings, fonts and the page become features by the rules. Method: one of each kind. */
static void test_rulings_fonts_and_page_become_features(void **state)
{
    static const struct pdf_box down = {50.1F, 10, 50.1F, 700};
    static const struct pdf_box across = {50, 100, 545.5F, 100};
    static const struct pdf_box lower = {50, 400, 545.5F, 400};

    (void)state;
    family_add_ruling(&features, &down);
    family_add_ruling(&features, &across);
    family_add_ruling(&features, &lower);
    family_add_font(&features, SLICE("ABCDEF+Arial"), 9.04);
    family_add_font(&features, SLICE("ABCDE+Arial"), 12);
    family_add_page(&features, (struct pdf_page_size){595.276, 841.89});
    assert_int_equal(features.count, 6);
    expect(0, FAMILY_FEATURE_VERTICAL, "v13");
    expect(1, FAMILY_FEATURE_HORIZONTAL, "h13|136");
    expect(2, FAMILY_FEATURE_HORIZONTAL, "h13|136");
    expect(3, FAMILY_FEATURE_FONT, "fArial/90");
    expect(4, FAMILY_FEATURE_FONT, "fABCDE+Arial/120");
    expect(5, FAMILY_FEATURE_PAGE, "p595|842");
}

static void take_sketch(int fd, struct family_sketch *ret_sketch)
{
    struct measure_document *document = NULL;
    struct pdf_text text = {0};
    struct pdf_explanation explanation = {0};

    assert_true(fd >= 0);
    assert_int_equal(measure_open(fd, (struct slice){0}, &document), PDF_READ);
    assert_int_equal(measure_text(document, &text), PDF_READ);
    assert_int_equal(measure_tables(document, 0, &explanation), PDF_CUT_NONE);
    measure_sketch(document, &explanation, ret_sketch);
    measure_close(document);
    close(fd);
}

static void take_sketch_of_file(const char *name, struct family_sketch *ret_sketch)
{
    char path[512];

    snprintf(path, sizeof(path), FOLDER "%s", name);
    take_sketch(open(path, O_RDONLY | O_CLOEXEC), ret_sketch);
}

/* Goal: a page's words, lines, fonts and size are in its sketch, and a scan has none. Method: a small
 * page whose features are counted by hand; scanned pages. */
static void test_sketch_has_all_features_of_a_page(void **state)
{
    static const char content[] =
        "BT /F1 12 Tf 50 700 Td (Invoice number 12) Tj 0 -20 Td (Ship to) Tj ET "
        "BT /F2 9 Tf 50 60 Td (Thank you) Tj ET BT /F1 10 Tf 50 400 Td (An item) Tj ET "
        "50 500 m 300 500 l S 50 480 m 300 480 l S 100 300 m 100 500 l S";
    struct family_sketch sketch;
    struct family_sketch again;
    uint32_t counts[FAMILY_FEATURE_KINDS];

    (void)state;
    take_sketch(pdf_page_file("/MediaBox [0 0 600 800]", content, NULL), &sketch);
    take_sketch(pdf_page_file("/MediaBox [0 0 600 800]", content, NULL), &again);
    assert_memory_equal(&sketch, &again, sizeof(uint32_t) * (1 + sketch.count));
    family_sketch_count(&sketch, counts);
    assert_int_equal(counts[FAMILY_FEATURE_WORD], 6);
    assert_int_equal(counts[FAMILY_FEATURE_HORIZONTAL], 1);
    assert_int_equal(counts[FAMILY_FEATURE_VERTICAL], 1);
    assert_int_equal(counts[FAMILY_FEATURE_FONT], 3);
    assert_int_equal(counts[FAMILY_FEATURE_PAGE], 1);
    take_sketch_of_file("scanned/scan-1.pdf", &sketch);
    assert_int_equal(sketch.count, 0);
    take_sketch_of_file("scanned/scan-2-skew.pdf", &sketch);
    assert_int_equal(sketch.count, 0);
}

struct sample {
    char layout[64];
    struct family_sketch sketch;
};

/* The documents whose layout the manifest names: path, source, licence, kind, layout. */
static size_t read_samples(struct sample *samples)
{
    char line[1024];
    size_t count = 0;
    FILE *file = fopen(FOLDER "manifest.tsv", "re");

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        char *rest = line;
        char *fields[5];

        for (size_t i = 0; i < 5; i++) {
            fields[i] = strsep(&rest, "\t");
        }
        if (rest == NULL || fields[4][0] == '\0' || strcmp(fields[0], "path") == 0) {
            continue;
        }
        assert_true(count < SAMPLES_MAX);
        snprintf(samples[count].layout, sizeof(samples[count].layout), "%s", fields[4]);
        take_sketch_of_file(fields[0], &samples[count].sketch);
        count++;
    }
    fclose(file);
    return count;
}

/* Goal: of the sample documents, exactly those of one layout are similar. Method: all pairs, and
 * all in the manifest's order, each beside all before it. */
static void test_samples_of_one_layout_are_similar(void **state)
{
    static struct sample samples[SAMPLES_MAX];
    size_t count = read_samples(samples);
    size_t pairs[2] = {0, 0};
    size_t similar[2] = {0, 0};
    size_t found[2] = {0, 0};

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct family_match best = {.seq = 0};

        for (size_t j = 0; j < i; j++) {
            struct family_similarity similarity;
            bool same = strcmp(samples[i].layout, samples[j].layout) == 0;

            pairs[same]++;
            similar[same] +=
                family_sketch_is_family(&samples[i].sketch, &samples[j].sketch, &similarity);
            (void)family_match_offer(&best, &samples[i].sketch, &samples[j].sketch, j + 1);
        }
        if (best.seq > 0) {
            found[strcmp(samples[i].layout, samples[best.seq - 1].layout) == 0]++;
        }
    }
    /* 15 layouts: of 72 documents, 57 come after another one of theirs. */
    assert_int_equal(count, 72);
    assert_int_equal(pairs[true], 138);
    assert_int_equal(similar[true], 138);
    assert_int_equal(similar[false], 0);
    assert_int_equal(found[true], 57);
    assert_int_equal(found[false], 0);
}

int run_family_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_words_become_features_by_their_kind, begin),
        cmocka_unit_test_setup(test_only_words_near_top_and_bottom_count, begin),
        cmocka_unit_test_setup(test_extreme_values_add_nothing, begin),
        cmocka_unit_test_setup(test_rulings_fonts_and_page_become_features, begin),
        cmocka_unit_test(test_sketch_has_all_features_of_a_page),
        cmocka_unit_test(test_samples_of_one_layout_are_similar),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
