/*
 * redaction_secret.c: passwords and keys; see redaction.h. A secret is recognised by a word before
 * it, a known prefix, or its mix of characters.
 */
#include "server/domain/reviews/redaction_internal.h"

#include "server/domain/text/fold.h"

/* Maximum characters by which a word is classified; of a longer word, only its start is used. */
#define JUDGED_CHARACTERS_MAX 128
/* A long secret: minimum characters, digits and letters, and maximum separators. */
#define SECRET_CHARACTERS_MIN 24
#define SECRET_OF_EACH_MIN 4
#define SECRET_SEPARATORS_MAX 2
/* A part of a long secret with more separators: its length, and changes between kinds of characters. */
#define PART_CHARACTERS_MIN 10
#define PART_CHANGES_MIN 5
/* The minimum length of a secret that has slashes, since paths have them, too. */
#define SLASHED_CHARACTERS 40
#define SLASHED_CHANGES_MIN 10
/* A shorter secret mixes digits and letters, some of them lower-case, which article numbers and sizes do not. */
#define MIXED_CHARACTERS_MIN 16
#define MIXED_DIGIT_GROUPS_MIN 3
#define MIXED_SMALL_LETTERS_MIN 2
/* A key with a known prefix: minimum characters after the prefix. */
#define PREFIXED_CHARACTERS_MIN 12
/* Limits of a label, and of the value after it. */
#define LABEL_CHARACTERS_MAX 40
#define LABELLED_CHARACTERS_MIN 4
/* Maximum length of the first line of a private key. */
#define KEY_LINE_CHARACTERS_MAX 40
/* Maximum lengths of user and password of a URL. */
#define CREDENTIALS_CHARACTERS_MAX 128

/* --- words that only a machine makes --- */

/* The composition of a word. */
struct mix {
    size_t size;
    size_t digits;
    size_t digit_groups;
    size_t letters;
    size_t crosses; /* the letters x between digits, which separate dimensions */
    size_t small_letters;
    size_t changes; /* between digits, lower-case and upper-case letters */
    bool has_all; /* digits, lower-case and upper-case letters */
};

static unsigned kind_of(uint8_t byte)
{
    if (plain_is_digit(byte)) {
        return 1;
    }
    return plain_is_small(byte) ? 2 : 3;
}

/* Reads a word of letters and digits, and of the other characters. */
static struct mix read_mix(struct slice text, const char *others)
{
    struct mix mix = {.size = 0};
    unsigned kinds = 0;
    unsigned last = 0;

    for (; mix.size < text.size && mix.size < JUDGED_CHARACTERS_MAX; mix.size++) {
        uint8_t byte = text.data[mix.size];

        if (!plain_is_word(byte)) {
            if (!plain_is_one_of(byte, others)) {
                break;
            }
            last = 0;
            continue;
        }
        mix.digits += plain_is_digit(byte);
        mix.digit_groups += plain_is_digit(byte) && last != 1;
        mix.letters += plain_is_letter(byte);
        mix.crosses += byte == 'x';
        mix.small_letters += plain_is_small(byte);
        mix.changes += last != 0 && last != kind_of(byte);
        last = kind_of(byte);
        kinds |= 1u << last;
    }
    mix.has_all = kinds == 0xeu;
    return mix;
}

/* Returns whether a part of the word between separators is a mix of all kinds. */
static bool has_mixed_part(struct slice word)
{
    size_t at = 0;

    while (at < word.size) {
        struct mix mix = read_mix(slice_after(word, at), "");

        if (mix.size >= PART_CHARACTERS_MIN && mix.has_all && mix.changes >= PART_CHANGES_MIN) {
            return true;
        }
        at += mix.size + 1;
    }
    return false;
}

static bool is_long_secret(struct slice text, const struct mix *mix)
{
    struct slice word = slice_of(text.data, mix->size);
    size_t separators = 0;

    if (mix->size < SECRET_CHARACTERS_MIN || mix->digits < SECRET_OF_EACH_MIN ||
        mix->letters < SECRET_OF_EACH_MIN) {
        return false;
    }
    for (size_t i = 0; i < word.size; i++) {
        separators += plain_is_one_of(word.data[i], "_-");
    }
    return separators <= SECRET_SEPARATORS_MAX || has_mixed_part(word);
}

