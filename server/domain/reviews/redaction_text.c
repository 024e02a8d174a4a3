/*
 * redaction_text.c: private data in texts; see redaction.h. Patterns are searched at the start of a word, or directly after
 * another one; if several match, the first one in the table counts. E-mail addresses and IBANs are here.
 */
#include "server/domain/reviews/redaction.h"
#include "server/domain/reviews/redaction_internal.h"

#include "store/base/buffer.h"

/* Maximum characters of an e-mail address before and after its @ (RFC 5321). */
#define LOCAL_CHARACTERS_MAX 64
#define DOMAIN_CHARACTERS_MAX 255
#define TOP_LEVEL_LETTERS_MIN 2
/* Characters of an IBAN without spaces (ISO 13616), and its minimum number of digits. */
#define IBAN_CHARACTERS_MIN 15
#define IBAN_CHARACTERS_MAX 34
#define IBAN_DIGITS_MIN 8
#define IBAN_START_CHARACTERS 4 /* country and check digits */
/* Maximum rounds: replacing a match may reveal another one that it overlapped. Only a contrived
 * text needs more than two. */
#define ROUNDS_MAX 4

/* --- e-mail --- */

/* Returns the number of characters of one of the words in brackets, with or without a space on each
 * side; 0: there is none. */
static size_t match_bracketed(struct slice text, const char *const words[], size_t count)
{
    size_t start = plain_at(text, 0) == ' ';

    if (!plain_is_one_of(plain_at(text, start), "([{")) {
        return 0;
    }
    start++;
    for (size_t i = 0; i < count; i++) {
        size_t end = start + strlen(words[i]);

        if (plain_starts_with(slice_after(text, start), words[i]) &&
            plain_is_one_of(plain_at(text, end), ")]}")) {
            end++;
            return end + (plain_at(text, end) == ' ');
        }
    }
    return 0;
}

/* Returns the number of characters of an @, which may be disguised. */
static size_t match_at_sign(struct slice text)
{
    static const char *const words[] = {"at", "@"};
    size_t space = plain_at(text, 0) == ' ';

    if (plain_at(text, space) == '@') {
        return space + 1 + (space == 1 && plain_at(text, 2) == ' ');
    }
    return match_bracketed(text, words, sizeof(words) / sizeof(words[0]));
}

static size_t match_dot(struct slice text)
{
    static const char *const words[] = {"dot", "punkt", "."};

    return plain_at(text, 0) == '.'
               ? 1
               : match_bracketed(text, words, sizeof(words) / sizeof(words[0]));
}

static bool is_name(uint8_t byte)
{
    return plain_is_word(byte) || byte == PLAIN_LETTER;
}

/* Returns the number of characters of a domain of several parts; the last one must be a word if `wants_word`. */
static size_t match_domain(struct slice text, bool wants_word)
{
    size_t end = 0;
    size_t letters = 0; /* number of letters in the last part; reset by other characters */
    bool has_dot = false;

    while (end < text.size && end < DOMAIN_CHARACTERS_MAX) {
        size_t dot = end > 0 ? match_dot(slice_after(text, end)) : 0;

        if (dot > 0 && is_name(plain_at(text, end + dot))) {
            has_dot = true;
            letters = 0;
            end += dot;
        } else if (is_name(text.data[end]) ||
                   (text.data[end] == '-' && is_name(plain_at(text, end + 1)))) {
            letters = is_name(text.data[end]) && !plain_is_digit(text.data[end]) ? letters + 1 : 0;
            end++;
        } else {
            break;
        }
    }
    return has_dot && (!wants_word || letters >= TOP_LEVEL_LETTERS_MIN) ? end : 0;
}

static size_t match_email(const struct redaction_place *place)
{
    struct slice text = place->text;
    size_t at = 0;
    size_t sign = 0;
    size_t domain = 0;

    if (!is_name(text.data[0])) {
        return 0;
    }
    while (at < text.size && at <= LOCAL_CHARACTERS_MAX &&
           (is_name(text.data[at]) || plain_is_one_of(text.data[at], "._%+-'&#~!"))) {
        at++;
    }
    sign = at <= LOCAL_CHARACTERS_MAX ? match_at_sign(slice_after(text, at)) : 0;
    if (sign > 0) {
        domain = match_domain(slice_after(text, at + sign), sign > 1);
    }
    return domain > 0 ? at + sign + domain : 0;
}

/* --- IBAN --- */

/* An IBAN that is being read: after country and check digits, groups of one size, except the last one. */
struct iban {
    uint8_t characters[IBAN_CHARACTERS_MAX];
    size_t count;
    size_t count_at_end; /* number of characters before `end` */
    size_t end; /* end of the last group that is a part of the number */
    size_t group_size; /* size of the first group after country and check digits; 0: none yet */
    bool is_spaced; /* all separators are single spaces between groups */
};

/* Returns whether the check digits are right: with country and check digits moved to the end, the
 * remainder is 1 (ISO 7064, MOD 97-10). */
static bool has_check_digits(const struct iban *iban)
{
    unsigned rest = 0;

    for (size_t i = 0; i < iban->count; i++) {
        uint8_t byte = iban->characters[(i + IBAN_START_CHARACTERS) % iban->count];

        if (plain_is_digit(byte)) {
            rest = (rest * 10 + byte - '0') % 97;
        } else {
            rest = (rest * 100 + (byte | 0x20u) - 'a' + 10) % 97;
        }
    }
    return rest == 1;
}

