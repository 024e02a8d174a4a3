/*
 * promises.c: see promises.h. A text is examined three times: unchanged, as its skeleton (Unicode's
 * compatibility and case folding without accents, character by character; then the letters of other
 * scripts that a role word may be written with, and l and 1 as i, 0 as o), and line by line without
 * the skeleton's spaces.
 */
#include "tests/unit/text/promises.h"

#include "store/base/assert.h"

#include <stdlib.h>
#include <utf8proc.h>

#define FIELD_CHARACTERS_MAX 500
#define QUOTED_CHARACTERS_MAX 2000
#define TOKEN_NAME_MAX 40
/* The longest compatibility decomposition of one character. */
#define DECOMPOSED_MAX 18

static const char *const roles[] = {"system", "assistant", "user",        "developer",
                                    "tool",   "human",     "instruction", "response"};

/* Marks of chats, as a skeleton shows them: with i for l and 1, with o for 0. */
static const char *const chat_marks[] = {"<system>",
                                         "</system>",
                                         "<assistant>",
                                         "<user>",
                                         "<developer>",
                                         "<tool>",
                                         "<s>",
                                         "</s>",
                                         "<bos>",
                                         "<eos>",
                                         "<think>",
                                         "</think>",
                                         "<start_of_turn>",
                                         "<end_of_turn>",
                                         "<tooi_caii>",
                                         "[|user|]",
                                         "[|system|]",
                                         "[|assistant|]",
                                         "[inst]",
                                         "[/inst]",
                                         "<<sys>>",
                                         "<</sys>>",
                                         "[system_prompt]",
                                         "[tooi_caiis]",
                                         "[avaiiabie_toois]",
                                         "<fim_prefix>",
                                         "<function_caiis>"};

/* Letters of other scripts that look like a letter of a role word, and these letters, in the same
 * order. */
static const char letters_of_words[] = "aceopstiuyrmndv";
static const uint32_t letters_drawn_alike[] = {0x430, 0x441, 0x435, 0x43E, 0x440,
                                               0x455, 0x442, 0x456, 0x446, 0x443,
                                               0x433, 0x43C, 0x578, 0x501, 0x3BD};

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

/* Reads the code point that begins at `*at`; returns false, and reads nothing, if there is none. */
static bool read_one(struct slice text, size_t *at, uint32_t *ret_code_point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = text.data[*at];
    size_t bytes = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    uint32_t value = bytes == 1 ? first : first & (0xFFu >> (bytes + 1));

    if ((first >= 0x80 && first < 0xC2) || first > 0xF4 || *at + bytes > text.size) {
        return false;
    }
    for (size_t i = 1; i < bytes; i++) {
        if ((text.data[*at + i] & 0xC0) != 0x80) {
            return false;
        }
        value = value << 6 | (text.data[*at + i] & 0x3Fu);
    }
    if (value < least[bytes] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
        return false;
    }
    *at += bytes;
    *ret_code_point = value;
    return true;
}

static bool moves_or_hides(uint32_t point)
{
    return (point < 0x20 && point != '\n') || (point >= 0x7F && point < 0xA0) || point == 0xAD ||
           point == 0x61C || (point >= 0x200B && point <= 0x200F) ||
           (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) ||
           (point >= 0xFE00 && point <= 0xFE0F) || point == 0xFEFF || point == 0x3164 ||
           (point >= 0xFFF9 && point <= 0xFFFB) || (point >= 0xE0000 && point <= 0xE0FFF);
}

/* Returns whether the code point must not occur in a note: unassigned, invisible, or a bag
 * delimiter. */
static bool is_strange(uint32_t point)
{
    const char *category = utf8proc_category_string((utf8proc_int32_t)point);

    if (point == '\n' || point == ' ') {
        return false;
    }
    return category[0] == 'C' || category[0] == 'Z' || point == 0x27C5 || point == 0x27C6;
}

static const char *broken_by_character(bool field, uint32_t point)
{
    if (moves_or_hides(point)) {
        return "a character that moves or hides text";
    }
    return field && is_strange(point) ? "a character that is not allowed" : NULL;
}

/* Checks for forbidden characters, and for pairs of braces. */
static const char *broken_by_characters(bool field, struct slice text)
{
    uint32_t before = 0;
    size_t count = 0;

    for (size_t at = 0; at < text.size; count++) {
        uint32_t point = 0;
        const char *broken = NULL;

        if (!read_one(text, &at, &point)) {
            return "bytes that are not UTF-8";
        }
        broken = broken_by_character(field, point);
        if (broken != NULL) {
            return broken;
        }
        if (point == 0xFF5B || point == 0xFF5D) {
            point -= 0xFEE0; /* full-width braces */
        }
        if ((point == '{' || point == '}') && point == before) {
            return "a template mark";
        }
        before = point;
    }
    return field && count > FIELD_CHARACTERS_MAX ? "more than 500 characters" : NULL;
}

/* Returns a character of a skeleton as ASCII; `?` for all others. */
static char drawn(uint32_t point)
{
    for (size_t i = 0; i < COUNT_OF(letters_drawn_alike); i++) {
        point = point == letters_drawn_alike[i] ? (uint8_t)letters_of_words[i] : point;
    }
    if (point == 'l' || point == '1') {
        return 'i';
    }
    if (point == '0') {
        return 'o';
    }
    return (char)(point < 0x80 ? point : '?');
}

/* Writes the skeleton of one code point; returns its length. A single accent is a space with a mark
 * by Unicode, but is not shown as a space. */
