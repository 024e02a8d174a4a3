/*
 * subject.h: the kinds of subjects of events.
 */
#ifndef ERRATA_SERVER_DOMAIN_EVENTS_SUBJECT_H
#define ERRATA_SERVER_DOMAIN_EVENTS_SUBJECT_H

#include "store/log.h"

/* The `kind` of an event's subjects. The numbers are in stored events and keys, and never change. */
enum subject_kind {
    SUBJECT_LAYOUT = 1,
    SUBJECT_DOCUMENT = 2,
    SUBJECT_DRAFT_ORDER = 3,
    SUBJECT_ENTITY = 4, /* the id has the form TYPE/ID */
    SUBJECT_ORGANIZATION = 5,
    SUBJECT_TOKEN = 6,
    SUBJECT_EXPOSURE = 7,
    SUBJECT_PROMPT_TEMPLATE = 8,
    SUBJECT_LAYOUT_FAMILY = 9,
    SUBJECT_RECEIPT = 10,
    SUBJECT_LEARNED_RULE = 11,
    SUBJECT_SUBCATEGORY = 12,
    SUBJECT_RUN = 13,
    SUBJECT_ITEM = 14,
    SUBJECT_SESSION = 15,
    SUBJECT_TURN = 16,
    SUBJECT_AGENT = 20,
    SUBJECT_PROPOSAL = 21,
    SUBJECT_DECISION = 22,
    SUBJECT_DEAD_LETTER = 23
};

#endif
