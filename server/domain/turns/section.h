/*
 * section.h: the section about a rejected answer that a planner's context contains.
 */
#ifndef ERRATA_SERVER_DOMAIN_TURNS_SECTION_H
#define ERRATA_SERVER_DOMAIN_TURNS_SECTION_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* The content of the section. Texts are as they were sent; each is sanitised and becomes one line. */
struct section_input {
    struct slice rejected_turn_id;
    struct slice detected_in_turn_id;
    struct slice user_said;
    struct slice tool; /* tool of the previous strategy; empty without one */
    struct slice tool_text;
    struct slice what_went_wrong; /* empty: the user's words are used */
    struct slice advice; /* empty: no line */
    uint32_t consecutive_rejections;
};

/* Writes the section, in Markdown, with a line feed at its end, into the arena. Fails only with ERR_MEMORY. */
MUST_CHECK enum err section_write(struct arena *arena, const struct section_input *input,
                                  struct slice *ret_section);

#endif
