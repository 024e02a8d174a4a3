/*
 * redaction_text.c: private data in texts; see redaction.h. Patterns are ASCII and are searched at the start of a word; of
 * several, the first one in the table that matches counts.
 */
#include "server/domain/reviews/redaction.h"

#include "store/base/buffer.h"

#include <strings.h>

/* Digits of a phone number. */
#define PHONE_DIGITS_MIN 7
#define PHONE_DIGITS_MAX 15
/* Characters of an IBAN without spaces (ISO 13616), and its digits at least. */
#define IBAN_CHARACTERS_MIN 15
#define IBAN_CHARACTERS_MAX 34
#define IBAN_DIGITS_MIN 8
/* A long secret: characters, digits and letters at least, separators at most. */
#define SECRET_CHARACTERS_MIN 24
#define SECRET_OF_EACH_MIN 4
#define SECRET_SEPARATORS_MAX 2
/* A shorter secret mixes digits and letters, some of them small, which article numbers and sizes do not. */
#define MIXED_CHARACTERS_MIN 16
#define MIXED_DIGIT_GROUPS_MIN 3
#define MIXED_SMALL_LETTERS_MIN 2
/* A key that a known prefix marks: characters after the prefix. */
#define PREFIXED_CHARACTERS_MIN 12
/* The value after a word that says that it is a secret. */
#define LABELLED_CHARACTERS_MIN 4

static bool is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

