/*
 * keys.h: keys of artifacts, made of the pieces of store/key.h. An artifact's number is that of the event that created it.
 */
#ifndef ERRATA_SERVER_DOMAIN_ARTIFACTS_KEYS_H
#define ERRATA_SERVER_DOMAIN_ARTIFACTS_KEYS_H

#include "store/key.h"

/* Organisation, artifact 8. */
struct key key_artifact(struct org_id org, uint64_t artifact_seq);
/* Changes of one artifact: organisation, artifact 8, event 8. */
struct key key_artifact_life(struct org_id org, uint64_t artifact_seq, uint64_t event_seq);
/* Evidence of one artifact: organisation, artifact 8, event 8. */
struct key key_artifact_evidence(struct org_id org, uint64_t artifact_seq, uint64_t event_seq);
/* ERR_CORRUPT for a key of another shape. */
MUST_CHECK enum err key_read_artifact_evidence(struct slice key, uint64_t *ret_event_seq);

#endif
