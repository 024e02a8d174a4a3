/*
 * exposures.h: records what was served to callers without a write per read: the response of a read
 * has a signed reference that describes what was served, and the exposure is appended to the log
 * when an outcome first cites the reference. A reference is the base64url form of: the kind of
 * response, the time, the last event that was stored, the arm of the experiment; the artifacts and
 * their versions; the hash of the text; and a tag computed with the server's key over all of this
 * and the organisation. It is valid as long as the key, which is created once for each data folder.
 */
#ifndef ERRATA_SERVER_DOMAIN_EXPOSURES_EXPOSURES_H
#define ERRATA_SERVER_DOMAIN_EXPOSURES_EXPOSURES_H

#include "server/domain/events/draft.h"
#include "store/base/buffer.h"
#include "store/base/hmac.h"
#include "store/log.h"
#include "store/scan.h"

#include <errata/v1/event.fields.h>
#include <errata/v1/extraction.fields.h>
#include <errata/v1/review_prompts.fields.h>
#include <errata/v1/verdict_service.fields.h>
#include <errata/v1/verdict_submission.fields.h>

#define EXPOSURE_KEY_BYTES 32
#define EXPOSURE_TEXT_HASH_BYTES 16
#define EXPOSURE_REFERENCE_HASH_BYTES 16
/* Maximum characters of a reference. A list of artifacts that would exceed it is replaced by its
 * hash; such a reference credits no single artifact. */
#define EXPOSURE_REFERENCE_CHARACTERS_MAX 4096
/* Maximum artifacts of a reference; more never fit. */
#define EXPOSURE_ARTIFACTS_MAX 1500
/* Maximum bytes of a subcategory: an id that the caller chooses. */
#define EXPOSURE_SUBCATEGORY_BYTES_MAX 256
/* Signals with guidance end before this one: they fit into a byte, without bit 0. */
#define EXPOSURE_SIGNALS_END REVIEW_SIGNAL_NOTES

/* The server's key, derived from random bytes in META that each data folder has. Never leaves the
 * server. */
struct exposure_key {
    struct hmac_key mac;
};

void exposure_key_init(struct exposure_key *key, const uint8_t bytes[EXPOSURE_KEY_BYTES]);

/* A learned rule that matched a scored receipt. */
struct exposed_rule {
    uint64_t count; /* learned_from_feedback_count */
    uint64_t accuracy; /* accuracy in billionths, with reinforcements */
    enum score_gate suppressed_by; /* UNSPECIFIED: it fired */
    bool reduced; /* reduced by the confidence of the document profile */
    bool shadow; /* the rule was in SHADOW, and did not change the score */
    bool raises; /* direction of the rule */
};

/* The verdicts that follow from the scores of a receipt. */
struct exposed_verdicts {
    enum verdict base; /* verdict without rules */
    enum verdict live; /* verdict as it was served */
    enum verdict shadow; /* verdict if rules in SHADOW counted */
};

/* The subcategory for which placeholders were filled, and the signals that gave guidance. */
struct exposed_placeholders {
    struct slice subcategory; /* at most EXPOSURE_SUBCATEGORY_BYTES_MAX bytes; borrowed */
    uint32_t signals; /* bit n: enum review_signal n, below EXPOSURE_SIGNALS_END */
};

struct exposed_artifact {
    uint64_t seq; /* seq of the event that created it */
    uint32_t version; /* version of the artifact then; 1 for an artifact that never changes */
    uint32_t line_count; /* for a mapping: number of lines it was applied to; else 0 */
    struct exposed_rule rule; /* set for SCORE */
    bool
        shadow; /* for AGENT_PROMPT: the guideline was in SHADOW, and not in the prompt; those are the last ones */
};

/* The corrections that the examples of DOCUMENT grouping show. */
struct exposed_documents {
    bool
        is_used; /* the example is a document's: `seq` is that of its newest event, `version` their number */
    bool include_superseded;
    uint32_t annotator_kinds; /* annotator_kinds.h */
};

/* The content of a reference. */
struct exposure {
    enum exposure_kind kind;
    int64_t served_at_us;
    uint64_t as_of_seq; /* the last event that was stored when the reference was issued */
    enum experiment_arm arm;
    const struct exposed_artifact *artifacts; /* borrowed */
    size_t artifact_count;
    bool is_listed; /* the exposure lists its artifacts; false: there were too many */
    bool
        layout_ready; /* the layout had enough examples for the experiment; set for EXAMPLES and PROMPT */
    uint8_t text_hash[EXPOSURE_TEXT_HASH_BYTES];
    struct exposed_documents documents; /* set for EXAMPLES and PROMPT */
    struct exposed_verdicts verdicts; /* set for SCORE */
    struct exposed_placeholders placeholders; /* set for PLACEHOLDERS */
    /* The other events that the examples of documents show; not part of a reference. A caller that
     * records an exposure must set them first. Borrowed. */
    const uint64_t *event_seqs;
    size_t event_count;
};

