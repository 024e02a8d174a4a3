/*
 * agreement.h: measures how far answers to one question agree: the number of answers, and that of
 * the most frequent one.
 */
#ifndef ERRATA_SERVER_DOMAIN_REVIEWS_AGREEMENT_H
#define ERRATA_SERVER_DOMAIN_REVIEWS_AGREEMENT_H

#include "server/domain/reviews/records.h"

#include <errata/v1/reviewed_run.fields.h>

struct review_agreement {
    uint32_t answer_count;
    uint32_t agreeing_count; /* 0 without answers */
};

/* Compares the answers of `count` reviews to one question. An absent flag does not answer it; a list of fields always does,
 * even if it is empty. Fails only with ERR_MEMORY, or with ERR_CORRUPT for a list that cannot be read. */
MUST_CHECK enum err review_agreement_of(struct arena *arena, enum review_field field,
                                        const struct review_record *reviews, size_t count,
                                        struct review_agreement *ret_agreement);

#endif
