/*
 * match.h: matches the lines of a draft with mappings: a read that runs on the event loop if nearly
 * all lines have a confirmed mapping. First looks up all lines, one get each; then, when the number
 * of lines without a mapping is known, searches candidates line by line.
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
/* Maximum lines that are looked up on the loop, at about a microsecond each; and of these, the
 * maximum without a confirmed mapping for which candidates are searched there. */
#define MATCH_LOOP_LINES_MAX 500
#define MATCH_LOOP_CANDIDATE_LINES_MAX 8

/* A line, and its mapping after the lookup. */
struct match_line {
    struct slice customer_id;
    struct slice folded_customer_sku; /* empty: the line has no match */
    bool is_exact;
    struct mapping_confirmed_record
        confirmed; /* confirmed mapping, if any; borrowed from the transaction */
};

/* The state of a request. All members are zero except those that the caller sets. */
struct match {
    struct org_id org; /* given */
    struct match_line *lines; /* given */
    size_t line_count; /* input: number of lines, 1 to MATCH_LINES_MAX */
    size_t candidates; /* input: maximum number of candidates per line, 0 to MATCH_CANDIDATES_MAX */
    struct past *past; /* input: past state; NULL: the present state */
    uint64_t as_of_seq; /* input: the last event that the response may use */
    bool is_looked_up; /* the lines were looked up in the current transaction */
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
/* Finds the result of a line; called once for each line, in order. `scratch` has room for
 * MATCH_LINE_BYTES_MAX and may be reset after the result was used. */
MUST_CHECK enum err match_find_line(struct arena *scratch, struct store_txn *txn,
                                    struct match *match, size_t index,
                                    struct match_found *ret_found);
/* Computes the text hash of the matches, after the results of all lines. Returns ERR_MEMORY if an
 * earlier allocation failed. */
MUST_CHECK enum err match_text_hash(const struct match *match,
                                    uint8_t ret_hash[EXPOSURE_TEXT_HASH_BYTES]);
/* Builds the reference for all lines, in the arena, after the results of all lines. */
MUST_CHECK enum err match_reference(struct arena *arena, const struct exposure_key *key,
                                    int64_t now_us, struct match *match,
                                    struct slice *ret_reference);
/* Returns whether the response omits anything. */
bool match_is_incomplete(const struct match *match);

#endif
