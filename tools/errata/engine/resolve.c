/*
 * resolve.c: see resolve.h.
 */
#include "tools/errata/engine/resolve.h"

#include "store/base/assert.h"
#include "tools/errata/engine/connect.h"
#include "tools/errata/engine/request.h"
#include "tools/errata/engine/view.h"

#include <ctype.h>

/* Maximum candidates for completion; a longer list does not help. */
#define OFFERS_MAX 200
/* Maximum pages that are read for one prefix; the server examines 2,000 rows per page. */
#define PAGES_OF_PREFIX_MAX 500

/* The word whose values may also be given by their names. */
#define NAMED_WORD "ORG"

#define ID_BYTES 36
#define FINGERPRINT_BYTES 64
#define KEY_ID_BYTES 8

/* An entry of words.def. */
struct word {
    const char *name;
    const char *member;
    const char *list; /* Service/Method that lists the values; "": none */
    const char *row;
    const char *filter;
    const char *meaning; /* comma-separated paths of the description */
};

static const struct word words[] = {
#define WORD(name, member, list, row, filter, meaning) {name, member, list, row, filter, meaning},
#include "tools/errata/engine/words.def"
#undef WORD
};

/* A list that is being read: its method, and the member that contains the rows. */
struct list {
    const struct word *word;
    const struct method_info *method;
    const struct field_info *rows;
    const struct field_info *value;
};

static const struct word *find_word(struct slice name)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (slice_equal(name, slice_text(words[i].name))) {
            return &words[i];
        }
    }
    return NULL;
}

const char *resolve_member(struct slice name)
{
    const struct word *word = find_word(name);

    return word != NULL ? word->member : NULL;
}

bool resolve_is_known(struct slice name)
{
    const struct word *word = find_word(name);

    return word != NULL && word->filter[0] != '\0';
}

/* Returns the field of a list's reply that has its rows; every list has one. */
static const struct field_info *rows_of(const struct message_info *reply)
{
    const struct field_info *rows = NULL;

    for (uint32_t i = 0; rows == NULL && i < reply->count; i++) {
        if (reply->fields[i].repeated && reply->fields[i].type == FIELD_MESSAGE) {
            rows = &reply->fields[i];
        }
    }
    ASSERT(rows != NULL);
    return rows;
}

static struct list open_list(struct cli *cli, const struct word *word)
{
    struct list list = {.word = word};
    struct slice path = arena_printf(&cli->arena, "/errata.v1.%s", word->list);

    list.method = cli_method((const char *)path.data);
    list.rows = rows_of(list.method->reply);
    list.value = view_find_field(list.rows->message, word->row);
    return list;
}

/* Returns whether rows of these values may also be found by their member `name`. */
static bool has_name(const struct word *word)
{
    return strcmp(word->name, NAMED_WORD) == 0;
}

/* Returns whether --org is given, and the list has only the rows of the token's own organisation. */
static bool lists_own_only(struct cli *cli, const struct list *list)
{
    return options_get(&cli->options, "org") != NULL && !has_name(list->word) &&
           view_field_named(list->method->request, SLICE("org_id")) == NULL;
}

/* Fetches one page of the values that begin with `prefix`; empty: all values. */
static enum cli_exit fetch(struct cli *cli, const struct list *list, struct slice prefix,
                           struct slice page_token, struct json_value *ret_reply)
{
    struct request request;
    const char *org = options_get(&cli->options, "org");

    request_begin(&request, cli);
    request_raw(&request, "page_size", SLICE("200"));
    if (page_token.size > 0) {
        request_text(&request, "page_token", page_token);
    }
    if (prefix.size > 0 &&
        view_field_named(list->method->request, slice_text(list->word->filter))) {
        request_text(&request, list->word->filter, prefix);
    }
    if (org != NULL && view_field_named(list->method->request, SLICE("org_id")) != NULL) {
        request_text(&request, "org_id", slice_text(org));
    }
    return cli_call_reply(cli, (const char *)list->method->path.data, request_end(&request),
                          ret_reply);
}

