/*
 * rest_path.c: matches paths of requests with the templates of routes. Literal segments are
 * compared as bytes; a value is one decoded segment that is not empty.
 */
#include "server/rest/rest_internal.h"

static int rest_hex_value(uint8_t byte)
{
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

enum err rest_unescape(struct arena *arena, struct slice text, bool is_query,
                       struct slice *ret_text)
{
    uint8_t *plain = arena_alloc(arena, text.size + 1);
    size_t size = 0;

    if (plain == NULL) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < text.size; i++) {
        uint8_t byte = text.data[i];

        if (byte == '%') {
            int high = i + 2 < text.size ? rest_hex_value(text.data[i + 1]) : -1;
            int low = i + 2 < text.size ? rest_hex_value(text.data[i + 2]) : -1;

            if (high < 0 || low < 0) {
                return ERR_INVALID;
            }
            byte = (uint8_t)(high << 4 | low);
            i += 2;
        } else if (byte == '+' && is_query) {
            byte = ' ';
        }
        plain[size++] = byte;
    }
    *ret_text = slice_of(plain, size);
    return OK;
}

/* Splits a path at its slashes; returns the number of segments, 0 if there are too many. */
static uint32_t rest_split(struct slice path, struct slice segments[REST_SEGMENTS_MAX])
{
    struct slice rest = slice_after(path, path.size > 0 ? 1 : 0);
    uint32_t count = 0;

    while (count < REST_SEGMENTS_MAX) {
        const uint8_t *slash = rest.size > 0 ? memchr(rest.data, '/', rest.size) : NULL;
        size_t size = slash != NULL ? (size_t)(slash - rest.data) : rest.size;

        segments[count++] = slice_of(rest.data, size);
        if (slash == NULL) {
            return count;
        }
        rest = slice_after(rest, size + 1);
    }
    return 0;
}

static bool rest_matches(const struct rest_route *route, const struct slice *segments,
                         uint32_t count)
{
    if (count != route->segment_count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (route->segments[i].is_field ? segments[i].size == 0
                                        : !slice_equal(segments[i], route->segments[i].text)) {
            return false;
        }
    }
    return true;
}

/* Returns whether a route begins with more literal segments than another matching one. */
static bool rest_is_better(const struct rest_route *route, const struct rest_route *other)
{
    for (uint32_t i = 0; other != NULL && i < route->segment_count; i++) {
        if (route->segments[i].is_field != other->segments[i].is_field) {
            return !route->segments[i].is_field;
        }
    }
    return other == NULL;
}

void rest_find(struct slice path, enum rest_verb verb, struct rest_match *ret_match)
{
    uint32_t count = rest_split(path, ret_match->segments);

    ret_match->route = NULL;
    ret_match->has_other_verb = false;
    for (uint32_t i = 0; i < contract_route_count; i++) {
        const struct rest_route *route = &contract_routes[i];

        if (!rest_matches(route, ret_match->segments, count)) {
            continue;
        }
        if (route->verb != verb) {
            ret_match->has_other_verb = true;
        } else if (rest_is_better(route, ret_match->route)) {
            ret_match->route = route;
        }
    }
}