static bool is_mixed_secret(struct slice text)
{
    const struct mix mix = read_mix(text, "");

    return mix.size >= MIXED_CHARACTERS_MIN && mix.digits >= SECRET_OF_EACH_MIN &&
           mix.letters - mix.crosses >= SECRET_OF_EACH_MIN &&
           mix.digit_groups >= MIXED_DIGIT_GROUPS_MIN &&
           mix.small_letters - mix.crosses >= MIXED_SMALL_LETTERS_MIN;
}

static bool is_slashed_secret(struct slice text)
{
    const struct mix mix = read_mix(text, "+/");

    return mix.size == SLASHED_CHARACTERS && mix.has_all && mix.changes >= SLASHED_CHANGES_MIN;
}

/* Returns the end of a word of letters, digits and the other characters. */
static size_t end_of_word(struct slice text, size_t at, const char *others)
{
    while (plain_is_word(plain_at(text, at)) || plain_is_one_of(plain_at(text, at), others)) {
        at++;
    }
    return at;
}

size_t match_random_word(const struct redaction_place *place)
{
    struct slice text = place->text;
    const struct mix mix = read_mix(text, "_-+=");

    if (is_long_secret(text, &mix)) {
        return end_of_word(text, 0, "_-+=");
    }
    if (is_slashed_secret(text)) {
        return SLASHED_CHARACTERS;
    }
    return is_mixed_secret(text) ? end_of_word(text, 0, "") : 0;
}

/* --- known forms --- */

/* The prefixes of keys of widely used services, of JSON web tokens, and of this server. */
static const char *const prefixes[] = {
    "sk-",  "sk_",  "pk_",  "rk_",         "ghp_",   "gho_",  "ghs_",  "ghu_",   "ghr_",
    "AKIA", "ASIA", "AIza", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-",  "xapp-",
    "eyJ",  "npm_", "hf_",  "dop_v1_",     "shpat_", "SG.",   "ya29.", "whsec_", "errata_"};

static bool begins_with(struct slice text, const char *prefix)
{
    return slice_starts_with(text, slice_text(prefix));
}

size_t match_prefixed_secret(const struct redaction_place *place)
{
    struct slice text = place->text;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t start = strlen(prefixes[i]);
        size_t end = start;

        if (!begins_with(text, prefixes[i])) {
            continue;
        }
        end = end_of_word(text, start, "_-.");
        while (end > start && text.data[end - 1] == '.') {
            end--;
        }
        if (end - start >= PREFIXED_CHARACTERS_MIN) {
            return end;
        }
    }
    return 0;
}

size_t match_key_block(const struct redaction_place *place)
{
    static const char mark[] = "PRIVATE KEY-----";
    struct slice text = place->text;
    const uint8_t *end = NULL;

    if (!begins_with(text, "-----BEGIN ") ||
        memmem(text.data, text.size < KEY_LINE_CHARACTERS_MAX ? text.size : KEY_LINE_CHARACTERS_MAX,
               mark, sizeof(mark) - 1) == NULL) {
        return 0;
    }
    end = memmem(text.data + KEY_LINE_CHARACTERS_MAX,
                 text.size < KEY_LINE_CHARACTERS_MAX ? 0 : text.size - KEY_LINE_CHARACTERS_MAX,
                 mark, sizeof(mark) - 1);
    return end == NULL ? text.size : (size_t)(end - text.data) + sizeof(mark) - 1;
}

size_t match_url_credentials(const struct redaction_place *place)
{
    struct slice before = place->before;
    struct slice text = place->text;
    bool has_colon = false;
    size_t at = 0;

    if (before.size < 3 || memcmp(before.data + before.size - 3, "://", 3) != 0) {
        return 0;
    }
    while (at < text.size && at < CREDENTIALS_CHARACTERS_MAX && text.data[at] > ' ' &&
           !plain_is_one_of(text.data[at], "/@")) {
        has_colon = has_colon || text.data[at] == ':';
        at++;
    }
    return has_colon && plain_at(text, at) == '@' ? at : 0;
}

