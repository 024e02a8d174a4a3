/*
 * facts.h: the facts of an EVENT_EXTRACTION_RECORDED: the wire bytes of an ExtractionRecorded, written when the
 * extraction is decided, and read by apply.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXTRACTIONS_FACTS_H
#define ERRATA_SERVER_DOMAIN_EXTRACTIONS_FACTS_H

#include "server/domain/events/payload.h"
#include "server/domain/extractions/citations.h"
#include "server/domain/extractions/rows/keys.h"

#include <errata/v1/event.views.h>
#include <errata/v1/extraction.views.h>

/* The values that were decided. */
struct extraction_decided {
    struct slice actor_user_id;
    struct slice extraction_id;
    struct slice document_id;
    struct slice draft_order_id;
    struct slice layout_fingerprint;
    double confidence;
    struct slice model;
    uint32_t field_count; /* 0: not reported */
    enum experiment_arm arm;
    enum experiment_exclusion exclusion;
    bool layout_ready;
    int64_t created_at_us;
    int64_t served_at_us;
    int64_t corrected_from_us;
    enum extraction_key_kind key_kind;
    uint64_t replaced_seq; /* the extraction with the same key; 0: none */
    struct citations *citations;
    uint64_t applied_seqs
        [EXTRACTION_REFERENCES_MAX]; /* seqs of the events that count the uses of mappings for it */
    size_t applied_count;
};

/* The facts as apply reads them. Slices are borrowed from the event; the list of numbers is in the arena. */
struct extraction_facts {
    struct extraction_recorded_view recorded;
    struct extraction_recorded_internal_view internal; /* internal part of `recorded` */
    struct extraction_view extraction; /* extraction of `recorded.extraction` */
    const uint64_t *example_seqs; /* seqs of `internal.example_seqs` */
    size_t example_count;
    const uint64_t *applied_seqs; /* seqs of `internal.applied_seqs` */
    size_t applied_count;
};

MUST_CHECK enum err extraction_facts_write(struct arena *arena, struct org_id org,
                                           const struct log_stamp *stamp,
                                           const struct extraction_decided *decided,
                                           struct slice *ret_facts);
/* Returns ERR_CORRUPT if the bytes are not such facts. */
MUST_CHECK enum err extraction_facts_read(struct arena *arena, struct slice facts,
                                          struct extraction_facts *ret_facts);
/* Returns the Extraction in the facts. */
MUST_CHECK enum err extraction_facts_extraction(struct slice facts, struct slice *ret_extraction);

#endif
