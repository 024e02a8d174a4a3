/*
 * template.c: see template.h. A template is read twice, once to count its placeholders and once to
 * record them. Both passes take linear time: two attempts to match a token share no bytes except
 * their first braces.
 */
#include "server/domain/text/template.h"

/* The hash of a name, FNV-1a; compared before the name itself. */
#define HASH_START UINT32_C(2166136261)
#define HASH_FACTOR UINT32_C(16777619)

static bool is_name_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '_';
}

bool template_is_name(struct slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (!is_name_byte(text.data[i])) {
            return false;
        }
    }
    return text.size > 0;
}

static size_t skip_spaces(struct slice text, size_t at)
{
    while (at < text.size && text.data[at] == ' ') {
        at++;
    }
    return at;
}

static bool is_doubled(struct slice text, size_t at, uint8_t byte)
{
    return at + 1 < text.size && text.data[at] == byte && text.data[at + 1] == byte;
}

/* A placeholder and its name. */
struct token {
    size_t begin;
    size_t end;
    struct slice name;
};

/* Matches the token that begins at `at`; returns false if there is none. */
static bool match_token(struct slice text, size_t at, struct token *ret_token)
{
    size_t name = 0;
    size_t end = 0;

    if (!is_doubled(text, at, '{')) {
        return false;
    }
    name = skip_spaces(text, at + 2);
    end = name;
    while (end < text.size && is_name_byte(text.data[end])) {
        end++;
    }
    ret_token->name = slice_of(text.data + name, end - name);
    end = skip_spaces(text, end);
    if (ret_token->name.size == 0 || !is_doubled(text, end, '}')) {
        return false;
    }
    ret_token->begin = at;
    ret_token->end = end + 2;
    return true;
}

/* Finds the first token from `at` on; returns false after the last one. */
static bool next_token(struct slice text, size_t at, struct token *ret_token)
{
    while (at < text.size) {
        const uint8_t *brace = memchr(text.data + at, '{', text.size - at);

        if (brace == NULL) {
            return false;
        }
        at = (size_t)(brace - text.data);
        if (match_token(text, at, ret_token)) {
            return true;
        }
        at++;
    }
    return false;
}

static size_t count_places(struct slice text)
{
    struct token token = {.end = 0};
    size_t count = 0;

    while (next_token(text, token.end, &token)) {
        count++;
    }
    return count;
}

static uint32_t hash_of(struct slice name)
{
    uint32_t hash = HASH_START;

    for (size_t i = 0; i < name.size; i++) {
        hash = (hash ^ name.data[i]) * HASH_FACTOR;
    }
    return hash;
}

/* The names found so far. */
struct names {
    struct slice *items;
    uint32_t hashes[TEMPLATE_NAMES_MAX];
    size_t count;
};

/* Returns the index of a name, which is added if it is new; false if there is no room for it. */
static bool find_or_add(struct names *names, struct slice name, uint32_t *ret_index)
{
    uint32_t hash = hash_of(name);

    for (size_t i = 0; i < names->count; i++) {
        if (names->hashes[i] == hash && slice_equal(names->items[i], name)) {
            *ret_index = (uint32_t)i;
            return true;
        }
    }
    if (names->count == TEMPLATE_NAMES_MAX) {
        return false;
    }
    names->items[names->count] = name;
    names->hashes[names->count] = hash;
    *ret_index = (uint32_t)names->count++;
    return true;
}

enum err template_read(struct arena *arena, struct slice text, struct template *ret_template)
{
    size_t place_count = count_places(text);
    size_t names_max = place_count < TEMPLATE_NAMES_MAX ? place_count : TEMPLATE_NAMES_MAX;
    struct template_place *places = NULL;
    struct names names = {.count = 0};
    struct token token = {.end = 0};

    if (place_count > 0) {
        places = arena_calloc(arena, place_count, sizeof(*places));
        names.items = arena_calloc(arena, names_max, sizeof(*names.items));
        if (places == NULL || names.items == NULL) {
            return ERR_MEMORY;
        }
    }
    for (size_t i = 0; i < place_count && next_token(text, token.end, &token); i++) {
        places[i].begin = token.begin;
        places[i].end = token.end;
        if (!find_or_add(&names, token.name, &places[i].name)) {
            return ERR_INVALID;
        }
    }
    *ret_template = (struct template){
        .text = text,
        .names = names.items,
        .name_count = names.count,
        .places = places,
        .place_count = place_count,
    };
    return OK;
}

size_t template_filled_bytes(const struct template *template, const struct template_value *values)
{
    size_t bytes = template->text.size;

    for (size_t i = 0; i < template->place_count; i++) {
        const struct template_place *place = &template->places[i];

        if (values[place->name].given) {
            bytes = bytes - (place->end - place->begin) + values[place->name].text.size;
        }
    }
    return bytes;
}

void template_fill(const struct template *template, const struct template_value *values,
                   struct buffer *body)
{
    size_t at = 0;

    for (size_t i = 0; i < template->place_count; i++) {
        const struct template_place *place = &template->places[i];

        if (values[place->name].given) {
            buffer_append(body, slice_of(template->text.data + at, place->begin - at));
            buffer_append(body, values[place->name].text);
            at = place->end;
        }
    }
    if (at < template->text.size) {
        buffer_append(body, slice_after(template->text, at));
    }
}