/* Appends the text of a reference as field `field` of a message, for GetExamples, whose domain code
 * writes its response. Allocates only the body's own bytes. A list that is too long is replaced by
 * its hash; `is_listed` is ignored. */
void exposure_write(const struct exposure_key *key, struct org_id org,
                    const struct exposure *exposure, uint32_t field, struct buffer *body);
/* Returns the same text in the arena. */
MUST_CHECK enum err exposure_reference(struct arena *arena, const struct exposure_key *key,
                                       struct org_id org, const struct exposure *exposure,
                                       struct slice *ret_reference);
/* Reads a reference; its artifacts are in the arena. Returns ERR_INVALID, without a fault, for a
 * reference that is damaged, forged, or of another organisation, which cannot be distinguished. */
MUST_CHECK enum err exposure_read(struct arena *arena, const struct exposure_key *key,
                                  struct org_id org, struct slice reference,
                                  struct exposure *ret_exposure);

/* The citing caller, for the envelope of an exposure's event. */
struct exposure_citer {
    struct slice actor_user_id;
    struct event_time time;
};

/* A cited exposure. */
struct cited_exposure {
    struct exposure exposure;
    uint8_t reference_hash[EXPOSURE_REFERENCE_HASH_BYTES];
    uint64_t seq; /* seq of the event that recorded it; 0: it is not in the log */
};

/* Reads a reference, and looks up whether it was cited before. Appends nothing. */
MUST_CHECK enum err exposure_find(struct ctx *ctx, struct store_txn *txn,
                                  const struct exposure_key *key, struct org_id org,
                                  struct slice reference, struct cited_exposure *ret_cited);
/* Returns whether the reference of `cited` is among the items. */
bool exposure_is_among(const struct cited_exposure *cited, const struct cited_exposure *items,
                       size_t count);
/* Checks that a reference was issued for what it is cited for. ERR_INVALID, without a fault, for
 * another kind, and for a seq that the log does not have, because a backup older than the reference
 * was restored. */
MUST_CHECK enum err exposure_check_kind(struct store_txn *txn, struct org_id org,
                                        const struct exposure *exposure, enum exposure_kind kind);
/* Reads the exposure that an EVENT_EXPOSURE_RECORDED recorded; its artifacts are in the arena. ERR_CORRUPT for
 * facts that are not of an exposure; ERR_NOT_FOUND for an event of another kind. */
MUST_CHECK enum err exposure_of_event(struct arena *arena, const struct event *event,
                                      struct exposure *ret_exposure);
/* Reads the exposure of an event that another one names. ERR_CORRUPT if that event is not of an exposure. */
MUST_CHECK enum err exposure_read_recorded(struct arena *arena, struct store_txn *txn,
                                           struct org_id org, uint64_t seq,
                                           struct exposure *ret_exposure);
/* Appends and applies the event of an exposure that is not in the log, and sets its seq; does
 * nothing if it is in the log. */
MUST_CHECK enum err exposure_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                    const struct exposure_citer *citer,
                                    struct cited_exposure *cited);

/* Finds the event of the outcome that cited an exposure for a subject (the caller's id of a
 * document or draft order; empty: none). ERR_NOT_FOUND if no outcome did. */
MUST_CHECK enum err exposure_find_outcome(struct store_txn *txn, struct org_id org,
                                          uint64_t exposure_seq, enum event_kind_number kind,
                                          struct slice subject, uint64_t *ret_seq);
/* Scans the outcomes of an exposure, at most `rows_max`, in no particular order; exposure_next_outcome returns
 * the number of the event of each, and ERR_NOT_FOUND after the last (`scan->is_cut`: there are more). */
MUST_CHECK enum err exposure_scan_outcomes(struct scan *scan, struct store_txn *txn,
                                           struct org_id org, uint64_t exposure_seq,
                                           uint32_t rows_max);
MUST_CHECK enum err exposure_next_outcome(struct scan *scan, uint64_t *ret_seq);
/* Stores an outcome, for apply; if the subject already has one, that one is kept. */
MUST_CHECK enum err exposure_keep_outcome(struct store_txn *txn, struct org_id org,
                                          uint64_t exposure_seq, enum event_kind_number kind,
                                          struct slice subject, uint64_t seq);
/* Removes an outcome that no longer counts, for apply, if `seq` is the stored one. */
MUST_CHECK enum err exposure_forget_outcome(struct store_txn *txn, struct org_id org,
                                            uint64_t exposure_seq, enum event_kind_number kind,
                                            struct slice subject, uint64_t seq);

#endif