/* --- secrets after a word --- */

/* Words at whose end a secret follows, after a colon or an equals sign; the shorter ones must be whole words. */
static const char *const labels[] = {
    "password",    "passwort",    "passwd",      "passphrase",    "passcode",     "kennwort",
    "secret",      "token",       "apikey",      "api key",       "api-key",      "api_key",
    "access key",  "access-key",  "access_key",  "secret key",    "secret-key",   "secret_key",
    "private key", "private-key", "private_key", "authorization", "zugangsdaten", "credentials"};
static const char *const whole_labels[] = {"pwd", "pass", "pw"};
/* Maximum words between a label and its value, if the value has a digit. */
static const char *const links[] = {" is ", " ist ", " lautet ", " lautet: "};
/* Words before the value of an authorization. */
static const char *const schemes[] = {"basic ", "bearer ", "digest ", "token "};

/* Returns whether the characters before `end` are the word, in any case and with look-alike letters. */
static bool ends_with(struct slice text, size_t end, const char *word)
{
    size_t size = strlen(word);

    if (end < size) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (fold_ascii(text.data[end - size + i]) != fold_ascii((uint8_t)word[i])) {
            return false;
        }
    }
    return true;
}

static bool is_label(struct slice text, size_t end)
{
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        if (ends_with(text, end, labels[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(whole_labels) / sizeof(whole_labels[0]); i++) {
        size_t size = strlen(whole_labels[i]);

        if (ends_with(text, end, whole_labels[i]) &&
            (end == size || !plain_is_word(text.data[end - size - 1]))) {
            return true;
        }
    }
    return false;
}

/* Returns the end of the label that a text starts with: one word, or two of which the second is `key`; 0: there is none. */
static size_t read_label(struct slice text)
{
    size_t end = 0;
    size_t second = 0;

    while (end <= LABEL_CHARACTERS_MAX &&
           (plain_is_word(plain_at(text, end)) || plain_is_one_of(plain_at(text, end), "_-"))) {
        end++;
    }
    second = end + 4;
    if (plain_at(text, end) == ' ' && second <= text.size && ends_with(text, second, " key")) {
        end = second;
    }
    return end <= LABEL_CHARACTERS_MAX && is_label(text, end) ? end : 0;
}

/* Returns where the value after a label starts; 0: there is none. `ret_is_linked` is true after a word of a sentence. */
static size_t skip_link(struct slice text, size_t at, bool *ret_is_linked)
{
    *ret_is_linked = true;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        size_t size = strlen(links[i]);

        if (plain_starts_with(slice_after(text, at), links[i]) && plain_at(text, at + size) > ' ') {
            return at + size;
        }
    }
    *ret_is_linked = false;
    at += plain_is_one_of(plain_at(text, at), "\"'");
    at += plain_at(text, at) == ' ';
    if (!plain_is_one_of(plain_at(text, at), ":=")) {
        return 0;
    }
    at++;
    at += plain_at(text, at) == ' ';
    return at + plain_is_one_of(plain_at(text, at), "\"'");
}

/* Returns the end of a value, without a full stop after it. */
static size_t end_of_value(struct slice text, size_t start)
{
    size_t end = start;

    while (end < text.size && text.data[end] > ' ' &&
           !plain_is_one_of(text.data[end], ",;\"'<>()[]{}")) {
        end++;
    }
    while (end > start && text.data[end - 1] == '.') {
        end--;
    }
    return end;
}

static bool has_digit(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (plain_is_digit(text.data[i])) {
            return true;
        }
    }
    return false;
}

size_t match_labelled_secret(const struct redaction_place *place)
{
    struct slice text = place->text;
    size_t label = read_label(text);
    bool is_linked = false;
    size_t start = label > 0 ? skip_link(text, label, &is_linked) : 0;
    size_t end = 0;

    if (start == 0) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (plain_starts_with(slice_after(text, start), schemes[i])) {
            start += strlen(schemes[i]);
            break;
        }
    }
    end = end_of_value(text, start);
    return end - start >= LABELLED_CHARACTERS_MIN &&
                   (!is_linked || has_digit(slice_of(text.data + start, end - start)))
               ? end
               : 0;
}
