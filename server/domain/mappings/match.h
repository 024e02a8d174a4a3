/*
 * match.h: the lines of a draft and what is known about them: a read that is answered on the loop as
 * long as nearly all lines have a confirmed mapping. First all lines are looked up, one get each; only
 * then, if it is known how many have none, candidates are looked for, line by line.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_MATCH_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_MATCH_H

#include "server/domain/exposures/exposures.h"
#include "server/domain/mappings/candidates.h"
#include "server/domain/mappings/records.h"
#include "store/base/buffer.h"

#define MATCH_LINES_MAX 1000
#define MATCH_CANDIDATES_DEFAULT 5
#define MATCH_CANDIDATES_MAX 20
/* Lines that are looked up on the loop, at about a microsecond each; and those of them without a
 * confirmed mapping whose candidates are looked for there. */
#define MATCH_LOOP_LINES_MAX 500
#define MATCH_LOOP_CANDIDATE_LINES_MAX 8

/* A line, and its mapping after the lookup. */
struct match_line {
    struct slice customer_id;
    struct slice folded_customer_sku; /* empty: the line matches nothing */
    bool is_exact;
    struct mapping_confirmed_record
        confirmed; /* confirmed mapping, if any; borrowed from the transaction */
};

/* A request on its way. Zeroed but for what the caller gives. */
struct match {
    struct org_id org; /* given */
    struct match_line *lines; /* given */
    size_t line_count; /* input: number of lines, 1 to MATCH_LINES_MAX */
    size_t candidates; /* input: maximum number of candidates per line, 0 to MATCH_CANDIDATES_MAX */
    struct past *past; /* input: past state; NULL: the present state */
    uint64_t as_of_seq; /* input: the last event that the response may use */
    bool is_looked_up; /* the lines are, in the transaction at hand */
    size_t
        candidate_line_count; /* number of lines without a confirmed mapping that get candidates */
    struct buffer served; /* bytes over which the hash of the reference is computed */
    bool is_incomplete;
};

/* Memory limit for the candidates of one line, with a large margin. */
#define MATCH_LINE_BYTES_MAX (4u << 20)

/* The result of a line. */
struct match_found {
    enum match_method method;
    const struct mapping_confirmed_record *confirmed; /* NULL: it has no confirmed mapping */
    struct candidates candidates;
};

/* Looks up all lines. */
MUST_CHECK enum err match_look_up(struct arena *arena, struct store_txn *txn, struct match *match);
/* Finds what a line came to, in the order of the lines, each once. `scratch` has room for
 * MATCH_LINE_BYTES_MAX and may be reset once the result was used. */
MUST_CHECK enum err match_find_line(struct arena *scratch, struct store_txn *txn,
                                    struct match *match, size_t index,
                                    struct match_found *ret_found);
/* Computes the text hash of the matches, once each line was found. ERR_MEMORY if there was too little before. */
MUST_CHECK enum err match_text_hash(const struct match *match,
                                    uint8_t ret_hash[EXPOSURE_TEXT_HASH_BYTES]);
/* The reference for all lines, in the arena, once each was found. */
MUST_CHECK enum err match_reference(struct arena *arena, const struct exposure_key *key,
                                    int64_t now_us, struct match *match,
                                    struct slice *ret_reference);
/* Returns whether the response omits anything. */
bool match_is_incomplete(const struct match *match);

#endif
