/*
 * pdf_answer.h: the PDF worker's answer about a document, as plain values, and its encoding on the
 * pipe (proto/worker/pdf_worker.proto). The worker encodes, the server decodes. The server treats
 * these bytes as hostile: decoding checks every length, range and text, allocates only from the
 * arena, and returns ERR_MALFORMED if the worker breaks a rule.
 * An answer is a sequence of frames, each a length (4 bytes, little-endian) and a message: first a
 * refusal or the text, then, for a document that was read, the tables, then the optional parts
 * (explanation, picture). The text of all pages is sent in pieces: that of the pages that the
 * snippet needed before the tables, the rest last. An answer may end after any complete frame, if
 * the worker was stopped there.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_H
#define ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_H

#include "server/domain/layouts/sketch/family_sketch.h"
#include "store/base/buffer.h"
#include "store/base/err.h"

/* Version of the measuring rules; increased if the measured values change. */
#define PDF_RULES_VERSION 2
/* The largest document, in bytes. */
#define PDF_DOCUMENT_BYTES_MAX ((size_t)64 << 20)
#define PDF_PAGES_MAX 5000
#define PDF_SNIPPET_CHARACTERS_MAX 1500
/* Limit of a picture's longer side. */
#define PDF_PICTURE_SIDE_MAX 2000
/* The largest bitmap of a page: the cells of 4,000 by 4,000 points. */
#define PDF_PAGE_CELLS_MAX 16000000
/* Maximum rulings of a page, 20,000 in each direction. */
#define PDF_RULINGS_MAX 40000
/* Maximum tables of a page: its rulings (at least three per table) and its 100,000 words (at least
 * eight per table) cannot form more. */
#define PDF_TABLES_MAX 30000
/* Maximum length of Poppler's version, such as 22.12.0. */
#define PDF_POPPLER_VERSION_BYTES_MAX 31
/* Maximum size of the text of all pages: a long report has 3 KiB a page. */
#define PDF_PAGES_TEXT_BYTES_MAX ((size_t)1 << 20)
/* Maximum size of an answer: of a plain one; the addition for the text of all pages, each page in a
 * frame with its numbers; and of one with explanation and picture. */
#define PDF_ANSWER_BYTES_MAX ((size_t)1 << 20)
#define PDF_ANSWER_TEXT_BYTES_MAX (PDF_PAGES_TEXT_BYTES_MAX + (size_t)32 * PDF_PAGES_MAX)
#define PDF_ANSWER_EXPLAINED_BYTES_MAX ((size_t)24 << 20)

/* Reasons for refusing a document; the numbers are used on the pipe. */
enum pdf_reason {
    PDF_READ = 0, /* readable */
    PDF_NOT_A_PDF = 1,
    PDF_DAMAGED = 2, /* damaged beyond repair */
    PDF_ENCRYPTED = 3, /* the password is missing or wrong */
    PDF_NO_PAGES = 4,
    PDF_TOO_MANY_PAGES = 5, /* more pages than PDF_PAGES_MAX */
    PDF_PAGE_UNREADABLE = 6, /* a page cannot be opened */
    PDF_TEXT_LIMIT = 7, /* a limit of time or memory was reached before the text was read */
    PDF_CRASHED = 8, /* the worker died, or broke a rule, before the text was read */
    PDF_WALL_LIMIT =
        9 /* the wall limit was reached before the text was read, on an overloaded machine */
};

/* The last reason that a worker may report. */
#define PDF_REASON_MAX PDF_CRASHED

struct pdf_page_size {
    double width; /* width in points; finite, not negative, not rounded */
    double height;
};

/* The first phase: page tree and text. */
struct pdf_text {
    uint32_t page_count; /* 1 to PDF_PAGES_MAX */
    const struct pdf_page_size *pages; /* page_count elements */
    uint32_t pages_read; /* number of pages read for the snippet, 1 to page_count */
    uint32_t text_chars; /* number of code points on the pages read */
    uint32_t
        page_one_chars; /* number of code points on page 1, without leading and trailing white space */
    struct slice snippet; /* UTF-8 without NUL; at most PDF_SNIPPET_CHARACTERS_MAX code points */
    uint64_t
        covered_cells; /* number of 1-point cells of page 1 that its glyphs cover; at most page_cells */
    uint64_t
        page_cells; /* number of cells, at most PDF_PAGE_CELLS_MAX; 0: a side is longer than 4,000 points */
    bool damaged; /* the file was damaged and Poppler repaired it */
    bool page_too_large; /* a side of some page exceeds 14,400 points */
    bool cmaps_unavailable; /* poppler-data is missing */
    struct slice
        poppler_version; /* consists of letters, digits, `.`, `+`, `-` and `~`; not empty */
};

/* The end of the text of all pages. */
enum pdf_pages_end {
    PDF_PAGES_STOPPED = 0, /* after a page, by a limit of time or memory, or a crash */
    PDF_PAGES_WHOLE = 1, /* after the last page */
    PDF_PAGES_FULL = 2 /* at PDF_PAGES_TEXT_BYTES_MAX, at the end of a character */
};

