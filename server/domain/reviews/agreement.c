/*
 * agreement.c: see agreement.h. Each answer becomes a digest, so that lists are compared like flags.
 */
#include "server/domain/reviews/agreement.h"

#include "server/domain/reviews/spec_set.h"
#include "store/base/sha256.h"

/* Returns the flag that a question is about; REVIEW_FLAG_COUNT for other questions. */
static enum review_flag flag_of(enum review_field field)
{
    switch (field) {
    case REVIEW_FIELD_INFORMATION_PRESENT:
        return REVIEW_INFORMATION_PRESENT;
    case REVIEW_FIELD_BAD_FORMAT:
        return REVIEW_BAD_FORMAT;
    case REVIEW_FIELD_WRONG_INFORMATION:
        return REVIEW_WRONG_INFORMATION;
    case REVIEW_FIELD_WRONG_PHYSICAL_DIMENSIONS:
        return REVIEW_WRONG_PHYSICAL_DIMENSIONS;
    case REVIEW_FIELD_DECISION:
    case REVIEW_FIELD_MISSING_SPEC:
    case REVIEW_FIELD_UNSPECIFIED:
        break;
    }
    return REVIEW_FLAG_COUNT;
}

/* Makes the digest of an answer; `ret_is_given` is false if there is none. */
static enum err digest_of(struct arena *arena, enum review_field field,
                          const struct review_record *review, struct sha256_digest *ret_digest,
                          bool *ret_is_given)
{
    enum review_flag flag = flag_of(field);
    uint32_t number = flag == REVIEW_FLAG_COUNT ? review->decision : (uint32_t)review->flags[flag];
    struct slice answer = slice_of(&number, sizeof(number));
    enum err err = OK;

    *ret_is_given = number != 0;
    if (field == REVIEW_FIELD_MISSING_SPEC) {
        err = spec_set_canonical(arena, review->missing_spec, &answer);
    }
    if (err == OK) {
        *ret_digest = sha256(answer);
    }
    return err;
}

static uint32_t count_most_frequent(const struct sha256_digest *digests, uint32_t count)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 1;

        for (uint32_t j = i + 1; j < count; j++) {
            same += memcmp(&digests[i], &digests[j], sizeof(digests[i])) == 0;
        }
        most = same > most ? same : most;
    }
    return most;
}

enum err review_agreement_of(struct arena *arena, enum review_field field,
                             const struct review_record *reviews, size_t count,
                             struct review_agreement *ret_agreement)
{
    struct sha256_digest *digests = arena_calloc(arena, count + 1, sizeof(*digests));
    uint32_t answer_count = 0;
    enum err err = digests != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; i < count && err == OK; i++) {
        bool is_given = false;

        err = digest_of(arena, field, &reviews[i], &digests[answer_count], &is_given);
        answer_count += is_given;
    }
    if (err == OK) {
        ret_agreement->answer_count = answer_count;
        ret_agreement->agreeing_count = count_most_frequent(digests, answer_count);
    }
    return err;
}
