/*
 * measure.c: opens a document, and runs its second phase. Opening translates Poppler's errors into
 * reasons; all of Poppler's objects are freed when the document is closed.
 */
#include "server/jobs/pdf/measure/family.h"
#include "server/jobs/pdf/measure/measure_internal.h"
#include "server/jobs/pdf/measure/tap.h"

#include "store/base/assert.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A page is rendered at most this large: soft masks, which need real pixels, then take at most 4
 * MB. */
#define WALK_SIDE_MAX 1000.0

const char *measure_poppler_version(void)
{
    return poppler_get_version();
}

static enum pdf_reason translate_error(const GError *error, int fd)
{
    if (error != NULL && error->domain == POPPLER_ERROR && error->code == POPPLER_ERROR_ENCRYPTED) {
        return PDF_ENCRYPTED;
    }
    return damage_has_header(fd) ? PDF_DAMAGED : PDF_NOT_A_PDF;
}

/* Opens Poppler's document over a separate descriptor, which Poppler closes. */
static PopplerDocument *open_poppler(int fd, const char *password, GError **ret_error)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    return own < 0 ? NULL : poppler_document_new_from_fd(own, password, ret_error);
}

/* Returns a text whose conversion to Latin-1 yields these bytes. */
static GString *text_of_bytes(struct slice bytes)
{
    GString *text = g_string_sized_new(2 * bytes.size);

    for (size_t i = 0; i < bytes.size; i++) {
        g_string_append_unichar(text, bytes.data[i]);
    }
    return text;
}

/* Returns a password to Poppler only if the document needs one: after a wrong one, Poppler 22.12
 * tries other encodings over a freed stream, with undefined results. So each encoding has a
 * separate attempt: Latin-1 for passwords before PDF 2.0, and UTF-8 since (ISO 32000-2, 7.6.4.3.3).
 * Both are the same for ASCII. */
static PopplerDocument *open_with_password(int fd, struct slice password)
{
    GString *text = g_string_new_len((const char *)password.data, (gssize)password.size);
    GString *bytes = text_of_bytes(password);
    PopplerDocument *poppler = open_poppler(fd, text->str, NULL);

    if (poppler == NULL && !g_string_equal(text, bytes)) {
        poppler = open_poppler(fd, bytes->str, NULL);
    }
    g_string_free(text, TRUE);
    g_string_free(bytes, TRUE);
    return poppler;
}

enum pdf_reason measure_open(int fd, struct slice password, struct measure_document **ret_document)
{
    GError *error = NULL;
    struct measure_document *document = NULL;
    PopplerDocument *poppler = open_poppler(fd, NULL, &error);

    if (poppler == NULL) {
        enum pdf_reason reason = translate_error(error, fd);

        g_clear_error(&error);
        if (reason == PDF_ENCRYPTED && password.size > 0) {
            poppler = open_with_password(fd, password);
        }
        if (poppler == NULL) {
            return reason;
        }
    }
    document = g_new0(struct measure_document, 1);
    arena_init(&document->arena, DOCUMENT_BYTES_MAX);
    arena_init(&document->explanation, SCRATCH_BYTES_MAX);
    arena_init(&document->piece, SCRATCH_BYTES_MAX);
    document->poppler = poppler;
    document->repaired = damage_is_found(fd);
    *ret_document = document;
    return PDF_READ;
}

void measure_close(struct measure_document *document)
{
    if (document == NULL) {
        return;
    }
    if (document->first_page != NULL) {
        g_object_unref(document->first_page);
    }
    g_object_unref(document->poppler);
    g_free(document->first_text);
    arena_deinit(&document->piece);
    arena_deinit(&document->explanation);
    arena_deinit(&document->arena);
    g_free(document);
}

void measure_on_cut(struct measure_document *document, void (*on_cut)(void *user, enum pdf_cut cut),
                    void *user)
{
    document->on_cut = on_cut;
    document->user = user;
}

/* Renders a page with the tap active; its paths become rulings, not merged yet. */
static void walk_page(struct measure_document *document, PopplerPage *page, struct rulings *rulings,
                      uint32_t *ret_operations)
{
    double longest = fmax(rulings->page.width, rulings->page.height);
    struct tap tap = {
        .mode = TAP_NOTE,
        .scale = longest > WALK_SIDE_MAX ? WALK_SIDE_MAX / longest : 1,
        .rulings = rulings,
        .operations_max = MEASURE_PATH_OPERATIONS_MAX,
        .on_cut = document->on_cut,
        .user = document->user,
    };
    cairo_rectangle_t extents = {0, 0, rulings->page.width * tap.scale,
                                 rulings->page.height * tap.scale};
    cairo_surface_t *surface = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, &extents);

    tap.page = cairo_create(surface);
    cairo_scale(tap.page, tap.scale, tap.scale);
    tap_start(&tap);
    poppler_page_render(page, tap.page);
    tap_stop(&tap);
    cairo_destroy(tap.page);
    cairo_surface_destroy(surface);
    *ret_operations = tap.operations;
}

static struct pdf_box box_of(const struct area *area)
{
    return (struct pdf_box){(float)area->x1, (float)area->y1, (float)area->x2, (float)area->y2};
}

static bool explain_rulings(struct arena *arena, const struct rulings *rulings,
                            struct pdf_explanation *explanation)
{
    size_t count = 0;
    struct pdf_box *boxes =
        arena_calloc(arena, rulings->across.count + rulings->down.count + 1, sizeof *boxes);

