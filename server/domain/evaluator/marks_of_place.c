/*
 * marks_of_place.c: see marks_of_place.h.
 */
#include "server/domain/evaluator/marks_of_place.h"

/* Minimum digits of a number that is an identifier rather than a quantity. */
#define ID_DIGITS_MIN 4
/* Minimum hexadecimal digits of an abbreviated commit. */
#define COMMIT_DIGITS_MIN 7
/* Maximum letters of a file's extension. */
#define EXTENSION_LETTERS_MAX 5

struct form {
    size_t letters;
    size_t capitals;
    size_t digits;
    size_t hex;
    size_t slashes;
    size_t points;
    size_t hyphens;
    size_t underscores;
};

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_lower(uint8_t byte)
{
    return byte >= 'a' && byte <= 'z';
}

static bool is_capital(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z';
}

static struct form form_of(struct slice token)
{
    struct form form = {.letters = 0};

    for (size_t i = 0; i < token.size; i++) {
        uint8_t byte = token.data[i];

        form.letters += is_lower(byte) || is_capital(byte) ? 1 : 0;
        form.capitals += is_capital(byte) ? 1 : 0;
        form.digits += is_digit(byte) ? 1 : 0;
        form.hex += is_digit(byte) || (byte >= 'a' && byte <= 'f') ? 1 : 0;
        form.slashes += byte == '/' ? 1 : 0;
        form.points += byte == '.' ? 1 : 0;
        form.hyphens += byte == '-' ? 1 : 0;
        form.underscores += byte == '_' ? 1 : 0;
    }
    return form;
}

/* Recognises a file: a point, and an extension of letters after it. */
static bool is_file(struct slice token)
{
    size_t letters = 0;

    while (letters < token.size && is_lower(token.data[token.size - 1 - letters])) {
        letters++;
    }
    return letters > 0 && letters <= EXTENSION_LETTERS_MAX && letters + 2 <= token.size &&
           token.data[token.size - 1 - letters] == '.';
}

/* Recognises a ticket: capitals, a hyphen, digits. */
static bool is_ticket(struct slice token)
{
    size_t at = 0;
    size_t capitals = 0;

    while (at < token.size && is_capital(token.data[at])) {
        at++;
    }
    capitals = at;
    if (capitals < 2 || at + 1 >= token.size || token.data[at] != '-') {
        return false;
    }
    for (at++; at < token.size; at++) {
        if (!is_digit(token.data[at])) {
            return false;
        }
    }
    return true;
}

/* Recognises a name with digits, joined by hyphens or underscores, such as that of a job. */
static bool is_numbered_name(const struct form *form)
{
    return form->digits > 0 && form->letters >= 2 && form->hyphens + form->underscores > 1;
}

static bool is_version(struct slice token, const struct form *form)
{
    bool has_v = token.size > 1 && token.data[0] == 'v' && is_digit(token.data[1]);

    return form->digits > 0 && form->points > 0 && form->letters <= (has_v ? 1 : 0) &&
           (has_v || form->points > 1);
}

static bool is_mark(struct slice token)
{
    struct form form = form_of(token);

    if (token.size > 1 && token.data[0] == '#' && form.hex + form.capitals >= 2) {
        return true; /* a colour, or an issue number */
    }
    if (form.letters == 0 && form.digits >= ID_DIGITS_MIN && form.digits == token.size) {
        return true;
    }
    if (form.hex == token.size && form.digits > 0 && form.letters > 0 &&
        token.size >= COMMIT_DIGITS_MIN) {
        return true;
    }
    return is_version(token, &form) || is_file(token) || is_ticket(token) ||
           is_numbered_name(&form) ||
           (form.slashes > 0 && form.letters > 2 && (form.digits > 0 || form.slashes > 1));
}

/* Returns the token without punctuation around it. */
static struct slice trim(struct slice token)
{
    while (token.size > 0 && memchr(".,;:!?()\"'[]{}`", token.data[token.size - 1], 15) != NULL) {
        token.size--;
    }
    while (token.size > 0 && memchr("(\"'[{`", token.data[0], 6) != NULL) {
        token = slice_after(token, 1);
    }
    return token;
}

/* Recognises a name: a capital and lower case letters, not at the start of a sentence, and not a term. */
static bool is_name(struct arena *arena, struct slice token)
{
    struct lexicon_matches matches;
    struct words words;

    if (token.size < 2 || !is_capital(token.data[0])) {
        return false;
    }
    for (size_t i = 1; i < token.size && token.data[i] != '\''; i++) {
        if (!is_lower(token.data[i])) {
            return false;
        }
    }
    if (words_split(arena, token, &words) != OK || lexicon_find(arena, &words, &matches) != OK) {
        return false;
    }
    for (size_t i = 0; i < matches.count; i++) {
        if (matches.items[i].list == LEXICON_TECHNICAL || matches.items[i].list == LEXICON_PRAISE ||
            matches.items[i].list == LEXICON_CONCEPT) {
            return false;
        }
    }
    return true;
}

struct slice place_mark_find(struct arena *arena, struct slice text)
{
    bool starts_sentence = true;
    size_t at = 0;

    while (at < text.size) {
        size_t end = at;
        struct slice token = {NULL, 0};

        while (end < text.size && text.data[end] != ' ' && text.data[end] != '\n') {
            end++;
        }
        token = trim(slice_of(text.data + at, end - at));
        if (is_mark(token) || (!starts_sentence && is_name(arena, token))) {
            return token;
        }
        if (end > at) {
            starts_sentence = memchr(".!?:", text.data[end - 1], 4) != NULL;
        }
        at = end + 1;
    }
    return slice_of(NULL, 0);
}
