/*
 * example_make.h: builds the row of an example from its snippet and output: the bytes that a lookup copies, and
 * the sanitised piece of `hint_examples_json`. Works on values only. An example is one correction, or all
 * corrections of one document.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_MAKE_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLE_MAKE_H

#include "server/domain/corrections/records.h"
#include "server/domain/json/members.h"

/* The fields of errata.v1.Example that never change. */
struct example_text {
    struct slice snippet;
    struct json_value output; /* an object */
    bool partial;
    bool reduced;
    struct slice event_ids; /* wire bytes of that field; empty: one correction */
};

/* Returns `input_snippet` of a correction's meta_json; empty if there is none. Fails only with ERR_MEMORY. */
MUST_CHECK enum err example_read_snippet(struct arena *arena, struct slice meta_json,
                                         struct slice *ret_snippet);
/* Sets the members `example`, `hint`, `hint_hash` and `copy_hash`, in the arena. Fails only with ERR_MEMORY for outputs
 * within the limits of a row. */
MUST_CHECK enum err example_make(struct arena *arena, const struct example_text *text,
                                 struct example_record *record);

#endif
