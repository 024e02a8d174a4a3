/*
 * details.c: the public form of a status's details: a copy with a NUL after each text, in one piece of
 * memory.
 */
#include "client/details.h"

#include "client/library/place.h"
#include "client/library/result.h"

#include <errata/details.h>
#include <stdlib.h>

/* The public struct, and what it points to: the violations, then texts. */
struct memory {
    struct errata_details details; /* must be the first member: the public part */
    struct errata_violation violations[];
};

static size_t memory_bytes(const struct client_details *lower)
{
    size_t bytes = sizeof(struct memory) +
                   lower->violation_count * sizeof(struct errata_violation) + lower->reason.size +
                   1;

    for (size_t i = 0; i < lower->violation_count; i++) {
        bytes += lower->violations[i].field.size + lower->violations[i].description.size + 2;
    }
    return bytes;
}

static void memory_fill(struct memory *memory, const struct client_details *lower)
{
    char *at = (char *)&memory->violations[lower->violation_count];

    for (size_t i = 0; i < lower->violation_count; i++) {
        memory->violations[i].field = place_text(&at, lower->violations[i].field);
        memory->violations[i].description = place_text(&at, lower->violations[i].description);
    }
    memory->details = (struct errata_details){.violations = memory->violations,
                                              .violation_count = lower->violation_count,
                                              .violation_total = lower->violation_total,
                                              .retry_ms = lower->retry_ms,
                                              .reason = place_text(&at, lower->reason)};
}

enum errata_result errata_details_read(const struct errata_status *status,
                                       struct errata_details **ret_details)
{
    struct client_details lower;
    struct memory *memory = NULL;
    enum err err =
        client_details_read(slice_of(status->details.data, status->details.size), &lower);

    if (err != OK) {
        return library_result(err);
    }
    memory = malloc(memory_bytes(&lower));
    if (memory == NULL) {
        return ERRATA_MEMORY;
    }
    memory_fill(memory, &lower);
    *ret_details = &memory->details;
    return ERRATA_OK;
}

void errata_details_free(struct errata_details *details)
{
    free(details);
}
