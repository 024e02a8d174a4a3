/*
 * document_measures.c: see document_measures.h.
 */
#include "server/domain/fingerprint/document_measures.h"

size_t document_warnings(const struct document_measures *measures,
                         struct slice ret_warnings[DOCUMENT_WARNINGS_MAX])
{
    size_t count = 0;

    if (measures->damaged) {
        ret_warnings[count++] =
            SLICE("damaged: the file was repaired to be read; parts may be missing");
    }
    if (!measures->has_table_count) {
        ret_warnings[count++] = SLICE(
            "rulings_limit: the search for tables on page 1 met a limit or failed, so they were "
            "not counted and it has no fingerprint");
    }
    if (measures->page_too_large) {
        ret_warnings[count++] =
            SLICE("page_too_large: a page has a side of more than 14,400 points");
    }
    if (measures->page_one_chars == 0) {
        ret_warnings[count++] = SLICE("scan: page 1 has no text; examples are withheld for it");
    }
    if (measures->cmaps_unavailable) {
        ret_warnings[count++] =
            SLICE("cmaps_unavailable: East Asian text may be missing, since poppler-data could not "
                  "be read");
    }
    return count;
}
