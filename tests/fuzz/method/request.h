/*
 * request.h: requests of any message of the contract, by the decisions of an input: every field
 * absent, valid, at the edge of its rules or beyond. It reads only the generated tables, so that a
 * new method or field is covered automatically. Without decisions a request has its required
 * fields.
 */
#ifndef ERRATA_TESTS_FUZZ_METHOD_REQUEST_H
#define ERRATA_TESTS_FUZZ_METHOD_REQUEST_H

#include "server/codec/contract.h"
#include "store/base/arena.h"
#include "tests/fuzz/fuzz_input.h"

#define POOL_PLACES 8
#define POOL_TEXT_BYTES 512

/* Texts that came by; the newest take the place of the oldest. */
struct pool_texts {
    char places[POOL_PLACES][POOL_TEXT_BYTES + 1];
    unsigned count; /* number of texts ever added */
};

/* Values from which requests are built. The caller maintains ids and tokens, for all
 * organisations. */
struct pool {
    struct pool_texts uuids;
    struct pool_texts key_ids;
    struct pool_texts page_tokens;
    struct pool_texts fingerprints;
    struct pool_texts references; /* references of exposures */
    int64_t now_us;
};

/* Too long ones are left out. */
void pool_add(struct pool_texts *texts, struct slice text);

/* Wire bytes in the arena. Texts for people and JSON name `canary`, so that who sees them is known.
 * */
struct slice request_make(struct arena *arena, struct fuzz_input *input,
                          const struct message_info *message, const struct pool *pool,
                          const char *canary);

#endif
