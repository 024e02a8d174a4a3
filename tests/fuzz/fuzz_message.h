/*
 * fuzz_message.h: which message a byte of an input means. The list only grows at its end, so that
 * inputs keep their meaning when the contract grows.
 */
#ifndef ERRATA_TESTS_FUZZ_FUZZ_MESSAGE_H
#define ERRATA_TESTS_FUZZ_FUZZ_MESSAGE_H

#include "server/codec/contract.h"
#include "store/base/assert.h"

static inline const struct message_info *fuzz_message(uint8_t byte)
{
    static const char *const names[] = {
        "errata.v1.CaptureFeedbackEventRequest",
        "errata.v1.BatchCaptureFeedbackEventsRequest",
        "errata.v1.ListFeedbackEventsRequest",
        "errata.v1.GetExamplesRequest",
        "errata.v1.ComputeFingerprintRequest",
        "errata.v1.CreateTokenRequest",
        "errata.v1.ListEventsRequest",
        "errata.v1.WatchEventsRequest",
        "errata.v1.GetEventResponse",
        "google.rpc.Status",
        "errata.v1.IngestDocumentRequest",
        "errata.v1.GetDocumentResponse",
        "errata.v1.ListProfilesResponse",
        "errata.v1.GetServerInfoResponse",
    };
    const struct message_info *message =
        contract_find_message(slice_text(names[byte % (sizeof(names) / sizeof(names[0]))]));

    ASSERT(message != NULL);
    return message;
}

#endif