static bool is_letter(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_word(uint8_t byte)
{
    return is_digit(byte) || is_letter(byte);
}

static bool is_one_of(uint8_t byte, const char *set)
{
    return byte != 0 && strchr(set, byte) != NULL;
}

/* Each returns the bytes of its pattern at the start of the text; 0: it does not match. */
typedef size_t match_fn(struct slice text);

static size_t match_email(struct slice text)
{
    size_t at = 0;
    size_t end = 0;
    bool has_dot = false;

    while (at < text.size && (is_word(text.data[at]) || is_one_of(text.data[at], "._%+-"))) {
        at++;
    }
    if (at == 0 || at == text.size || text.data[at] != '@') {
        return 0;
    }
    for (at++; at < text.size && (is_word(text.data[at]) || is_one_of(text.data[at], ".-")); at++) {
        has_dot = has_dot || text.data[at] == '.';
        end = is_word(text.data[at]) ? at + 1 : end;
    }
    return has_dot ? end : 0;
}

static size_t match_iban(struct slice text)
{
    size_t count = 0;
    size_t digits = 0;
    size_t end = 0;

    if (text.size < IBAN_CHARACTERS_MIN || !is_letter(text.data[0]) || !is_letter(text.data[1]) ||
        !is_digit(text.data[2]) || !is_digit(text.data[3])) {
        return 0;
    }
    for (size_t at = 0; at < text.size && count < IBAN_CHARACTERS_MAX; at++) {
        if (text.data[at] == ' ' && at > 0 && text.data[at - 1] != ' ') {
            continue;
        }
        if (!is_word(text.data[at])) {
            break;
        }
        count++;
        digits += is_digit(text.data[at]);
        end = is_digit(text.data[at]) || count < IBAN_CHARACTERS_MIN ? at + 1 : end;
    }
    return count >= IBAN_CHARACTERS_MIN && digits >= IBAN_DIGITS_MIN ? end : 0;
}

/* Digits in groups, with separators between them. */
struct groups {
    size_t digits;
    size_t count;
    size_t sizes[4]; /* of the first ones */
    size_t end;
};

/* Groups that are being read. */
struct groups_reading {
    struct groups groups;
    struct groups before; /* without the last group */
    struct groups number; /* a whole number, before a group that may start another one */
    bool in_group;
};

/* Returns whether the text goes on as a word, as an article number does: with a letter, or a hyphen and a letter. */
static bool goes_on(struct slice text)
{
    size_t hyphen = text.size > 0 && text.data[0] == '-';

    return text.size > hyphen && is_letter(text.data[hyphen]);
}

/* Adds a digit; returns false if it is one too many. */
static bool add_digit(struct groups_reading *reading, uint8_t digit, size_t end)
{
    struct groups *groups = &reading->groups;

    if (!reading->in_group) {
        reading->before = *groups;
        if (digit == '0' && groups->digits >= PHONE_DIGITS_MIN) {
            reading->number = *groups;
        }
        groups->count++;
    }
    if (groups->count <= sizeof(groups->sizes) / sizeof(groups->sizes[0])) {
        groups->sizes[groups->count - 1]++;
    }
    reading->in_group = true;
    groups->digits++;
    groups->end = end;
    return groups->digits <= PHONE_DIGITS_MAX;
}

/* Reads groups up to one with which they would have too many digits, or that is the start of a word: another number, or
 * something else, may follow a number. */
static struct groups read_groups(struct slice text)
{
    struct groups_reading reading = {.in_group = false};
    bool has_room = true;

    for (size_t at = 0; at < text.size && has_room; at++) {
        if (is_digit(text.data[at])) {
            has_room = add_digit(&reading, text.data[at], at + 1);
        } else if (is_one_of(text.data[at], at == 0 ? "+(" : " -/().")) {
            reading.in_group = false;
        } else {
            break;
        }
    }
    if (!has_room) {
        return reading.number.count > 0 ? reading.number : reading.before;
    }
    return goes_on(slice_after(text, reading.groups.end)) ? reading.before : reading.groups;
}

static bool has_sizes(const struct groups *groups, size_t first, size_t second, size_t third)
{
    return groups->count == 3 && groups->sizes[0] == first && groups->sizes[1] == second &&
           groups->sizes[2] == third;
}

/* A number with a prefix: +, or 0 or an area code in parentheses and at least one separator; or one written 3-3-4. A
 * date is not one, nor is a part of an article number. */
static size_t match_phone(struct slice text)
{
    struct groups groups = read_groups(text);
    bool is_national = text.size > 0 && is_one_of(text.data[0], "0(") && groups.count > 1 &&
                       !has_sizes(&groups, 2, 2, 4) && !has_sizes(&groups, 2, 2, 2);
    bool is_number =
        (text.size > 0 && text.data[0] == '+') || is_national || has_sizes(&groups, 3, 3, 4);

    return is_number && groups.digits >= PHONE_DIGITS_MIN && groups.digits <= PHONE_DIGITS_MAX
               ? groups.end
               : 0;
}

static size_t match_secret(struct slice text)
{
    size_t digits = 0;
    size_t letters = 0;
    size_t separators = 0;
    size_t at = 0;

    for (; at < text.size && (is_word(text.data[at]) || is_one_of(text.data[at], "_-+=")); at++) {
        digits += is_digit(text.data[at]);
        letters += is_letter(text.data[at]);
        separators += is_one_of(text.data[at], "_-");
    }
    return at >= SECRET_CHARACTERS_MIN && digits >= SECRET_OF_EACH_MIN &&
                   letters >= SECRET_OF_EACH_MIN && separators <= SECRET_SEPARATORS_MAX
               ? at
               : 0;
}

/* What a word without separators consists of. */
struct mix {
    size_t size;
    size_t digits;
    size_t digit_groups;
    size_t letters; /* without x, which separates dimensions */
    size_t small_letters;
};

static struct mix read_mix(struct slice text)
{
    struct mix mix = {.size = 0};

    for (; mix.size < text.size && is_word(text.data[mix.size]); mix.size++) {
        uint8_t byte = text.data[mix.size];
        bool is_first = mix.size == 0 || !is_digit(text.data[mix.size - 1]);

        mix.digits += is_digit(byte);
        mix.digit_groups += is_digit(byte) && is_first;
        mix.letters += is_letter(byte) && byte != 'x';
        mix.small_letters += byte >= 'a' && byte <= 'z' && byte != 'x';
    }
    return mix;
}

static size_t match_mixed_secret(struct slice text)
{
    const struct mix mix = read_mix(text);

    return mix.size >= MIXED_CHARACTERS_MIN && mix.digits >= SECRET_OF_EACH_MIN &&
                   mix.letters >= SECRET_OF_EACH_MIN &&
                   mix.digit_groups >= MIXED_DIGIT_GROUPS_MIN &&
                   mix.small_letters >= MIXED_SMALL_LETTERS_MIN
               ? mix.size
               : 0;
}

/* The prefixes of keys of widely used services, and of JSON web tokens. */
static const char *const prefixes[] = {"sk-",  "sk_",         "pk_",    "rk_",   "ghp_",
                                       "gho_", "github_pat_", "glpat-", "xoxb-", "xoxp-",
                                       "AKIA", "ASIA",        "AIza",   "eyJ"};

static bool begins_with(struct slice text, const char *prefix)
{
    struct slice start = slice_text(prefix);

    return text.size >= start.size && memcmp(text.data, start.data, start.size) == 0;
}

static size_t match_prefixed_secret(struct slice text)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t at = strlen(prefixes[i]);
        size_t end = at;

        if (!begins_with(text, prefixes[i])) {
            continue;
        }
        while (end < text.size && (is_word(text.data[end]) || is_one_of(text.data[end], "_-."))) {
            end++;
        }
        while (end > at && text.data[end - 1] == '.') {
            end--;
        }
        if (end - at >= PREFIXED_CHARACTERS_MIN) {
            return end;
        }
    }
    return 0;
}

