/*
 * redaction.c: see redaction.h. Patterns are ASCII and are searched at the start of a word; of several, the first one in
 * the table that matches counts.
 */
#include "server/domain/reviews/redaction.h"

#include "server/domain/text/case_fold.h"
#include "server/domain/text/json_tokens.h"
#include "server/domain/text/sanitise.h"
#include "store/base/buffer.h"
#include "store/base/json.h"

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

static const char *const members[] = {"email",    "phone", "address",     "iban",
                                      "password", "token", "reviewed_by", "notes"};

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

/* The groups of digits of a text. */
struct groups {
    size_t digits;
    size_t count;
    size_t sizes[4]; /* of the first ones */
    size_t end;
};

/* Returns whether the text goes on as a word, as an article number does: with a letter, or a hyphen and a letter. */
static bool goes_on(struct slice text)
{
    size_t hyphen = text.size > 0 && text.data[0] == '-';

    return text.size > hyphen && is_letter(text.data[hyphen]);
}

/* Reads groups up to one with which they would have too many digits, or that is the start of a word: another number, or
 * something else, may follow a number. */
static struct groups read_groups(struct slice text)
{
    struct groups groups = {.digits = 0};
    struct groups before = groups; /* without the group that is being read */
    struct groups number = groups; /* a whole number, before a group that may start another one */
    bool in_group = false;

    for (size_t at = 0; at < text.size; at++) {
        uint8_t byte = text.data[at];

        if (is_digit(byte)) {
            if (!in_group) {
                before = groups;
                number = byte == '0' && groups.digits >= PHONE_DIGITS_MIN ? groups : number;
                groups.count++;
            }
            if (groups.count <= 4) {
                groups.sizes[groups.count - 1]++;
            }
            groups.digits++;
            groups.end = at + 1;
            if (groups.digits > PHONE_DIGITS_MAX) {
                break;
            }
        } else if (!is_one_of(byte, at == 0 ? "+(" : " -/().")) {
            break;
        }
        in_group = is_digit(byte);
    }
    if (groups.digits > PHONE_DIGITS_MAX) {
        return number.count > 0 ? number : before;
    }
    return goes_on(slice_after(text, groups.end)) ? before : groups;
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

static match_fn *const patterns[] = {match_email, match_secret, match_iban, match_phone};

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

/* The item as it is written. */
struct writer {
    struct arena *arena;
    struct buffer buffer;
    bool wants_comma; /* a value precedes it in the same object or array */
};

static void write_comma(struct writer *writer)
{
    if (writer->wants_comma) {
        buffer_append_byte(&writer->buffer, ',');
    }
}

static enum err write_leaf(struct writer *writer, struct slice quoted)
{
    struct slice text = {NULL, 0};
    enum err err = json_string(writer->arena, quoted, &text);

    if (err == OK) {
        err = sanitise_example(writer->arena, text, &text);
    }
    if (err == OK) {
        err = redact_text(writer->arena, text, &text);
    }
    if (err == OK) {
        write_comma(writer);
        json_write_string(&writer->buffer, text, false);
        writer->wants_comma = true;
    }
    return err;
}

static enum err is_private(struct arena *arena, struct slice name, bool *ret_is_private)
{
    struct slice folded = {NULL, 0};
    enum err err = case_fold(arena, name, &folded);

    *ret_is_private = false;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && err == OK; i++) {
        *ret_is_private |= slice_equal(folded, slice_text(members[i]));
    }
    return err;
}

/* Writes a member's name and colon; of a private or changed one, also or not its value. */
static enum err write_name(struct writer *writer, struct json_tokens *tokens, struct slice quoted)
{
    struct json_token colon = {JSON_TOKEN_COLON, {NULL, 0}};
    struct slice raw = {NULL, 0};
    struct slice clean = {NULL, 0};
    bool is_hidden = false;
    enum err err = json_string(writer->arena, quoted, &raw);

    if (err == OK) {
        err = sanitise_example(writer->arena, raw, &clean);
    }
    if (err == OK) {
        err = is_private(writer->arena, raw, &is_hidden);
    }
    if (err != OK || !json_tokens_next(tokens, &colon)) {
        return err;
    }
    if (!slice_equal(raw, clean)) {
        json_tokens_skip_value(tokens);
        return OK;
    }
    write_comma(writer);
    json_write_string(&writer->buffer, clean, false);
    buffer_append_byte(&writer->buffer, ':');
    writer->wants_comma = is_hidden;
    if (is_hidden) {
        json_tokens_skip_value(tokens);
        buffer_append(&writer->buffer, SLICE("\"" REDACTED "\""));
    }
    return OK;
}

static void write_plain(struct writer *writer, struct json_token token)
{
    if (token.kind != JSON_TOKEN_CLOSE) {
        write_comma(writer);
    }
    buffer_append(&writer->buffer, token.text);
    writer->wants_comma = token.kind != JSON_TOKEN_OPEN;
}

enum err redact_item(struct arena *arena, struct slice item_json, struct slice *ret_json)
{
    struct writer writer = {.arena = arena};
    struct json_tokens tokens = json_tokens_of(item_json);
    struct json_token token = {JSON_TOKEN_SCALAR, {NULL, 0}};
    enum err err = OK;

    buffer_init(&writer.buffer, arena, item_json.size);
    while (err == OK && json_tokens_next(&tokens, &token)) {
        if (token.kind == JSON_TOKEN_NAME) {
            err = write_name(&writer, &tokens, token.text);
        } else if (token.kind == JSON_TOKEN_STRING) {
            err = write_leaf(&writer, token.text);
        } else if (token.kind != JSON_TOKEN_COMMA && token.kind != JSON_TOKEN_COLON) {
            write_plain(&writer, token);
        }
    }
    *ret_json = buffer_slice(&writer.buffer);
    return err == OK && !buffer_ok(&writer.buffer) ? ERR_MEMORY : err;
}
