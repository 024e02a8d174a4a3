/*
 * similar.c: see similar.h.
 */
#include "server/domain/decisions/similar.h"

#include "server/domain/decisions/keys.h"
#include "store/scan.h"

#define ROWS_BETWEEN_LOOKS 256

/* Inserts a match in order; the least similar one is dropped if there is no room. Newer ones are found first. */
static void keep(struct similar_matches *matches, size_t limit, const struct similar_match *match)
{
    size_t place = matches->count;

    while (place > 0 && matches->items[place - 1].shown < match->shown) {
        place--;
    }
    if (place >= limit) {
        return;
    }
    if (matches->count < limit) {
        matches->count++;
    }
    for (size_t i = matches->count - 1; i > place; i--) {
        matches->items[i] = matches->items[i - 1];
    }
    matches->items[place] = *match;
}

static double cosine_of(struct slice a, struct slice b)
{
    size_t width = a.size / DECISION_THEME_NUMBER_BYTES;
    int64_t product = 0;

    for (size_t i = 0; i < width; i++) {
        product += (int32_t)decision_theme_number(a, i) * (int32_t)decision_theme_number(b, i);
    }
    return (double)product / ((double)THEME_SCALE * THEME_SCALE);
}

static void compare(const struct similar_query *query, const struct decision_theme *theme,
                    const struct key *agent, struct slice value, struct similar_match *match,
                    struct similar_matches *matches)
{
    struct slice numbers = slice_after(value, KEY_HASH_BYTES);

    if (match->seq == query->seq || numbers.size != theme->numbers.size ||
        (query->agent.size > 0 && memcmp(value.data, agent->bytes, KEY_HASH_BYTES) != 0)) {
        return;
    }
    match->cosine = cosine_of(theme->numbers, numbers);
    match->shown = theme_show(theme->kind, match->cosine);
    if (match->shown >= query->threshold) {
        keep(matches, query->limit, match);
    }
}

static enum err search(struct store_txn *txn, const struct similar_query *query,
                       const struct decision_theme *theme, struct similar_matches *matches)
{
    const struct scan_range range = {.table = TABLE_DECISION_THEME,
                                     .prefix = key_decision_theme_prefix(query->org, theme->space),
                                     .order = STORE_ASCENDING,
                                     .rows_max = SIMILAR_ROWS_MAX};
    struct key agent = {.size = 0};
    struct scan scan = {0};
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = scan_init(&scan, txn, &range);

    key_put_hash(&agent, query->agent);
    while (err == OK) {
        struct similar_match match = {.seq = 0};

        err = scan_next(&scan, &key, &value);
        if (err == OK) {
            err =
                value.size < KEY_HASH_BYTES ? ERR_CORRUPT : key_read_decision_seq(key, &match.seq);
        }
        if (err == OK && scan.row_count % ROWS_BETWEEN_LOOKS == 0 &&
            query->is_cancelled(query->user)) {
            err = ERR_CANCELLED;
        }
        if (err == OK) {
            compare(query, theme, &agent, value, &match, matches);
        }
    }
    scan_deinit(&scan);
    return err == ERR_NOT_FOUND ? OK : err;
}

enum err decision_find_similar(struct store_txn *txn, const struct similar_query *query,
                               struct similar_matches *ret_matches)
{
    struct decision_theme theme = query->theme;
    struct decision_view view;
    struct event event;
    enum err err = OK;

    ret_matches->count = 0;
    if (query->seq != 0) {
        err = decision_read(txn, query->org, query->seq, &event, &view);
    }
    if (err == OK && query->seq != 0) {
        err = decision_theme_read(&view, &theme);
    }
    if (err != OK) {
        return err;
    }
    ret_matches->space = theme.space;
    return theme.numbers.size == 0 ? OK : search(txn, query, &theme, ret_matches);
}
