/*
 * marks.h: finds, in text as code points, marks that a language model or a template engine would
 * interpret as structure: role prefixes, chat markup, template marks, code fences, ANSI escapes.
 * Returns only the length of a mark; the sanitiser removes it.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_MARKS_H
#define ERRATA_SERVER_DOMAIN_TEXT_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text as code points; borrowed. */
struct points {
    uint32_t *at;
    size_t count;
};

/* Maximum characters of a name between `<|` and `|>`: the special tokens of known models have at
 * most 40 characters. */
#define MARKS_TOKEN_MAX 64
/* Maximum characters of a tag's attributes: a tool call has its name and an id. */
#define MARKS_ATTRIBUTES_MAX 256
/* Maximum characters of the text of an ANSI string command (a terminal's title, a link). If it has
 * no end, only its introducer is removed. */
#define MARKS_ANSI_STRING_MAX 512

/* Returns false if the character can begin neither a template mark nor chat markup, as most cannot.
 * Letters of any script are excluded cheaply, without fold.h; every bracket of Unicode, and every
 * variant of one, is outside these ranges. */
static inline bool marks_may_begin(uint32_t code_point)
{
    if (code_point < 0x80) {
        return code_point == '{' || code_point == '}' || code_point == '<' || code_point == '[';
    }
    return code_point >= 0x2000 && (code_point < 0x3040 || code_point >= 0xFB00);
}

/* Does the same for code fences, runs of backticks or tildes, in text that is in NFKC. */
static inline bool marks_may_fence(uint32_t code_point)
{
    if (code_point < 0x80) {
        return code_point == '`' || code_point == '~';
    }
    return (code_point >= 0x2B0 && code_point < 0x300) ||
           (code_point >= 0x2000 && code_point < 0x3040);
}

/* Minimum length of a fence; a shorter run is a quotation within a line, or part of a path. */
#define MARKS_FENCE_MIN 3

/* Each returns the length of the mark that begins at `from`; 0 if there is none. */
size_t marks_match_template(struct points text, size_t from); /* {{ and }} */
size_t marks_match_chat(struct points text, size_t from); /* <|im_end|>, [|x|], [INST], <s> */
size_t marks_match_fence(struct points text, size_t from); /* ``` or ~~~, of any length from 3 */
size_t marks_match_ansi(struct points text, size_t from); /* ECMA-48 sequences, ESC or C1 */
/* A role and its colon, or its dash with a space beside it (`user-friendly` is a word). `from` is the
 * start of a line, or follows a lead. The mark includes decoration before and the spaces after it. `ret_start` is the end of
 * the decoration at `from`: every place within it has the same result, so a caller need not try them again. */
size_t marks_match_role(struct points text, size_t from, size_t *ret_start);
/* Returns whether the code point may precede a role on its line: list marks, numbers, quotes,
 * symbols, spaces, and the letter of `a)` or `a.`. `at` is the start of the line, or follows such a
 * code point. */
bool marks_is_lead(struct points text, size_t at);

#endif