static struct slice meaning_of(struct cli *cli, const struct list *list, struct json_value row)
{
    const char *path = list->word->meaning;
    struct buffer text;

    buffer_init(&text, &cli->arena, 64);
    while (path[0] != '\0') {
        size_t size = strcspn(path, ",");
        const struct field_info *field =
            view_field_named(list->rows->message, slice_of(path, size));
        struct slice value =
            field != NULL ? view_member(cli, row, field, false) : slice_of(NULL, 0);

        buffer_append(&text, text.size > 0 && value.size > 0 ? SLICE(", ") : SLICE(""));
        buffer_append(&text, value);
        path += size + (path[size] == ',' ? 1 : 0);
    }
    return buffer_slice(&text);
}

void resolve_list(struct cli *cli, struct slice name, struct slice typed, resolve_offer *offer,
                  void *user)
{
    const struct word *word = find_word(name);
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct reply_walk walk;
    struct list list;

    if (word == NULL || word->list[0] == '\0') {
        return;
    }
    list = open_list(cli, word);
    if (resolve_org(cli) != CLI_OK || lists_own_only(cli, &list)) {
        return;
    }
    if (fetch(cli, &list, typed, slice_of(NULL, 0), &reply) != CLI_OK) {
        return;
    }
    walk = reply_walk(reply, (const char *)list.rows->json_name.data);
    for (size_t i = 0; i < OFFERS_MAX && reply_next(&walk); i++) {
        offer(user, reply_text(cli, walk.row, (const char *)list.value->json_name.data),
              meaning_of(cli, &list, walk.row));
    }
}

/* --- prefixes --- */

/* The values that begin with a prefix. */
struct matches {
    struct slice values[RESOLVE_CANDIDATES_MAX];
    struct slice meanings[RESOLVE_CANDIDATES_MAX];
    size_t count; /* number of matches, which may exceed the number of stored ones */
    struct slice next_page;
};

/* Ids are written in lower case. */
static struct slice lower(struct cli *cli, struct slice text)
{
    uint8_t *copy = arena_alloc(&cli->arena, text.size);

    for (size_t i = 0; copy != NULL && i < text.size; i++) {
        uint8_t byte = text.data[i];

        copy[i] = byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte - 'A' + 'a') : byte;
    }
    return copy != NULL ? slice_of(copy, text.size) : text;
}

/* Adds the rows of one page that begin with the prefix or are named as given. */
static enum cli_exit read_matches(struct cli *cli, const struct list *list, struct slice given,
                                  struct matches *matches)
{
    bool named = has_name(list->word);
    struct slice prefix = lower(cli, given);
    struct json_value reply = {JSON_NULL, {NULL, 0}};
    struct reply_walk walk;
    enum cli_exit result =
        fetch(cli, list, named ? slice_of(NULL, 0) : prefix, matches->next_page, &reply);

    if (result != CLI_OK) {
        return result;
    }
    walk = reply_walk(reply, (const char *)list->rows->json_name.data);
    while (reply_next(&walk)) {
        struct slice value = reply_text(cli, walk.row, (const char *)list->value->json_name.data);
        bool is_match = slice_starts_with(value, prefix) ||
                        (named && slice_equal(reply_text(cli, walk.row, "name"), given));

        if (is_match && matches->count++ < RESOLVE_CANDIDATES_MAX) {
            matches->values[matches->count - 1] = value;
            matches->meanings[matches->count - 1] = meaning_of(cli, list, walk.row);
        }
    }
    matches->next_page = reply_text(cli, reply, "nextPageToken");
    return CLI_OK;
}

static bool is_hex(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!isxdigit(text.data[i])) {
            return false;
        }
    }
    return text.size > 0;
}

