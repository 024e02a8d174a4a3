/*
 * profile_rows.h: profiles as rows: read, counted up, written with their places in the two orders,
 * and told as the wire bytes of LayoutProfile. Means are divided here, when a profile is told; what
 * is stored is added up in integers.
 */
#ifndef ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILE_ROWS_H
#define ERRATA_SERVER_DOMAIN_LAYOUTS_PROFILE_ROWS_H

#include "server/domain/layouts/records.h"

/* What one document adds. */
struct profile_addend {
    struct uuid event_id; /* of the event that counts it */
    int64_t seen_at_us;
    uint32_t page_count;
    uint32_t table_count;
    uint32_t text_coverage_hundredths;
    uint32_t text_density_ten_thousandths;
    struct slice fp_version;
};

/* Reads a row into memory that outlives the next put. ERR_NOT_FOUND where there is none. */
MUST_CHECK enum err profile_row_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                                     const struct sha256_digest *measured,
                                     struct profile_record *ret_profile);
/* Counts a document; a zeroed profile becomes that of its first one. Writes nothing. */
void profile_count(struct profile_record *profile, const struct sha256_digest *measured,
                   const struct profile_addend *addend);
/* Writes a row and its places in the orders, and removes those of `old`, the row before (zeroed:
 * none). */
MUST_CHECK enum err profile_row_write(struct arena *arena, struct store_txn *txn, struct org_id org,
                                      const struct profile_record *old,
                                      const struct profile_record *profile);
/* The head row of its layout. */
struct key profile_head_key(struct org_id org, const struct sha256_digest *measured);
/* The wire bytes of LayoutProfile. */
MUST_CHECK enum err profile_encode(struct arena *arena, const struct profile_record *profile,
                                   const struct layout_head_record *head, struct slice *ret_bytes);

#endif