/* Reads a group; returns false if the IBAN ends with it. */
static bool read_group(struct slice text, size_t *at, struct iban *iban)
{
    size_t start = iban->count;
    bool has_digit = false;

    while (plain_is_word(plain_at(text, *at)) && iban->count < IBAN_CHARACTERS_MAX) {
        has_digit = has_digit || plain_is_digit(text.data[*at]);
        iban->characters[iban->count++] = text.data[(*at)++];
    }
    if (has_digit || iban->count_at_end < IBAN_CHARACTERS_MIN) {
        iban->end = *at;
        iban->count_at_end = iban->count;
    }
    if (iban->group_size == 0 && start >= IBAN_START_CHARACTERS) {
        iban->group_size = iban->count - start;
    }
    return iban->count < IBAN_CHARACTERS_MAX &&
           (iban->group_size == 0 || iban->count - start == iban->group_size);
}

static bool has_form(const struct iban *iban)
{
    size_t digits = 0;

    for (size_t i = 0; i < iban->count_at_end; i++) {
        digits += plain_is_digit(iban->characters[i]);
    }
    return iban->count_at_end >= IBAN_CHARACTERS_MIN && digits >= IBAN_DIGITS_MIN;
}

/* Matches an IBAN with single spaces or none by its form; with other separators, up to the right check digits. */
static size_t match_iban(const struct redaction_place *place)
{
    struct iban iban = {.is_spaced = true};
    struct slice text = place->text;
    size_t at = 0;
    size_t checked_end = 0;
    bool goes_on = plain_is_letter(text.data[0]);

    while (goes_on) {
        goes_on = read_group(text, &at, &iban) && plain_is_one_of(plain_at(text, at), " -.") &&
                  plain_is_word(plain_at(text, at + 1));
        if (iban.count < IBAN_START_CHARACTERS && !goes_on) {
            return 0;
        }
        if (iban.count >= IBAN_START_CHARACTERS &&
            (!plain_is_letter(iban.characters[0]) || !plain_is_letter(iban.characters[1]) ||
             !plain_is_digit(iban.characters[2]) || !plain_is_digit(iban.characters[3]))) {
            return 0;
        }
        checked_end = has_form(&iban) && has_check_digits(&iban) ? at : checked_end;
        if (goes_on) {
            iban.is_spaced = iban.is_spaced && text.data[at] == ' ' && iban.count > 2;
            at++;
        }
    }
    return iban.is_spaced && has_form(&iban) ? iban.end : checked_end;
}

/* --- all --- */

static match_fn *const patterns[] = {match_email,
                                     match_labelled_secret,
                                     match_prefixed_secret,
                                     match_key_block,
                                     match_url_credentials,
                                     match_random_word,
                                     match_iban,
                                     match_phone};

/* Returns the number of characters of the first pattern that matches here; 0: none matches. */
static size_t match(const struct redaction_place *place)
{
    size_t size = 0;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && size == 0; i++) {
        size = patterns[i](place);
    }
    return size;
}

/* Returns whether a pattern may start here: not within a word, but a number's sign may follow a word. */
static bool starts(const struct redaction_place *place)
{
    size_t size = place->before.size;
    uint8_t last = size > 0 ? place->before.data[size - 1] : 0;

    return !plain_is_word(last) || (place->text.data[0] == '+' && !plain_is_digit(last));
}

/* Replaces each match of a text; `ret_found` is set if there was one. */
static enum err redact_once(struct arena *arena, struct slice text, size_t bytes_max,
                            struct slice *ret_text, bool *ret_found)
{
    struct plain_text plain;
    struct buffer buffer;
    size_t at = 0;
    size_t last = 0; /* start of the text after the last match */
    enum err err = plain_text_read(arena, text, &plain);

    if (err != OK) {
        return err;
    }
    *ret_found = false;
    buffer_init(&buffer, arena, text.size);
    while (at < plain.characters.size && buffer.size <= bytes_max) {
        struct redaction_place place = {slice_of(plain.characters.data + last, at - last),
                                        slice_after(plain.characters, at)};
        size_t honest = starts(&place) ? match_honest_number(&place) : 0;
        size_t size = honest == 0 && starts(&place) ? match(&place) : 0;
        size_t from = plain_text_offset(&plain, at);

        if (size > 0) {
            buffer_append(&buffer, SLICE(REDACTED));
            *ret_found = true;
            at += size;
            last = at;
        } else {
            at += honest > 0 ? honest : 1;
            buffer_append(&buffer,
                          slice_of(text.data + from, plain_text_offset(&plain, at) - from));
        }
    }
    *ret_text = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}

enum err redact_text(struct arena *arena, struct slice text, size_t bytes_max,
                     struct slice *ret_text)
{
    bool is_found = true;
    enum err err = OK;

    for (int round = 0; round < ROUNDS_MAX && is_found && err == OK; round++) {
        err = redact_once(arena, text, bytes_max, &text, &is_found);
    }
    *ret_text = text;
    return err;
}
