/*
 * profile_rows.h: rows of profiles: reads them, adds documents, writes them with their entries in the two
 * orders, and converts them to a LayoutProfile. Rows hold integer sums; means are computed here.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILE_ROWS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILE_ROWS_H

#include "server/domain/layouts/records.h"

#include <errata/v1/layout_service.views.h>

/* The values that one document adds. */
struct profile_addend {
    struct uuid event_id; /* seq of the event that counts the document */
    int64_t seen_at_us;
    bool is_history; /* seen_at_us was given by the caller */
    uint32_t page_count;
    uint32_t table_count;
    uint32_t text_coverage_hundredths;
    uint32_t text_density_ten_thousandths;
    struct slice fp_version;
};

/* Reads a row into memory that outlives the next put. ERR_NOT_FOUND if there is none. */
MUST_CHECK enum err profile_row_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                                     const struct sha256_digest *measured,
                                     struct profile_record *ret_profile);
/* Counts a document; a zeroed profile becomes that of its first document. Writes nothing. */
void profile_count(struct profile_record *profile, const struct sha256_digest *measured,
                   const struct profile_addend *addend);
/* Writes a row and its entries in the orders, and removes those of `old`, the previous row (zeroed: none). */
MUST_CHECK enum err profile_row_write(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      const struct profile_record *old,
                                      const struct profile_record *profile);
/* The head row of its layout. */
struct key profile_head_key(struct org_id org, const struct sha256_digest *measured);

/* A LayoutProfile: `stats` and `fingerprint` are members of the view. */
struct profile {
    struct layout_profile_view view;
    struct layout_stats_view stats;
    char fingerprint[2 * SHA256_BYTES];
};

/* Fills a profile from its rows; `stats.fp_version` is borrowed from `record`. */
void profile_of(const struct profile_record *record, const struct layout_head_record *head,
                struct profile *ret_profile);
/* The wire bytes of the LayoutProfile. */
MUST_CHECK enum err profile_encode(struct arena *arena, const struct profile *profile,
                                   struct slice *ret_bytes);

#endif
