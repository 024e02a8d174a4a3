/*
 * document_measures.h: the measured values of a document as the worker program returns them, before
 * anything is rounded, computed or stored.
 */
#ifndef ERRATA_SERVER_DOMAIN_FINGERPRINT_DOCUMENT_MEASURES_H
#define ERRATA_SERVER_DOMAIN_FINGERPRINT_DOCUMENT_MEASURES_H

#include "server/domain/layouts/sketch/family_sketch.h"
#include "store/base/sha256.h"

#include <errata/v1/warning.fields.h>
#include <stdbool.h>
#include <stdint.h>

/* Number of kinds of warnings. */
#define DOCUMENT_WARNINGS_MAX 5

struct document_page {
    double width; /* width in points, as measured */
    double height;
};

/* A document as measured. Borrowed for as long as the prepared document is used. */
struct document_measures {
    struct slice document_id; /* id that the caller assigned to the document */
    struct sha256_digest sha256;
    uint64_t size_bytes;
    const struct document_page *pages;
    uint32_t page_count;
    uint32_t pages_read;
    uint32_t text_chars;
    uint32_t page_one_chars;
    uint64_t covered_cells;
    uint64_t page_cells; /* number of cells; 0: coverage is 0 */
    struct slice input_snippet;
    bool has_table_count; /* false: the search for tables was cut off, so there is no fingerprint */
    uint32_t table_count;
    struct family_sketch
        sketch; /* sketch of page 1; without features if it has none, or if the search for tables was cut off */
    bool damaged;
    bool page_too_large;
    bool cmaps_unavailable;
    struct slice fp_version; /* versions of the rules and of Poppler, such as 1/22.12.0 */
};

/* A warning about the document. Texts are literals. */
struct document_warning {
    enum warning_code code;
    struct slice name; /* name of the code, without the prefix of its type */
    struct slice message; /* message of one sentence */
};

/* Writes the warnings of a document; returns their number. */
size_t document_warnings(const struct document_measures *measures,
                         struct document_warning ret_warnings[DOCUMENT_WARNINGS_MAX]);

#endif