    if (boxes == NULL) {
        return false;
    }
    for (size_t i = 0; i < rulings->across.count; i++) {
        const struct ruling *ruling = &rulings->across.items[i];
        struct area area = {ruling->from, ruling->at, ruling->to, ruling->at};

        boxes[count++] = box_of(&area);
    }
    for (size_t i = 0; i < rulings->down.count; i++) {
        const struct ruling *ruling = &rulings->down.items[i];
        struct area area = {ruling->at, ruling->from, ruling->at, ruling->to};

        boxes[count++] = box_of(&area);
    }
    explanation->rulings = boxes;
    explanation->ruling_count = (uint32_t)count;
    explanation->rulings_ignored = rulings->ignored;
    return true;
}

static bool explain_tables(struct arena *arena, const struct table_list *found,
                           struct pdf_explanation *explanation)
{
    struct pdf_table *tables = arena_calloc(arena, found->count + 1, sizeof *tables);

    if (tables == NULL) {
        return false;
    }
    for (size_t i = 0; i < found->count; i++) {
        const struct table *table = &found->items[i];

        tables[i] = (struct pdf_table){
            .kind = table->kind,
            .box = box_of(&table->box),
            .rows = table->rows,
            .cells = table->cells,
            .counted = table->counted,
        };
    }
    explanation->tables = tables;
    explanation->table_count = (uint32_t)found->count;
    return true;
}

/* Forms the words of a page from its glyphs. */
static enum pdf_cut read_words(struct arena *arena, struct glyph_list glyphs,
                               struct word_list *ret_words, struct pdf_explanation *explanation)
{
    enum pdf_cut cut = parts_find_words(arena, glyphs, MEASURE_WORDS_MAX, ret_words);

    if (cut == PDF_CUT_NONE) {
        explanation->glyphs = (uint32_t)glyphs.count;
        explanation->words = (uint32_t)ret_words->count;
    }
    return cut;
}

static enum pdf_cut measure_page(struct measure_document *document, PopplerPage *page,
                                 struct glyph_list glyphs, struct pdf_explanation *ret_explanation)
{
    struct arena *arena = &document->explanation;
    struct word_list words = {0};
    struct rulings rulings;
    struct table_search search;
    struct pdf_explanation explanation = {0};
    enum pdf_cut cut = read_words(arena, glyphs, &words, &explanation);

    if (cut != PDF_CUT_NONE) {
        return cut;
    }
    rulings_init(&rulings, arena, page_size(page));
    walk_page(document, page, &rulings, &explanation.path_operations);
    rulings_merge(&rulings, MEASURE_RULINGS_MAX);
    tables_find(&search, arena, words, &rulings);
    if (search.cut != PDF_CUT_NONE) {
        return search.cut;
    }
    if (!explain_rulings(arena, &rulings, &explanation) ||
        !explain_tables(arena, &search.found, &explanation)) {
        return PDF_CUT_LIMIT;
    }
    *ret_explanation = explanation;
    return PDF_CUT_NONE;
}

enum pdf_cut measure_tables(struct measure_document *document, uint32_t page,
                            struct pdf_explanation *ret_explanation)
{
    enum pdf_cut cut = PDF_CUT_LIMIT;
    struct glyph_list glyphs = {0};
    PopplerPage *opened = NULL;
    char *text = NULL;

    arena_deinit(&document->explanation);
    arena_init(&document->explanation, SCRATCH_BYTES_MAX);
    if (page == 0 && document->first_text != NULL) {
        return measure_page(document, document->first_page, document->first_glyphs,
                            ret_explanation);
    }
    if ((int64_t)page < poppler_document_get_n_pages(document->poppler)) {
        opened = poppler_document_get_page(document->poppler, (int)page);
    }
    if (opened == NULL) {
        return PDF_CUT_LIMIT;
    }
    text = page_text(opened);
    if (page_glyphs(&document->explanation, opened, text, &glyphs)) {
        cut = measure_page(document, opened, glyphs, ret_explanation);
    }
    g_free(text);
    g_object_unref(opened);
    return cut;
}

/* Fonts of page 1, as the document names them: the fonts of this machine are not used. */
static void add_fonts(struct family_sketch_builder *builder, PopplerPage *page)
{
    GList *all = poppler_page_get_text_attributes(page);

    for (GList *item = all; item != NULL; item = item->next) {
        const PopplerTextAttributes *attributes = item->data;

        family_add_font(builder, slice_text(attributes->font_name), attributes->font_size);
    }
    poppler_page_free_text_attributes(all);
}

void measure_sketch(struct measure_document *document, const struct pdf_explanation *explanation,
                    struct family_sketch *ret_sketch)
{
    struct pdf_page_size size = page_size(document->first_page);
    struct family_sketch_builder builder;
    struct family_page_words words;

    family_sketch_begin(&builder);
    family_page_words_begin(&words);
    family_add_page(&builder, size);
    family_add_words(&builder, &words, document->first_glyphs, size);
    for (uint32_t i = 0; i < explanation->ruling_count; i++) {
        family_add_ruling(&builder, &explanation->rulings[i]);
    }
    add_fonts(&builder, document->first_page);
    family_sketch_finish(&builder, ret_sketch);
    family_page_words_finish(&words, ret_sketch);
}
