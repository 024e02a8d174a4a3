/*
 * asker.h: one organisation that calls any method of a fixture, and its replies, byte for byte.
 * Values in a reply (ids, key ids, page tokens, fingerprints) are added to its pools, for its later
 * requests, and for those of others, who should not know them.
 */
#ifndef ERRATA_TESTS_ISOLATION_ASKER_H
#define ERRATA_TESTS_ISOLATION_ASKER_H

#include "tests/isolation/request_maker.h"
#include "tests/rpc/fixture.h"

#define ASKER_METHODS_MAX 160
#define ASKER_NAMES POOL_TEXTS_KEPT /* its own names, the first of the pool */

/* The result of a call. Borrowed from the asker's arena. */
struct answer {
    const struct method_info *method;
    enum status_code code;
    bool ended; /* a stream that stays open has not */
    struct slice message;
    struct slice details;
    struct slice replies; /* all messages, each with its prefix */
};

/* A request of one method, or the parts of a stream. */
struct question {
    const struct method_info *method;
    struct slice parts[3];
    size_t part_count;
    const char *idempotency_key; /* idempotency key, or NULL */
};

struct asker {
    struct fixture *fixture; /* NULL until the organisation is made */
    struct arena *arena;
    char token[FIXTURE_TOKEN_BYTES];
    char key_id[9];
    const char *org_id;
    struct pools pools;
    struct slice pageable[ASKER_METHODS_MAX]; /* a request with another page, by method */
    struct slice page_token[ASKER_METHODS_MAX];
    unsigned answered[ASKER_METHODS_MAX]; /* number of OK responses, by method */
};

/* An organisation of the fixture, with an administrator's token that is not the server's. */
void asker_init(struct asker *asker, struct fixture *fixture, struct arena *arena,
                const char *name);
/* A random request of any method, mostly valid. */
struct question asker_make_question(struct request_maker *maker, const struct method_info *method);
/* The request that the asker had a page for, with a page token. */
struct question asker_next_page(const struct asker *asker, const struct method_info *method,
                                struct arena *arena, struct slice page_token);
/* Sends it; the fixture has yet to run. */
void asker_send(struct asker *asker, const struct question *question, struct exchange *exchange);
/* Takes the answer out, learns from it, and lets the call go. */
struct answer asker_take(struct asker *asker, const struct question *question,
                         struct exchange *exchange);
/* Returns the messages received since the last read of an open call. */
struct slice asker_read(struct asker *asker, struct exchange *exchange);
/* The method does not belong to an organisation: health and reflection. */
bool asker_passes_over(const struct method_info *method);
/* Fails the test where two answers differ in any byte, naming the method. */
void assert_same_answer(const struct answer *a, const struct answer *b, const char *what);

#endif
