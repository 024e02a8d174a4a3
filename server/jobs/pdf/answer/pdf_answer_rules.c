/*
 * pdf_answer_rules.c: the ranges of a worker's values, and the codes of its reasons, for both sides
 * of the pipe. Independent of frames and messages.
 */
#include "server/jobs/pdf/answer/pdf_answer_internal.h"

#include "store/base/bytes.h"
#include "store/base/text.h"

#include <math.h>

/* A code point has at most four bytes. */
#define SNIPPET_BYTES_MAX ((size_t)4 * PDF_SNIPPET_CHARACTERS_MAX)
/* Signature, length and name of the first chunk, width, height. */
#define PNG_HEAD_BYTES 24

const char *pdf_reason_code(enum pdf_reason reason)
{
    switch (reason) {
    case PDF_READ:
        return "read";
    case PDF_NOT_A_PDF:
        return "not_a_pdf";
    case PDF_DAMAGED:
        return "damaged";
    case PDF_ENCRYPTED:
        return "encrypted";
    case PDF_NO_PAGES:
        return "no_pages";
    case PDF_TOO_MANY_PAGES:
        return "too_many_pages";
    case PDF_PAGE_UNREADABLE:
        return "page_unreadable";
    case PDF_TEXT_LIMIT:
        return "text_limit";
    case PDF_CRASHED:
        return "crashed";
    case PDF_WALL_LIMIT:
        return "wall_limit";
    }
    return "crashed";
}

const char *pdf_table_kind_name(enum pdf_table_kind kind)
{
    switch (kind) {
    case PDF_TABLE_LATTICE:
        return "lattice";
    case PDF_TABLE_RULES:
        return "rules";
    case PDF_TABLE_TEXT:
        return "text";
    }
    return "";
}

bool pdf_reason_is_refusal(uint32_t reason)
{
    return reason > PDF_READ && reason <= PDF_REASON_MAX;
}

bool pdf_cut_is_known(uint32_t cut)
{
    return cut <= PDF_CUT_LIMIT;
}

bool pdf_table_kind_is_known(uint32_t kind)
{
    return kind >= PDF_TABLE_LATTICE && kind <= PDF_TABLE_TEXT;
}

static bool side_is_right(double side)
{
    return isfinite(side) && side >= 0;
}

static bool pages_are_right(const struct pdf_text *text)
{
    if (text->page_count < 1 || text->page_count > PDF_PAGES_MAX || text->pages == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < text->page_count; i++) {
        if (!side_is_right(text->pages[i].width) || !side_is_right(text->pages[i].height)) {
            return false;
        }
    }
    return text->pages_read >= 1 && text->pages_read <= text->page_count;
}

static bool snippet_is_right(struct slice snippet)
{
    if (snippet.size == 0) {
        return true;
    }
    return snippet.size <= SNIPPET_BYTES_MAX && memchr(snippet.data, 0, snippet.size) == NULL &&
           text_is_utf8(snippet) &&
           text_first_characters(snippet, PDF_SNIPPET_CHARACTERS_MAX).size == snippet.size;
}

static bool version_is_right(struct slice version)
{
    if (version.size < 1 || version.size > PDF_POPPLER_VERSION_BYTES_MAX) {
        return false;
    }
    for (size_t i = 0; i < version.size; i++) {
        uint8_t byte = version.data[i];
        bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

        if (!letter && !(byte >= '0' && byte <= '9') && byte != '.' && byte != '+' && byte != '-' &&
            byte != '~') {
            return false;
        }
    }
    return true;
}

bool pdf_text_is_right(const struct pdf_text *text)
{
    return pages_are_right(text) && text->page_one_chars <= text->text_chars &&
           snippet_is_right(text->snippet) && text->page_cells <= PDF_PAGE_CELLS_MAX &&
           text->covered_cells <= text->page_cells && version_is_right(text->poppler_version);
}

/* A piece has text, unless none of it fits any more. */
bool pdf_pages_piece_is_right(const struct pdf_pages *piece)
{
    if (piece->count < 1 || piece->count > PDF_PAGES_MAX || piece->end > PDF_PAGES_FULL) {
        return false;
    }
    if (piece->text.size == 0) {
        return piece->end == PDF_PAGES_FULL;
    }
    return piece->text.size <= PDF_PAGES_TEXT_BYTES_MAX &&
           memchr(piece->text.data, 0, piece->text.size) == NULL && text_is_utf8(piece->text);
}

bool pdf_tables_are_right(enum pdf_cut cut, const struct pdf_tables *tables)
{
    if (cut != PDF_CUT_NONE) {
        return tables->table_count == 0 && tables->sketch.count == 0;
    }
    return tables->table_count <= PDF_TABLES_MAX && family_sketch_is_valid(&tables->sketch);
}

/* Comparisons with a NaN are false. */
static bool box_is_right(const struct pdf_box *box)
{
    return isfinite(box->x1) && isfinite(box->y1) && isfinite(box->x2) && isfinite(box->y2) &&
           box->x1 <= box->x2 && box->y1 <= box->y2;
}

bool pdf_explanation_is_right(const struct pdf_explanation *explanation)
{
    if (explanation->ruling_count > PDF_RULINGS_MAX || explanation->table_count > PDF_TABLES_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < explanation->ruling_count; i++) {
        if (!box_is_right(&explanation->rulings[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < explanation->table_count; i++) {
        if (!pdf_table_kind_is_known(explanation->tables[i].kind) ||
            !box_is_right(&explanation->tables[i].box)) {
            return false;
        }
    }
    return true;
}

bool pdf_picture_is_right(struct slice png)
{
    static const uint8_t start[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                    0,    0,   0,   13,  'I',  'H',  'D',  'R'};

    if (png.size < PNG_HEAD_BYTES || memcmp(png.data, start, sizeof(start)) != 0) {
        return false;
    }
    for (size_t at = sizeof(start); at < PNG_HEAD_BYTES; at += 4) {
        uint32_t side = bytes_get_be32(png.data + at);

        if (side < 1 || side > PDF_PICTURE_SIDE_MAX) {
            return false;
        }
    }
    return true;
}