/* Returns whether the text is a UUID, or the beginning of one. */
static bool begins_uuid(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text.data[i] != '-' : !isxdigit(text.data[i])) {
            return false;
        }
    }
    return text.size > 0 && text.size <= ID_BYTES;
}

/* Returns whether the text may be a prefix of a longer value of this kind, or the name of one. */
static bool may_be_prefix(const struct word *word, struct slice given)
{
    if (strcmp(word->name, "LAYOUT") == 0) {
        return is_hex(given) && given.size >= RESOLVE_FINGERPRINT_BYTES_MIN &&
               given.size < FINGERPRINT_BYTES;
    }
    if (strcmp(word->name, "KEYID") == 0) {
        return is_hex(given) && given.size < KEY_ID_BYTES;
    }
    return begins_uuid(given) ? given.size < ID_BYTES : has_name(word);
}

static enum cli_exit report_ambiguous(struct cli *cli, const struct word *word, struct slice prefix,
                                      const struct matches *matches)
{
    enum cli_exit result = cli_failed(
        cli, "%s \"%.*s\": ambiguous prefix; expected one of:", word->name, SLICE_ARGS(prefix));

    for (size_t i = 0; i < matches->count && i < RESOLVE_CANDIDATES_MAX; i++) {
        cli_note(cli, "%.*s  %.*s", SLICE_ARGS(matches->values[i]),
                 SLICE_ARGS(matches->meanings[i]));
    }
    if (matches->count > RESOLVE_CANDIDATES_MAX || matches->next_page.size > 0) {
        cli_note(cli, "... and others");
    }
    return result;
}

enum cli_exit resolve_prefix(struct cli *cli, struct slice name, struct slice given,
                             struct slice *ret_value)
{
    const struct word *word = find_word(name);
    struct matches matches = {.count = 0};
    struct list list;
    enum cli_exit result = CLI_OK;

    *ret_value = given;
    if (word == NULL || word->filter[0] == '\0' || !may_be_prefix(word, given)) {
        return CLI_OK;
    }
    list = open_list(cli, word);
    if (lists_own_only(cli, &list)) {
        return cli_usage(cli,
                         "%s \"%.*s\": a prefix, which --org does not resolve; expected a whole id",
                         word->name, SLICE_ARGS(given));
    }
    for (unsigned page = 0; page < PAGES_OF_PREFIX_MAX && matches.count < 2; page++) {
        result = read_matches(cli, &list, given, &matches);
        if (result != CLI_OK || matches.next_page.size == 0) {
            break;
        }
    }
    if (result != CLI_OK) {
        return result;
    }
    if (matches.count > 1) {
        return report_ambiguous(cli, word, given, &matches);
    }
    if (matches.count == 0 && strcmp(word->name, "LAYOUT") != 0) {
        return cli_failed(cli, "%s \"%.*s\": not found; expected an id%s a unique prefix of one%s",
                          word->name, SLICE_ARGS(given), has_name(word) ? "," : " or",
                          has_name(word) ? ", or a name" : "");
    }
    *ret_value = matches.count == 1 ? matches.values[0] : given;
    return CLI_OK;
}

enum cli_exit resolve_given(struct cli *cli, struct option_given *given, struct slice *ret_value)
{
    enum cli_exit result =
        resolve_prefix(cli, slice_text(given->spec->value), slice_text(given->value), ret_value);

    if (result == CLI_OK) {
        given->value = (const char *)arena_printf(&cli->kept, "%.*s", SLICE_ARGS(*ret_value)).data;
    }
    return result;
}

enum cli_exit resolve_org(struct cli *cli)
{
    enum cli_exit result = CLI_OK;

    for (size_t i = 0; result == CLI_OK && i < cli->options.given_count; i++) {
        struct option_given *given = &cli->options.given[i];
        struct slice id = {NULL, 0};

        if (given->spec->value != NULL && strcmp(given->spec->value, NAMED_WORD) == 0) {
            result = resolve_given(cli, given, &id);
        }
    }
    return result;
}
