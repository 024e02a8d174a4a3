/*
 * quota_book.h: how much of their quotas organisations and tokens have used. Counts what callers
 * have in use (streams, PDFs) and when they called, in memory: after a start nothing is in use, and
 * every bucket is full. The limits are the store's (server/domain/quotas), read again after any of
 * them changed. Used only on the loop; finding a caller and counting a call allocate nothing.
 *
 * Requests fill a bucket by the generic cell rate algorithm (ITU-T I.371): instead of a level it
 * keeps the time at which the bucket is full again, so that a call costs one comparison. The bucket
 * holds the burst, and fills at the limit's rate.
 */
#ifndef ERRATA_SERVER_AUTH_QUOTA_BOOK_H
#define ERRATA_SERVER_AUTH_QUOTA_BOOK_H

#include "server/domain/quotas/quotas.h"

/* Maximum organisations and tokens that are remembered: more than all streams and PDFs of a server
 * can belong to. Of more callers, the one that called longest ago and has nothing in use is
 * forgotten, and then has a full bucket. */
#define QUOTA_BOOK_HOLDERS_MAX 16384

/* The limits, in the order of enum quota_kind: the field of Quota, the option of
 * `errata admin quota`, and the recommended wait before
 * another attempt in ms; 0: until the bucket has room. What is stored becomes less only by retention
 * or an erasure. */
#define QUOTA_KINDS(KIND)                                                                          \
    KIND(REQUESTS, "requests_per_second", "--requests-per-second", 0)                              \
    KIND(STREAMS, "concurrent_streams", "--concurrent-streams", 1000)                              \
    KIND(STORED_BYTES, "stored_bytes", "--stored-bytes", 60000)                                    \
    KIND(PDF_JOBS, "pdf_jobs", "--pdf-jobs", 1000)

enum quota_kind {
#define QUOTA_KIND(name, field, option, retry_ms) QUOTA_##name,
    QUOTA_KINDS(QUOTA_KIND)
#undef QUOTA_KIND
    QUOTA_KIND_COUNT
};

struct quota_book;
struct quota_entry; /* a holder in the book */

/* The two holders that a caller's use counts for. Borrowed from the book until its next search,
 * unless something of them is in use. */
struct quota_user {
    struct quota_entry *org;
    struct quota_entry *token;
};

/* Why a call is beyond a quota. */
struct quota_refusal {
    enum quota_kind kind;
    bool is_token; /* the token's quota, else the organisation's */
    uint64_t limit;
    uint32_t retry_ms;
};

/* Current use of a holder. */
struct quota_in_use {
    uint32_t requests_available; /* calls that could begin now; 0 without a limit */
    uint32_t streams;
    uint32_t pdf_jobs;
};

MUST_CHECK enum err quota_book_new(struct quota_book **ret_book);
/* NULL is allowed. Nothing may be in use. */
void quota_book_free(struct quota_book *book);

/* Finds a caller whose limits the book knows by `version`, that of the QUOTA table. False: call
 * quota_book_read. */
bool quota_book_find(struct quota_book *book, struct org_id org, uint32_t key_id, uint64_t version,
                     struct quota_user *ret_user);
/* Reads the limits of a caller, and finds it. ERR_BUSY if all remembered holders have something in
 * use. */
MUST_CHECK enum err quota_book_read(struct quota_book *book, struct store_txn *txn,
                                    struct org_id org, uint32_t key_id, uint64_t version,
                                    struct quota_user *ret_user);

/* Returns whether either quota limits requests. */
bool quota_limits_requests(struct quota_user user);
/* Counts a call at `now_us` (monotonic), if it is within both quotas; else false, and it is not
 * counted. */
bool quota_take_request(struct quota_user user, int64_t now_us, struct quota_refusal *ret_refusal);
/* Takes a stream or a PDF (QUOTA_STREAMS, QUOTA_PDF_JOBS) into use, if both quotas allow one more; else false. Each must be
 * given back. */
bool quota_take(struct quota_book *book, struct quota_user user, enum quota_kind kind,
                struct quota_refusal *ret_refusal);
void quota_give(struct quota_book *book, struct quota_user user, enum quota_kind kind);
/* Returns whether the organisation has a limit of what it stores; then `ret_refusal` is the refusal
 * of a write if that much is stored. */
bool quota_limits_storage(struct quota_user user, struct quota_refusal *ret_refusal);

/* Returns the field of a limit in Quota. */
const char *quota_kind_field(enum quota_kind kind);
/* Returns the option that changes it. */
const char *quota_kind_option(enum quota_kind kind);
/* Returns what a holder has in use at `now_us`; `quota` are its limits now. */
struct quota_in_use quota_book_usage(struct quota_book *book, const struct quota_holder *holder,
                                     const struct quota_record *quota, int64_t now_us);

#endif
