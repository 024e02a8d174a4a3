/*
 * pdf_answer.h: what the PDF worker tells about a document, as plain values, and their bytes on the
 * pipe (proto/worker/pdf_worker.proto). The worker encodes, the server decodes. To the server these
 * bytes are hostile: decoding checks every length, range and text, allocates nothing but from the
 * arena, and gives ERR_MALFORMED for a worker that lies.
 *
 * An answer is a run of frames, each a length (4 bytes, little-endian) and a message: first a
 * refusal or the text, then, of a document that was read, the tables, then what was asked for beside
 * (explanation, picture). It may end after any whole frame: the worker was stopped there.
 */
#ifndef ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_H
#define ERRATA_SERVER_JOBS_PDF_ANSWER_PDF_ANSWER_H

#include "store/base/buffer.h"
#include "store/base/err.h"

/* The rules that documents are measured by; raised when what is measured changes. */
#define PDF_RULES_VERSION 1
/* The most bytes of one document, wherever it is taken. */
#define PDF_DOCUMENT_BYTES_MAX ((size_t)64 << 20)
#define PDF_PAGES_MAX 5000
#define PDF_SNIPPET_CHARACTERS_MAX 1500
/* A picture is made with its longer side at most this. */
#define PDF_PICTURE_SIDE_MAX 2000
/* The most that a page's bitmap has: cells of a page of 4,000 by 4,000 points. */
#define PDF_PAGE_CELLS_MAX 16000000
/* Rulings of a page, 20,000 each way. */
#define PDF_RULINGS_MAX 40000
/* Tables of a page: more can't be had of its rulings (three a table at least) and its words, of which
 * there are 100,000 (eight a table at least). */
#define PDF_TABLES_MAX 30000
/* Of Poppler's version, such as 22.12.0. */
#define PDF_POPPLER_VERSION_BYTES_MAX 31
/* Of one answer: of a plain one, and of one with explanation and picture. */
#define PDF_ANSWER_BYTES_MAX ((size_t)1 << 20)
#define PDF_ANSWER_EXPLAINED_BYTES_MAX ((size_t)24 << 20)

/* Why a document was refused; the numbers are on the pipe. */
enum pdf_reason {
    PDF_READ = 0, /* it was not */
    PDF_NOT_A_PDF = 1,
    PDF_DAMAGED = 2, /* beyond repair */
    PDF_ENCRYPTED = 3, /* no password, or not the right one */
    PDF_NO_PAGES = 4,
    PDF_TOO_MANY_PAGES = 5, /* over PDF_PAGES_MAX */
    PDF_PAGE_UNREADABLE = 6, /* a page that can't be opened */
    PDF_TEXT_LIMIT = 7, /* a limit of time or memory before the text was read */
    PDF_CRASHED = 8, /* the worker died, or lied, before the text was read */
    PDF_WALL_LIMIT =
        9 /* the wall limit before the text was read, on a machine without time for it */
};

/* The last that a worker may answer. */
#define PDF_REASON_MAX PDF_CRASHED

struct pdf_page_size {
    double width; /* points; finite, not below 0; not rounded */
    double height;
};

/* The first phase: page tree and text. */
struct pdf_text {
    uint32_t page_count; /* 1 to PDF_PAGES_MAX */
    const struct pdf_page_size *pages; /* page_count of them */
    uint32_t pages_read; /* 1 to page_count: as many as the snippet needs */
    uint32_t text_chars; /* code points on the pages read */
    uint32_t page_one_chars; /* code points on page 1 without white space at its ends */
    struct slice snippet; /* UTF-8 without NUL; at most PDF_SNIPPET_CHARACTERS_MAX code points */
    uint64_t covered_cells; /* 1-point cells of page 1 that its glyphs cover; at most page_cells */
    uint64_t page_cells; /* at most PDF_PAGE_CELLS_MAX; 0: a side over 4,000 points */
    bool damaged; /* it was repaired */
    bool page_too_large; /* a side of some page over 14,400 points */
    bool cmaps_unavailable; /* poppler-data can't be read */
    struct slice poppler_version; /* letters, digits, `.`, `+`, `-` and `~`; not empty */
};