static size_t draw(uint32_t point, bool accents, char skeleton[DECOMPOSED_MAX])
{
    utf8proc_int32_t folded[DECOMPOSED_MAX] = {0};
    int boundary = 0;
    int options = UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD |
                  (accents ? 0 : UTF8PROC_STRIPMARK);
    utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)point, folded, DECOMPOSED_MAX, (utf8proc_option_t)options, &boundary);

    ASSERT(count >= 0);
    for (utf8proc_ssize_t i = 0; i < count; i++) {
        skeleton[i] = drawn((uint32_t)folded[i]);
    }
    if (skeleton[0] == ' ' && utf8proc_category((utf8proc_int32_t)point) != UTF8PROC_CATEGORY_ZS) {
        skeleton[0] = '?';
    }
    return (size_t)count;
}

/* Returns the skeleton, with or without accents, terminated by NUL; the caller frees it. */
static char *skeleton_of(struct slice text, bool accents)
{
    char *skeleton = calloc(text.size + 1, DECOMPOSED_MAX);
    size_t size = 0;

    ASSERT(skeleton != NULL);
    for (size_t at = 0; at < text.size;) {
        uint32_t point = 0;

        ASSERT(read_one(text, &at, &point));
        size += draw(point, accents, skeleton + size);
    }
    return skeleton;
}

/* Returns whether there is `<|name|>` on one line; each accent counts. */
static bool has_token(const char *skeleton)
{
    for (const char *at = strstr(skeleton, "<|"); at != NULL; at = strstr(at + 1, "<|")) {
        const char *end = strstr(at + 2, "|>");
        const char *line = strchr(at, '\n');

        if (end != NULL && (line == NULL || line > end) && end - at <= TOKEN_NAME_MAX) {
            return true;
        }
    }
    return false;
}

static const char *pass(const char *at, const char *these)
{
    return at + strspn(at, these);
}

/* Returns whether a role word is followed by a colon, or by a dash that is not within a word, after
 * optional quotes and decoration. */
static bool is_separator(const char *at)
{
    const char *end = pass(at, " #*>_`\"'");
    const char *after = pass(end, "-");

    if (*end == ':') {
        return true;
    }
    return after != end && (end[-1] == ' ' || *after == ' ' || *after == '\n' || *after == '\0');
}

/* Returns whether the line begins with the role word, with or without spaces between its letters, and a
 * separator, after optional list marks, numbers and quotes. */
static bool begins_with_role(const char *line, const char *role)
{
    const char *at = pass(line, " #*>_`0123456789.()-+\"'");

    for (; *role != '\0'; role++) {
        char letter = *role;

        if (*at != (letter == 'l' ? 'i' : letter)) {
            return false;
        }
        at = pass(at + 1, " ");
    }
    return is_separator(at);
}

static bool has_role(const char *skeleton)
{
    for (const char *line = skeleton; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        for (size_t i = 0; i < COUNT_OF(roles); i++) {
            if (begins_with_role(line, roles[i])) {
                return true;
            }
        }
    }
    return false;
}

static const char *broken_by_skeleton(bool field, const char *skeleton)
{
    for (size_t i = 0; i < COUNT_OF(chat_marks); i++) {
        if (strstr(skeleton, chat_marks[i]) != NULL) {
            return "chat markup";
        }
    }
    if (has_role(skeleton)) {
        return "a role at the start of a line";
    }
    if (field && (strstr(skeleton, "```") != NULL || strstr(skeleton, "~~~") != NULL)) {
        return "a code fence";
    }
    return NULL;
}

/* Returns whether Unicode's normalisation leaves the whole text unchanged. */
static bool is_nfkc(struct slice text)
{
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t size = utf8proc_map(text.data, (utf8proc_ssize_t)text.size, &composed,
                                         UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    bool same = size >= 0 && slice_equal(text, slice_of(composed, (size_t)size));

    free(composed);
    return same;
}

const char *promises_broken_by(enum sanitise_profile profile, struct slice text)
{
    bool field = profile != SANITISE_EXAMPLE;
    const char *broken = broken_by_characters(field, text);
    char *skeleton = NULL;

    if (broken != NULL || text.size == 0) {
        return broken;
    }
    skeleton = skeleton_of(text, false);
    broken = broken_by_skeleton(field, skeleton);
    free(skeleton);
    skeleton = skeleton_of(text, true);
    if (broken == NULL && has_token(skeleton)) {
        broken = "a special token";
    }
    free(skeleton);
    if (broken == NULL && field && !is_nfkc(text)) {
        broken = "letters that are not in NFKC";
    }
    return broken;
}

/* Returns the violation caused by one character of a quotation; `*depth` is 1 within quotes. */
static const char *follow_quote(uint32_t point, unsigned *depth)
{
    if (point == 0x27C5) {
        return (*depth)++ == 0 ? NULL : "a quote that opens within a quote";
    }
    if (point == 0x27C6) {
        return (*depth)-- == 1 ? NULL : "a quote that closes where none is open";
    }
    return *depth == 1 || point == '\n' ? NULL : "text outside of quotes";
}

const char *promises_broken_by_quote(struct slice quotation, size_t notes)
{
    unsigned depth = 0;
    size_t characters = 0;
    size_t quotes = 0;

    for (size_t at = 0; at < quotation.size;) {
        uint32_t point = 0;
        const char *broken = NULL;

        if (!read_one(quotation, &at, &point)) {
            return "bytes that are not UTF-8";
        }
        broken = follow_quote(point, &depth);
        if (broken != NULL) {
            return broken;
        }
        quotes += point == 0x27C6 ? 1 : 0;
        characters += depth == 1 && point != 0x27C5 ? 1 : 0;
    }
    if (depth != 0 || quotes > notes) {
        return "quotes that are not those of the notes";
    }
    if (quotation.size > 0 && !is_nfkc(quotation)) {
        return "letters that are not in NFKC";
    }
    return characters > QUOTED_CHARACTERS_MAX ? "more than 2,000 characters" : NULL;
}