/* Words that say that a secret follows, after a colon or an equals sign. */
static const char *const labels[] = {"password", "passwort",  "passwd", "passphrase", "pwd",
                                     "kennwort", "secret",    "token",  "api key",    "api-key",
                                     "api_key",  "api_token", "apikey", "access_key"};

/* Returns the bytes of the label at the start of a text, with what separates it from its value; 0: there is none. */
static size_t match_label(struct slice text)
{
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        size_t at = strlen(labels[i]);

        if (text.size <= at || strncasecmp((const char *)text.data, labels[i], at) != 0) {
            continue;
        }
        at += text.data[at] == ' ';
        if (at >= text.size || !is_one_of(text.data[at], ":=")) {
            continue;
        }
        at++;
        return at + (at < text.size && text.data[at] == ' ');
    }
    return 0;
}

static size_t match_labelled_secret(struct slice text)
{
    size_t start = match_label(text);
    size_t end = start;

    if (start == 0) {
        return 0;
    }
    while (end < text.size && text.data[end] > ' ' && !is_one_of(text.data[end], ",;\"'<>()[]{}")) {
        end++;
    }
    while (end > start && text.data[end - 1] == '.') {
        end--;
    }
    return end - start >= LABELLED_CHARACTERS_MIN ? end : 0;
}

static match_fn *const patterns[] = {match_email,  match_labelled_secret, match_prefixed_secret,
                                     match_secret, match_mixed_secret,    match_iban,
                                     match_phone};

/* Returns the bytes of the first pattern that matches here; 0: none does. */
static size_t match(struct slice text)
{
    size_t size = 0;

    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && size == 0; i++) {
        size = patterns[i](text);
    }
    return size;
}

enum err redact_text(struct arena *arena, struct slice text, struct slice *ret_text)
{
    struct buffer buffer;
    size_t at = 0;
    bool was_match = false; /* a pattern may follow another one directly */

    buffer_init(&buffer, arena, text.size);
    while (at < text.size) {
        bool starts = at == 0 || was_match || !is_word(text.data[at - 1]);
        size_t size = starts ? match(slice_after(text, at)) : 0;

        was_match = size > 0;
        if (was_match) {
            buffer_append(&buffer, SLICE(REDACTED));
            at += size;
        } else {
            buffer_append_byte(&buffer, text.data[at++]);
        }
    }
    *ret_text = buffer_slice(&buffer);
    return buffer_ok(&buffer) ? OK : ERR_MEMORY;
}
