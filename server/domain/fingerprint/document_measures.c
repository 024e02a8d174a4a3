/*
 * document_measures.c: see document_measures.h.
 */
#include "server/domain/fingerprint/document_measures.h"

/* An entry for each value of WarningCode that a document may have. */
#define WARNING(code, message)                                                                     \
    {                                                                                              \
        WARNING_CODE_##code, SLICE(#code), SLICE(message)                                          \
    }

size_t document_warnings(const struct document_measures *measures,
                         struct document_warning ret_warnings[DOCUMENT_WARNINGS_MAX])
{
    const struct {
        bool applies;
        struct document_warning warning;
    } rules[DOCUMENT_WARNINGS_MAX] = {
        {measures->damaged,
         WARNING(DAMAGED, "the file was repaired to be read; parts may be missing")},
        {!measures->has_table_count,
         WARNING(RULINGS_LIMIT, "the search for tables on page 1 met a limit or failed; the "
                                "document has no table count and no fingerprint")},
        {measures->page_too_large,
         WARNING(PAGE_TOO_LARGE, "a page has a side of more than 14,400 points")},
        {measures->page_one_chars == 0, WARNING(SCAN, "page 1 has no text; examples are withheld")},
        {measures->cmaps_unavailable,
         WARNING(CMAPS_UNAVAILABLE, "East Asian text may be missing; poppler-data is not "
                                    "readable")},
    };
    size_t count = 0;

    for (size_t i = 0; i < DOCUMENT_WARNINGS_MAX; i++) {
        if (rules[i].applies) {
            ret_warnings[count++] = rules[i].warning;
        }
    }
    return count;
}
