/*
 * keys.h: keys of artifacts, built from the parts of store/key.h. An artifact's number is that of
 * the event that created it.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_KEYS_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_KEYS_H

#include "store/key.h"

/* The key of an artifact: organisation, artifact 8. */
struct key key_artifact(struct org_id org, uint64_t artifact_seq);
/* The key of a change of an artifact: organisation, artifact 8, event 8. */
struct key key_artifact_life(struct org_id org, uint64_t artifact_seq, uint64_t event_seq);
/* The key of an evidence of an artifact: organisation, artifact 8, event 8. */
struct key key_artifact_evidence(struct org_id org, uint64_t artifact_seq, uint64_t event_seq);
/* ERR_CORRUPT for a key of another shape. */
MUST_CHECK enum err key_read_artifact_evidence(struct slice key, uint64_t *ret_event_seq);

#endif
