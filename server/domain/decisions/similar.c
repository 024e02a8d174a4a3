/*
 * similar.c: see similar.h. The index is used only to select; what is returned was read from the tables, by the keys of the
 * organisation and the space of the query.
 */
#include "server/domain/decisions/similar.h"

#include "server/domain/decisions/keys.h"

/* Decisions that may be similar, in the order in which they were recorded. */
struct candidates {
    uint64_t seqs[SIMILAR_EXACT_ROWS];
    size_t count;
};

/* Query that decisions are compared with. */
struct comparison {
    const struct similar_query *query;
    const struct decision_theme *theme;
    struct key agent;
    int16_t *numbers; /* of the theme */
    size_t width;
    enum vectors_path path;
};

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

static double cosine_of(const struct comparison *comparison, struct slice numbers)
{
    int32_t product = vectors_multiply_numbers(comparison->path, comparison->numbers, numbers.data,
                                               comparison->width);

    return (double)product / ((double)THEME_SCALE * THEME_SCALE);
}

static void compare(const struct comparison *comparison, struct slice value,
                    struct similar_match *match, struct similar_matches *matches)
{
    const struct similar_query *query = comparison->query;
    struct slice numbers = slice_after(value, KEY_HASH_BYTES);

    if (match->seq == query->seq || numbers.size != comparison->theme->numbers.size ||
        (query->agent.size > 0 &&
         memcmp(value.data, comparison->agent.bytes, KEY_HASH_BYTES) != 0)) {
        return;
    }
    match->cosine = cosine_of(comparison, numbers);
    match->shown = theme_show(comparison->theme->kind, match->cosine);
    if (match->shown >= query->threshold) {
        keep(matches, query->limit, match);
    }
}

/* Compares the candidates, newest first. One that the transaction does not have is left out. */
static enum err compare_all(struct store_txn *txn, const struct comparison *comparison,
                            const struct candidates *candidates, struct similar_matches *matches)
{
    enum err err = OK;

    for (size_t i = candidates->count; i-- > 0 && err == OK;) {
        struct similar_match match = {.seq = candidates->seqs[i]};
        struct key key =
            key_decision_theme(comparison->query->org, comparison->theme->space, match.seq);
        struct slice value = {NULL, 0};

        err = store_get(txn, TABLE_DECISION_THEME, key_slice(&key), &value);
        if (err == OK && value.size < KEY_HASH_BYTES) {
            err = ERR_CORRUPT;
        }
        if (err == OK) {
            compare(comparison, value, &match, matches);
        }
        err = err == ERR_NOT_FOUND ? OK : err;
    }
    return err;
}

/* Selects the rows of the space, and of the agent if one is given. */
static uint8_t *make_kinds(struct arena *arena, const struct vector_rows *rows,
                           const struct similar_query *query, uint8_t space)
{
    uint64_t agent = similar_agent(query->agent);
    bool is_any = query->agent.size == 0;
    uint8_t *kinds = arena_alloc(arena, rows->count + 1);

    for (size_t i = 0; kinds != NULL && i < rows->count; i++) {
        bool fits =
            rows->spaces[i] == space && (is_any || rows->columns[SIMILAR_AGENT][i] == agent);

        kinds[i] = fits ? rows->kinds[i] : SIMILAR_LEFT_OUT;
    }
    return kinds;
}

/* Finds the rows with the best sketches; of equal ones, the newest. */
static enum err select_rows(struct arena *arena, const struct vector_rows *index_rows,
                            const struct similar_query *query, const struct decision_theme *theme,
                            struct candidates *ret_candidates)
{
    float values[VECTORS_WIDTH_MAX];
    struct vectors_candidates found;
    struct key key;
    uint8_t space = vector_rows_space(index_rows, similar_space(theme->space, &key));
    const struct vectors_rows rows = {
        .sketches = index_rows->sketches,
        .kinds = make_kinds(arena, index_rows, query, space),
        .count = index_rows->count,
        .width = similar_vector(theme->numbers, values),
        .prefers_later = true,
    };
    enum err err = rows.kinds == NULL ? ERR_MEMORY : OK;

    ret_candidates->count = 0;
    if (err != OK || space == VECTOR_INDEX_NO_SPACE) {
        return err;
    }
    err = vectors_find_candidates(&rows, vectors_best_path(), arena, values, SIMILAR_EXACT_ROWS,
                                  &found);
    for (size_t i = 0; err == OK && i < found.count; i++) {
        ret_candidates->seqs[i] = index_rows->seqs[found.rows[i]];
        ret_candidates->count = i + 1;
    }
    return err;
}

static enum err begin(struct arena *arena, const struct similar_query *query,
                      const struct decision_theme *theme, struct comparison *comparison)
{
    *comparison = (struct comparison){
        .query = query,
        .theme = theme,
        .width = theme->numbers.size / DECISION_THEME_NUMBER_BYTES,
        .path = vectors_best_path(),
    };
    key_put_hash(&comparison->agent, query->agent);
    comparison->numbers = arena_calloc(arena, comparison->width + 1, sizeof(int16_t));
    for (size_t i = 0; comparison->numbers != NULL && i < comparison->width; i++) {
        comparison->numbers[i] = decision_theme_number(theme->numbers, i);
    }
    return comparison->numbers == NULL ? ERR_MEMORY : OK;
}

static enum err search(struct arena *arena, struct store_txn *txn, struct vector_index *index,
                       const struct comparison *comparison, struct similar_matches *matches)
{
    const struct similar_query *query = comparison->query;
    const struct vector_rows *rows = NULL;
    struct candidates candidates;
    enum err err = vector_index_begin(index, txn, query->org, query->cancelled, &rows);

    if (err != OK) {
        return err;
    }
    err = select_rows(arena, rows, query, comparison->theme, &candidates);
    matches->is_cut = rows->is_cut;
    vector_index_end(index, rows);
    return err != OK ? err : compare_all(txn, comparison, &candidates, matches);
}

enum err decision_find_similar(struct arena *arena, struct store_txn *txn,
                               struct vector_index *index, const struct similar_query *query,
                               struct similar_matches *ret_matches)
{
    struct decision_theme theme = query->theme;
    struct comparison comparison;
    struct decision_view view;
    struct event event;
    enum err err = OK;

    ret_matches->count = 0;
    ret_matches->is_cut = false;
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
    if (theme.numbers.size == 0) {
        return OK;
    }
    err = begin(arena, query, &theme, &comparison);
    return err != OK ? err : search(arena, txn, index, &comparison, ret_matches);
}