/* The second phase: rulings and tables of page 1. */
struct pdf_tables {
    uint32_t table_count; /* at most PDF_TABLES_MAX */
};

/* Why a second phase has no result. */
enum pdf_cut {
    PDF_CUT_NONE = 0, /* it has one */
    PDF_CUT_PATHS = 1, /* over the path operations of a page */
    PDF_CUT_RULINGS = 2, /* over the rulings of a page, or the pieces of them */
    PDF_CUT_WORDS = 3, /* over the words of a page, or the looks at them for tables */
    PDF_CUT_LIMIT = 4 /* time or memory, or a crash: nothing came */
};

enum pdf_table_kind {
    PDF_TABLE_LATTICE = 1, /* crossing rulings */
    PDF_TABLE_RULES = 2, /* horizontal rulings of one extent */
    PDF_TABLE_TEXT = 3 /* aligned text */
};

/* Finite; x1 <= x2 and y1 <= y2. */
struct pdf_box {
    float x1; /* points from the left */
    float y1; /* points from the top */
    float x2;
    float y2;
};

struct pdf_table {
    enum pdf_table_kind kind;
    struct pdf_box box;
    uint32_t rows;
    uint32_t cells;
    bool counted; /* false: found, but set aside by a stronger one */
};

/* What was measured on page 1 and why, for people; only of a page whose tables were found. As many of
 * its tables are counted as the second phase says. */
struct pdf_explanation {
    uint32_t glyphs;
    uint32_t words;
    uint32_t path_operations;
    uint32_t rulings_ignored; /* white, transparent, or around the whole page */
    const struct pdf_box *rulings; /* merged; thickness 0 */
    uint32_t ruling_count;
    const struct pdf_table *tables;
    uint32_t table_count;
};

struct pdf_answer {
    enum pdf_reason reason; /* PDF_READ: `text` is there */
    struct pdf_text text;
    enum pdf_cut cut; /* PDF_CUT_NONE: `tables` is there */
    struct pdf_tables tables;
    bool explained;
    struct pdf_explanation explanation;
    struct slice picture; /* PNG, or empty */
    uint64_t cpu_us; /* that the worker's child took; of the driver */
    uint64_t memory_bytes; /* its largest resident size; of the driver */
    bool
        starved; /* it was stopped at the wall limit because the machine had no time for it: measured
                   * again, more may come; of the driver */
};

/* The code of a reason, such as `too_many_pages`. */
const char *pdf_reason_code(enum pdf_reason reason);
/* What people call a kind of table: `lattice`, `rules`, `text`. */
const char *pdf_table_kind_name(enum pdf_table_kind kind);

/* The worker's side: appends one frame, in the order above. ERR_MEMORY, ERR_INTERNAL for values out of
 * their ranges; the buffer is then as it was. `tables` is not looked at where there was a cut. */
MUST_CHECK enum err pdf_answer_put_refusal(struct buffer *buffer, enum pdf_reason reason);
MUST_CHECK enum err pdf_answer_put_text(struct buffer *buffer, const struct pdf_text *text);
MUST_CHECK enum err pdf_answer_put_tables(struct buffer *buffer, enum pdf_cut cut,
                                          const struct pdf_tables *tables);
MUST_CHECK enum err pdf_answer_put_explanation(struct buffer *buffer,
                                               const struct pdf_explanation *explanation);
MUST_CHECK enum err pdf_answer_put_picture(struct buffer *buffer, struct slice png);

/* The server's side. Bytes that end early: OK with what came whole (PDF_CUT_LIMIT, or a reason of
 * PDF_CRASHED where not even the text did); what breaks a rule above is ERR_MALFORMED. The answer
 * borrows from `bytes` and from the arena. `cpu_us` and `memory_bytes` are left 0. */
MUST_CHECK enum err pdf_answer_decode(struct arena *arena, struct slice bytes,
                                      struct pdf_answer *ret_answer);

#endif
