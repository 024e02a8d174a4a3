/*
 * findings.h: what a capture reports about an event: whether it is an example, and what was accepted but was
 * probably not meant. Decided once, within the transaction, and recorded in the event's facts.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_FINDINGS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_FINDINGS_H

#include "server/domain/corrections/capture.h"

struct findings {
    bool is_example;
    struct slice warnings; /* the run of FeedbackEvent.warnings, in the arena */
};

/* Decides what to report about an event that fill_in_event has completed. Fails only with ERR_MEMORY. */
MUST_CHECK enum err findings_decide(struct arena *arena, const struct capture_event *event,
                                    struct findings *ret_findings);

#endif
