/*
 * marks.h: finds, in text as code points, what a language model or a template engine would take for
 * structure: role prefixes, chat markup, template marks, code fences, ANSI escapes. It only measures:
 * how many code points from a place on are such a mark. The sanitiser takes them out.
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

/* The longest name between `<|` and `|>`: the special tokens of known models have at most 40
 * characters. */
#define MARKS_TOKEN_MAX 64
/* The longest attributes of a tag: a call of a tool has its name and an id. */
#define MARKS_ATTRIBUTES_MAX 256
/* The longest text inside an ANSI string command (a terminal's title, a link). One without an end
 * loses only its introducer. */
#define MARKS_ANSI_STRING_MAX 512

/* False for most characters: they can begin neither a template mark nor chat markup. Letters of any
 * script are distinguished cheaply, before fold.h is asked; every bracket of Unicode and every other form
 * of one is outside these ranges. */
static inline bool marks_may_begin(uint32_t code_point)
{
    if (code_point < 0x80) {
        return code_point == '{' || code_point == '}' || code_point == '<' || code_point == '[';
    }
    return code_point >= 0x2000 && (code_point < 0x3040 || code_point >= 0xFB00);
}

/* The same for code fences, runs of backticks or tildes, in text that is in NFKC. */
static inline bool marks_may_fence(uint32_t code_point)
{
    if (code_point < 0x80) {
        return code_point == '`' || code_point == '~';
    }
    return (code_point >= 0x2B0 && code_point < 0x300) ||
           (code_point >= 0x2000 && code_point < 0x3040);
}

/* A shorter run is a quotation within a line, or part of a path. */
#define MARKS_FENCE_MIN 3

/* Each gives the length of the mark that begins at `from`, 0 where none does. */
size_t marks_match_template(struct points text, size_t from); /* {{ and }} */
size_t marks_match_chat(struct points text, size_t from); /* <|im_end|>, [|x|], [INST], <s> */
size_t marks_match_fence(struct points text, size_t from); /* ``` or ~~~, of any length from 3 */
size_t marks_match_ansi(struct points text, size_t from); /* ECMA-48 sequences, ESC or C1 */
/* A role and its colon, or its dash with a space beside it (`user-friendly` is a word). `from` is the
 * start of a line, or follows a lead. The mark includes decoration before and the spaces after it. */
size_t marks_match_role(struct points text, size_t from);
/* Returns whether the code point may precede a role on its line: list marks, numbers, quotes,
 * symbols, spaces, and the letter of `a)` or `a.`. `at` is the start of the line, or follows such a
 * code point. */
bool marks_is_lead(struct points text, size_t at);

#endif
