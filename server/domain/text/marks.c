/*
 * marks.c: see marks.h. Every match reads a bounded piece of text (a line, a token) once, so the
 * time for hostile text is linear; roles are searched only at line starts.
 */
#include "server/domain/text/marks.h"

#include "server/domain/text/fold.h"

#define ESCAPE 0x1B
#define BELL 0x07
#define C1_CSI 0x9B
#define C1_ST 0x9C

static const char *const role_words[] = {
#define ROLE_WORD(word) word,
#include "server/domain/text/marks.def"
#undef ROLE_WORD
};

static const char *const tag_words[] = {
#define TAG_WORD(word) word,
#include "server/domain/text/marks.def"
#undef TAG_WORD
};

static const char *const bracket_words[] = {
#define BRACKET_WORD(word) word,
#include "server/domain/text/marks.def"
#undef BRACKET_WORD
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* `ascii` is neither a letter nor a digit. */
static inline bool looks_like(struct points text, size_t at, char ascii)
{
    uint32_t code_point = at < text.count ? text.at[at] : 0;

    return code_point < 0x80 ? code_point == (uint8_t)ascii
                             : fold_to_ascii(code_point) == (uint8_t)ascii;
}

static inline bool is_gap(uint32_t code_point)
{
    return code_point < 0x80 ? code_point == ' '
                             : fold_is_space(code_point) || fold_is_mark(code_point);
}

static size_t skip_spaces(struct points text, size_t at)
{
    while (at < text.count && is_gap(text.at[at])) {
        at++;
    }
    return at;
}

/* Returns the first letter at `at`, so that most words are excluded by their first letter. */
static uint8_t first_letter(struct points text, size_t at)
{
    uint8_t letters[FOLD_LETTERS_MAX] = {0};

    if (at >= text.count) {
        return 0;
    }
    if (text.at[at] < 0x80) {
        return fold_ascii((uint8_t)text.at[at]);
    }
    return fold_to_letters(text.at[at], letters) > 0 ? letters[0] : 0;
}

/* Returns the rest of a word after the letters that one character resembles; NULL if they differ. */
static const char *word_after(const char *word, uint32_t code_point)
{
    uint8_t letters[FOLD_LETTERS_MAX];
    size_t count = 0;

    if (code_point < 0x80) {
        return fold_ascii((uint8_t)code_point) == fold_ascii((uint8_t)*word) ? word + 1 : NULL;
    }
    count = fold_to_letters(code_point, letters);
    for (size_t i = 0; i < count; i++) {
        if (*word == '\0' || letters[i] != fold_ascii((uint8_t)*word)) {
            return NULL;
        }
        word++;
    }
    return count == 0 ? NULL : word;
}

/* Skips a word, with combining marks (and, if `spaced`, spaces) between its letters. Returns false,
 * and skips nothing, for any other text. */
static bool pass_word(struct points text, size_t *at, const char *word, bool spaced)
{
    size_t next = *at;

    while (*word != '\0') {
        word = next < text.count ? word_after(word, text.at[next]) : NULL;
        if (word == NULL) {
            return false;
        }
        next++;
        while (next < text.count &&
               (fold_is_mark(text.at[next]) || (spaced && fold_is_space(text.at[next])))) {
            next++;
        }
    }
    *at = next;
    return true;
}

size_t marks_match_template(struct points text, size_t from)
{
    uint8_t first = 0;

    if (from + 1 >= text.count || !marks_may_begin(text.at[from])) {
        return 0;
    }
    first = fold_to_ascii(text.at[from]);
    if (first != '{' && first != '}') {
        return 0;
    }
    return fold_to_ascii(text.at[from + 1]) == first ? 2 : 0;
}

size_t marks_match_fence(struct points text, size_t from)
{
    uint8_t first = marks_may_fence(text.at[from]) ? fold_to_ascii(text.at[from]) : 0;
    size_t at = from;
    size_t run = 0;

    if (first != '`' && first != '~') {
        return 0;
    }
    while (at < text.count) {
        if (fold_to_ascii(text.at[at]) == first) {
            run++;
        } else if (!fold_is_mark(text.at[at])) {
            break;
        }
        at++;
    }
    return run >= MARKS_FENCE_MIN ? at - from : 0;
}

/* Returns the end of `<|name|>` or `[|name|]`, whose name must be one word, since mathematical
 * texts look similar; 0 if there is none at `from`. */
static size_t end_of_token(struct points text, size_t from, char closing)
{
    size_t at = from + 2;

    if (!looks_like(text, from + 1, '|')) {
        return 0;
    }
    while (at < text.count && at - from <= MARKS_TOKEN_MAX + 2 && text.at[at] != '\n') {
        if (looks_like(text, at, '|') && looks_like(text, at + 1, closing)) {
            return at + 2;
        }
        if (closing == ']' && fold_is_space(text.at[at])) {
            return 0;
        }
        at++;
    }
    return 0;
}

static size_t skip_lines(struct points text, size_t at)
{
    while (at < text.count && (is_gap(text.at[at]) || text.at[at] == '\n')) {
        at++;
    }
    return at;
}

/* Skips attributes and the closing bracket. Attributes are on one line; the bracket, or `/>`, may
 * be on a later one. */
static bool pass_attributes(struct points text, size_t *at)
{
    size_t start = *at;
    size_t end = skip_lines(text, start);

    if (looks_like(text, end, '/')) {
        end++;
    }
    if (looks_like(text, end, '>')) {
        *at = end + 1;
        return true;
    }
    if (!looks_like(text, start, '/') && !(start < text.count && fold_is_space(text.at[start]))) {
        return false;
    }
    for (size_t next = start; next < text.count && next - start <= MARKS_ATTRIBUTES_MAX; next++) {
        if (text.at[next] == '\n' || looks_like(text, next, '<')) {
            return false;
        }
        if (looks_like(text, next, '>')) {
            *at = next + 1;
            return true;
        }
    }
    return false;
}

/* Returns where the word of a tag or bracket that opens at `from` begins: after spaces and a slash. */
static size_t start_of_word(struct points text, size_t from)
{
    size_t start = skip_spaces(text, from + 1);

    return looks_like(text, start, '/') ? skip_spaces(text, start + 1) : start;
}

/* Returns the end of `<word>`, `</word>` or `<word ...>`; 0 if there is none at `from`. */
static size_t end_of_tag(struct points text, size_t from)
{
    size_t start = start_of_word(text, from);
    uint8_t first = first_letter(text, start);

    for (size_t i = 0; i < COUNT_OF(tag_words); i++) {
        size_t at = start;

        if (fold_ascii((uint8_t)tag_words[i][0]) == first &&
            pass_word(text, &at, tag_words[i], false) && pass_attributes(text, &at)) {
            return at;
        }
    }
    return 0;
}

static size_t end_of_bracket(struct points text, size_t from)
{
    size_t start = start_of_word(text, from);
    uint8_t first = first_letter(text, start);

    for (size_t i = 0; i < COUNT_OF(bracket_words); i++) {
        size_t at = start;

        if (fold_ascii((uint8_t)bracket_words[i][0]) != first ||
            !pass_word(text, &at, bracket_words[i], false)) {
            continue;
        }
        at = skip_lines(text, at);
        if (looks_like(text, at, ']')) {
            return at + 1;
        }
    }
    return 0;
}

size_t marks_match_chat(struct points text, size_t from)
{
    uint8_t first = marks_may_begin(text.at[from]) ? fold_to_ascii(text.at[from]) : 0;
    size_t end = 0;

    if (first == '[') {
        end = end_of_token(text, from, ']');
        if (end == 0) {
            end = end_of_bracket(text, from);
        }
        return end == 0 ? 0 : end - from;
    }
    if (first != '<') {
        return 0;
    }
    if (looks_like(text, from + 1, '<')) {
        end = end_of_tag(text, from + 1);
        return end != 0 && looks_like(text, end, '>') ? end + 1 - from : 0;
    }
    end = end_of_token(text, from, '>');
    if (end == 0) {
        end = end_of_tag(text, from);
    }
    return end == 0 ? 0 : end - from;
}

/* Returns the end of a control sequence whose introducer ends before `at`: parameters, then one
 * final byte. */
static size_t end_of_csi(struct points text, size_t at)
{
    while (at < text.count && text.at[at] >= 0x20 && text.at[at] <= 0x3F) {
        at++;
    }
    return at < text.count && text.at[at] >= 0x40 && text.at[at] <= 0x7E ? at + 1 : at;
}

/* Returns the end of a control string whose introducer ends before `at`. */
static size_t end_of_string(struct points text, size_t at)
{
    for (size_t next = at; next < text.count && next - at <= MARKS_ANSI_STRING_MAX; next++) {
        if (text.at[next] == BELL || text.at[next] == C1_ST) {
            return next + 1;
        }
        if (text.at[next] == ESCAPE && next + 1 < text.count && text.at[next + 1] == '\\') {
            return next + 2;
        }
        if (text.at[next] == '\n' || text.at[next] == ESCAPE) {
            return at;
        }
    }
    return at;
}

static bool is_string_introducer(uint32_t code_point)
{
    return code_point == 'P' || code_point == 'X' || code_point == ']' || code_point == '^' ||
           code_point == '_';
}

size_t marks_match_ansi(struct points text, size_t from)
{
    uint32_t first = text.at[from];
    size_t at = from + 1;

    if (first == C1_CSI) {
        return end_of_csi(text, at) - from;
    }
    if (first >= 0x80 && first <= 0x9F) {
        return (is_string_introducer(first - 0x40) ? end_of_string(text, at) : at) - from;
    }
    if (first != ESCAPE) {
        return 0;
    }
    if (at >= text.count) {
        return 1;
    }
    if (text.at[at] == '[') {
        return end_of_csi(text, at + 1) - from;
    }
    if (is_string_introducer(text.at[at])) {
        return end_of_string(text, at + 1) - from;
    }
    while (at < text.count && text.at[at] >= 0x20 && text.at[at] <= 0x2F) {
        at++;
    }
    return (at < text.count && text.at[at] >= 0x30 && text.at[at] <= 0x7E ? at + 1 : at) - from;
}

/* Skips Markdown that may surround a role: headings, emphasis, quotation, code. */
static size_t skip_decoration(struct points text, size_t at)
{
    while (at < text.count) {
        uint32_t code_point = text.at[at];
        uint8_t looks = code_point < 0x80 ? (uint8_t)code_point : fold_to_ascii(code_point);

        if (looks != '#' && looks != '*' && looks != '>' && looks != '_' && looks != '`' &&
            !is_gap(code_point)) {
            return at;
        }
        at++;
    }
    return at;
}

bool marks_is_lead(struct points text, size_t at)
{
    uint32_t code_point = text.at[at];

    if (code_point < 0x80) {
        uint8_t letter = fold_ascii((uint8_t)code_point);
        bool is_letter =
            letter >= 'a' && letter <= 'z' && !(code_point >= '0' && code_point <= '9');

        return !is_letter || looks_like(text, at + 1, ')') || looks_like(text, at + 1, '.');
    }
    return !fold_is_letter(code_point);
}

/* Skips closing quotes after a role, and decoration. */
static size_t skip_after_role(struct points text, size_t at)
{
    while (at < text.count) {
        size_t next = skip_decoration(text, at);

        if (next < text.count && (text.at[next] == '"' || text.at[next] == '\'' ||
                                  (text.at[next] >= 0x2018 && text.at[next] <= 0x201F))) {
            next++;
        }
        if (next == at) {
            break;
        }
        at = next;
    }
    return at;
}

/* Skips the colon after a role, or dashes with a space or the line's end on one side. */
static bool pass_separator(struct points text, size_t *at)
{
    bool is_apart = is_gap(text.at[*at - 1]);
    size_t end = *at;

    if (looks_like(text, end, ':')) {
        *at = end + 1;
        return true;
    }
    while (looks_like(text, end, '-')) {
        end++;
    }
    is_apart = is_apart || end == text.count || text.at[end] == '\n' || is_gap(text.at[end]);
    if (end == *at || !is_apart) {
        return false;
    }
    *at = end;
    return true;
}

size_t marks_match_role(struct points text, size_t from, size_t *ret_start)
{
    size_t start = skip_decoration(text, from);
    uint8_t first = first_letter(text, start);

    *ret_start = start;
    for (size_t i = 0; i < COUNT_OF(role_words); i++) {
        size_t at = start;

        if (fold_ascii((uint8_t)role_words[i][0]) != first ||
            !pass_word(text, &at, role_words[i], true)) {
            continue;
        }
        at = skip_after_role(text, at);
        if (!pass_separator(text, &at)) {
            continue;
        }
        while (looks_like(text, at, '*') || looks_like(text, at, '_')) {
            at++;
        }
        return skip_spaces(text, at) - from;
    }
    return 0;
}