/* The text of all pages, only on request: a line feed after each page, `pdf_text.snippet` first. */
struct pdf_pages {
    struct slice text; /* UTF-8 without NUL; at most PDF_PAGES_TEXT_BYTES_MAX */
    uint32_t count; /* pages that it covers, from page 1, the last perhaps in part; 0: none */
    enum pdf_pages_end end;
};

/* The second phase: rulings and tables of page 1, and its sketch. */
struct pdf_tables {
    uint32_t table_count; /* at most PDF_TABLES_MAX */
    struct family_sketch sketch; /* sketch of page 1; valid, or without features */
};

/* Reasons why the second phase has no result. */
enum pdf_cut {
    PDF_CUT_NONE = 0, /* the search was complete */
    PDF_CUT_PATHS = 1, /* too many path operations on the page */
    PDF_CUT_RULINGS = 2, /* too many rulings, or pieces of rulings, on the page */
    PDF_CUT_WORDS = 3, /* too many words on the page, or comparisons of them while searching for
                        * tables */
    PDF_CUT_LIMIT = 4 /* limit of time or memory, or a crash: there is no result */
};

enum pdf_table_kind {
    PDF_TABLE_LATTICE = 1, /* found by crossing rulings */
    PDF_TABLE_RULES = 2, /* found by horizontal rulings of equal extent */
    PDF_TABLE_TEXT = 3 /* found by aligned text */
};

/* Finite; x1 <= x2 and y1 <= y2. */
struct pdf_box {
    float x1; /* points from the left edge */
    float y1; /* points from the top edge */
    float x2;
    float y2;
};

struct pdf_table {
    enum pdf_table_kind kind;
    struct pdf_box box;
    uint32_t rows;
    uint32_t cells;
    bool counted; /* false: replaced by a stronger table */
};

/* The measurement of page 1 for people, only if its tables were found. As many of its tables are
 * counted as the second phase reports. */
struct pdf_explanation {
    uint32_t glyphs;
    uint32_t words;
    uint32_t path_operations;
    uint32_t rulings_ignored; /* rulings that are white, transparent, or around the whole page */
    const struct pdf_box *rulings; /* merged rulings; thickness 0 */
    uint32_t ruling_count;
    const struct pdf_table *tables;
    uint32_t table_count;
};

struct pdf_answer {
    enum pdf_reason reason; /* PDF_READ if `text` is set */
    struct pdf_text text;
    enum pdf_cut cut; /* PDF_CUT_NONE if `tables` is set */
    struct pdf_tables tables;
    bool explained;
    struct pdf_explanation explanation;
    struct slice picture; /* PNG, or empty */
    struct pdf_pages pages;
    uint64_t cpu_us; /* CPU time of the worker's child; set by the driver */
    uint64_t memory_bytes; /* maximum resident size of the child; set by the driver */
    bool
        starved; /* stopped at the wall-clock limit because the machine was busy; another measurement may succeed; set by the driver */
};

/* Returns the code of a reason, such as `too_many_pages`. */
const char *pdf_reason_code(enum pdf_reason reason);
/* Returns the name of a kind of table: `lattice`, `rules`, `text`. */
const char *pdf_table_kind_name(enum pdf_table_kind kind);

/* The worker's side: appends one frame, in the order above. ERR_MEMORY, or ERR_INTERNAL for values
 * out of their ranges; the buffer is then unchanged. `tables` is ignored if there is a cut. */
MUST_CHECK enum err pdf_answer_put_refusal(struct buffer *buffer, enum pdf_reason reason);
MUST_CHECK enum err pdf_answer_put_text(struct buffer *buffer, const struct pdf_text *text);
MUST_CHECK enum err pdf_answer_put_tables(struct buffer *buffer, enum pdf_cut cut,
                                          const struct pdf_tables *tables);
MUST_CHECK enum err pdf_answer_put_explanation(struct buffer *buffer,
                                               const struct pdf_explanation *explanation);
MUST_CHECK enum err pdf_answer_put_picture(struct buffer *buffer, struct slice png);
/* Appends one piece of the text of all pages: `piece->text` follows that of the earlier pieces,
 * `piece->count` includes their pages, and only the last piece has an `end`. */
MUST_CHECK enum err pdf_answer_put_pages(struct buffer *buffer, const struct pdf_pages *piece);

/* The server's side. Bytes that end early: OK with the complete frames (PDF_CUT_LIMIT, or the
 * reason PDF_CRASHED without the text). ERR_MALFORMED if a rule above is broken. The answer borrows
 * from `bytes` and from the arena. `cpu_us` and `memory_bytes` are left 0. */
MUST_CHECK enum err pdf_answer_decode(struct arena *arena, struct slice bytes,
                                      struct pdf_answer *ret_answer);

#endif
