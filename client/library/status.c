/*
 * status.c: see status.h.
 */
#include "client/library/status.h"

#include "client/library/place.h"
#include "client/library/result.h"

#include <stdlib.h>

/* Room for the metadata, and for every text with its NUL. */
static size_t memory_bytes(const struct client_status *lower)
{
    size_t bytes = lower->metadata_count * sizeof(struct errata_metadata) + lower->message.size +
                   lower->idempotency_key.size + 2;

    for (size_t i = 0; i < lower->metadata_count; i++) {
        bytes += lower->metadata[i].key.size + 1;
    }
    return bytes;
}

void library_status_init(struct library_status *status, const struct client_status *lower)
{
    struct errata_metadata *metadata = malloc(memory_bytes(lower));
    char *at = (char *)(metadata + (metadata != NULL ? lower->metadata_count : 0));

    *status =
        (struct library_status){.status = {.code = library_code(lower->code),
                                           .message = "out of memory for the status",
                                           .details = {lower->details.data, lower->details.size},
                                           .from_server = lower->from_server,
                                           .attempts = lower->attempts},
                                .memory = metadata};
    if (metadata == NULL) {
        return;
    }
    for (size_t i = 0; i < lower->metadata_count; i++) {
        const struct client_metadata *field = &lower->metadata[i];

        metadata[i] = (struct errata_metadata){place_text(&at, field->key),
                                               {field->value.data, field->value.size}};
    }
    status->status.metadata = metadata;
    status->status.metadata_count = lower->metadata_count;
    status->status.message = place_text(&at, lower->message);
    if (lower->idempotency_key.size > 0) {
        status->status.idempotency_key = place_text(&at, lower->idempotency_key);
    }
}

void library_status_deinit(struct library_status *status)
{
    free(status->memory);
    status->memory = NULL;
}
