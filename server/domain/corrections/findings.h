/*
 * findings.h: the warnings of a captured event: why it is not an example, and accepted values that are probably
 * mistakes. Decided once, within the transaction, and recorded in the event's facts.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_FINDINGS_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_FINDINGS_H

#include "server/domain/corrections/capture.h"

struct findings {
    bool is_example;
    struct slice warnings; /* the run of FeedbackEvent.warnings, in the arena */
};

/* Decides the warnings of an event that fill_in_event has completed. Fails only with ERR_MEMORY. */
MUST_CHECK enum err findings_decide(struct arena *arena, const struct capture_event *event,
                                    struct findings *ret_findings);

#endif
