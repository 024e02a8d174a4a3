/*
 * pages.c: synthetic pages, for the tests of this folder.
 */
#include "tests/unit/pdf_measure/pdf_measure_tests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define PAGE_BYTES_MAX ((size_t)512 << 20)
#define LETTER_WIDTH 5.0

void page_init(struct page *page)
{
    memset(page, 0, sizeof *page);
    arena_init(&page->arena, PAGE_BYTES_MAX);
    rulings_init(&page->rulings, &page->arena, (struct pdf_page_size){600, 800});
}

void page_deinit(struct page *page)
{
    arena_deinit(&page->arena);
}

static void add_glyph(struct page *page, const struct glyph *glyph)
{
    if (page->glyphs_count == page->glyphs_capacity) {
        size_t capacity = page->glyphs_capacity == 0 ? 256 : page->glyphs_capacity * 2;
        struct glyph *glyphs = arena_calloc(&page->arena, capacity, sizeof *glyphs);

        assert_non_null(glyphs);
        if (page->glyphs_count > 0) {
            memcpy(glyphs, page->glyphs, page->glyphs_count * sizeof *glyphs);
        }
        page->glyphs = glyphs;
        page->glyphs_capacity = capacity;
    }
    page->glyphs[page->glyphs_count++] = *glyph;
}

void page_add_word_of_height(struct page *page, double x, double y, double height, const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        double left = x + LETTER_WIDTH * (double)i;
        struct glyph glyph = {{left, y, left + LETTER_WIDTH, y + height}, (uint8_t)text[i]};

        add_glyph(page, &glyph);
    }
    add_glyph(page, &(struct glyph){.box = {x, y, x, y}, .code_point = ' '});
}

void page_add_word(struct page *page, double x, double y, const char *text)
{
    page_add_word_of_height(page, x, y, 10, text);
}

void page_add_line(struct page *page, double x1, double y1, double x2, double y2)
{
    struct path_point points[] = {{x1, y1, false}, {x2, y2, true}};

    rulings_add_stroke(&page->rulings, &(struct path_part){.points = points, .count = 2});
}

void page_turn(struct page *page)
{
    struct ruling_list across = page->rulings.across;

    page->rulings.across = page->rulings.down;
    page->rulings.down = across;
    page->rulings.page = (struct pdf_page_size){800, 600};
    for (size_t i = 0; i < page->glyphs_count; i++) {
        struct area box = page->glyphs[i].box;

        page->glyphs[i].box = (struct area){box.y1, box.x1, box.y2, box.x2};
    }
}

void page_measure(struct page *page)
{
    struct glyph_list glyphs = {page->glyphs, page->glyphs_count};

    assert_int_equal(parts_find_words(&page->arena, glyphs, 100000, &page->words), PDF_CUT_NONE);
    rulings_merge(&page->rulings, 20000);
    tables_find(&page->search, &page->arena, page->words, &page->rulings);
    assert_int_equal(page->search.cut, PDF_CUT_NONE);
}

size_t page_count(const struct page *page, enum pdf_table_kind kind, bool counted)
{
    size_t count = 0;

    for (size_t i = 0; i < page->search.found.count; i++) {
        const struct table *table = &page->search.found.items[i];

        count += table->kind == kind && (table->counted || !counted);
    }
    return count;
}
