/*
 * match.h: the lines of a draft and what is known about them: a read that is answered on the loop as
 * long as nearly all lines have a confirmed mapping. First all lines are looked up, one get each; only
 * then, when it is known how many have none, candidates are looked for and the answer is written.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_MATCH_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_MATCH_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/mappings/past.h"
#include "store/base/buffer.h"

#define MATCH_LINES_MAX 1000
#define MATCH_CANDIDATES_DEFAULT 5
#define MATCH_CANDIDATES_MAX 20
/* Lines that are looked up on the loop, at about a microsecond each; and those of them without a
 * confirmed mapping whose candidates are looked for there. */
#define MATCH_LOOP_LINES_MAX 500
#define MATCH_LOOP_CANDIDATE_LINES_MAX 8

/* One line, and its mapping once it was looked up. */
struct match_line {
    struct slice customer_id;
    struct slice folded_customer_sku; /* empty: it matches nothing */
    bool is_exact;
    struct mapping_confirmed_record confirmed; /* where it is; borrowed from the transaction */
};

/* A request on its way. Zeroed but for what the caller gives. */
struct match {
    struct org_id org; /* given */
    struct match_line *lines; /* given */
    size_t line_count; /* given; 1 to MATCH_LINES_MAX */
    size_t candidates; /* given; a line's at most, 0 to MATCH_CANDIDATES_MAX */
    struct past *past; /* given; NULL: as things stand */
    uint64_t as_of_seq; /* given; the last event that the answer can know of */
    size_t candidate_line_count; /* lines without a confirmed mapping that get candidates */
    struct buffer served; /* what the reference's hash is over */
    bool is_incomplete;
};

/* Looks up all lines. */
MUST_CHECK enum err match_look_up(struct arena *arena, struct store_txn *txn, struct match *match);
/* Appends one LineMatch. */
MUST_CHECK enum err match_write_line(struct arena *arena, struct store_txn *txn,
                                     struct match *match, size_t index, struct buffer *body);
/* Appends what stands behind the lines: the reference, whether anything was left out. */
MUST_CHECK enum err match_write_end(struct arena *arena, const struct exposure_key *key,
                                    int64_t now_us, struct match *match, struct buffer *body);

#endif
