/*
 * json_equal.c: compares two checked values as JSON. Containers are walked side by side on an
 * explicit stack. Objects whose members are in the same order are compared as they are read; from
 * the first different key on, the rest of both is sorted by key, in memory that the level of
 * nesting keeps for the next object.
 */
#include "store/base/json_internal.h"

struct member {
    struct slice name; /* unescaped */
    struct json_value value;
};

/* The rest of one object's members, by name. */
struct sorted {
    struct member *members;
    size_t count;
    size_t capacity;
};

struct level {
    struct json_walk walks[2];
    struct sorted sorted[2];
    size_t next; /* index in both, once sorted */
    bool is_sorted;
};

enum pair_result {
    PAIR_FOUND,
    PAIR_NONE, /* both lists have ended */
    PAIR_DIFFERENT,
    PAIR_NO_MEMORY
};

struct comparison {
    struct arena *arena;
    struct level *levels; /* JSON_DEPTH_MAX */
    size_t depth;
};

/* Returns whether the digits are the same, ignoring decimal points. */
static bool digits_equal(struct slice a, struct slice b)
{
    size_t j = 0;

    for (size_t i = 0; i < a.size; i++) {
        if (a.data[i] == '.') {
            continue;
        }
        if (j < b.size && b.data[j] == '.') {
            j++;
        }
        if (j >= b.size || a.data[i] != b.data[j]) {
            return false;
        }
        j++;
    }
    return j == b.size;
}

static bool is_decimal(struct slice text)
{
    uint8_t last = text.data[text.size - 1];

    return last >= '0' && last <= '9'; /* false for NaN and Infinity */
}

/* Compares exactly, as decimals of any size. An exponent of more than 17 digits equals only
 * itself. */
static bool numbers_equal(struct slice a, struct slice b)
{
    struct json_decimal x;
    struct json_decimal y;

    if (slice_equal(a, b)) {
        return true;
    }
    if (!is_decimal(a) || !is_decimal(b)) {
        return false;
    }
    x = json_decimal_of(a);
    y = json_decimal_of(b);
    if (x.digits.size == 0 || y.digits.size == 0) {
        return x.digits.size == y.digits.size; /* true for zeros, also -0 and 0e9 */
    }
    return x.is_negative == y.is_negative && !x.is_huge && !y.is_huge && x.exponent == y.exponent &&
           digits_equal(x.digits, y.digits);
}

static bool strings_equal(struct slice a, struct slice b)
{
    struct slice x = json_unquoted(a);
    struct slice y = json_unquoted(b);

    if (slice_equal(x, y)) {
        return true;
    }
    while (x.size > 0 && y.size > 0) {
        uint8_t from_x[4];
        uint8_t from_y[4];
        size_t size_x = json_decode_next(&x, from_x);
        size_t size_y = json_decode_next(&y, from_y);

        if (size_x != size_y || memcmp(from_x, from_y, size_x) != 0) {
            return false;
        }
    }
    return x.size == y.size;
}

static bool add_member(struct arena *arena, struct sorted *sorted, struct slice key,
                       struct json_value value)
{
    struct slice name = {NULL, 0};

    if (sorted->count == sorted->capacity) {
        size_t capacity = sorted->capacity == 0 ? 16 : sorted->capacity * 2;
        struct member *members = arena_alloc(arena, capacity * sizeof(*members));

        if (members == NULL) {
            return false;
        }
        if (sorted->count > 0) {
            memcpy(members, sorted->members, sorted->count * sizeof(*members));
        }
        sorted->members = members;
        sorted->capacity = capacity;
    }
    if (json_string(arena, key, &name) != OK) {
        return false;
    }
    sorted->members[sorted->count++] = (struct member){name, value};
    return true;
}

/* Heapsort: no extra memory, and never quadratic. */
static void sift_down(struct member *members, size_t root, size_t count)
{
    while (2 * root + 1 < count) {
        size_t child = 2 * root + 1;
        struct member moved = members[root];

        if (child + 1 < count && slice_compare(members[child].name, members[child + 1].name) < 0) {
            child++;
        }
        if (slice_compare(members[root].name, members[child].name) >= 0) {
            return;
        }
        members[root] = members[child];
        members[child] = moved;
        root = child;
    }
}

static void sort_members(struct sorted *sorted)
{
    for (size_t root = sorted->count / 2; root > 0; root--) {
        sift_down(sorted->members, root - 1, sorted->count);
    }
    for (size_t count = sorted->count; count > 1; count--) {
        struct member last = sorted->members[count - 1];

        sorted->members[count - 1] = sorted->members[0];
        sorted->members[0] = last;
        sift_down(sorted->members, 0, count - 1);
    }
}

/* Collects and sorts the member just read and all that follow it. */
static bool sort_rest(struct arena *arena, struct level *level, size_t side, struct slice key,
                      struct json_value value)
{
    struct sorted *sorted = &level->sorted[side];

    sorted->count = 0;
    do {
        if (!add_member(arena, sorted, key, value)) {
            return false;
        }
    } while (json_walk_next(&level->walks[side], &key, &value));
    sort_members(sorted);
    return true;
}

static enum pair_result next_sorted(struct level *level, struct json_value values[2])
{
    const struct member *members[2] = {NULL, NULL};

    if (level->next == level->sorted[0].count) {
        return PAIR_NONE;
    }
    for (size_t side = 0; side < 2; side++) {
        members[side] = &level->sorted[side].members[level->next];
        values[side] = members[side]->value;
    }
    level->next++;
    return slice_equal(members[0]->name, members[1]->name) ? PAIR_FOUND : PAIR_DIFFERENT;
}

static enum pair_result next_pair(struct arena *arena, struct level *level,
                                  struct json_value values[2])
{
    struct slice keys[2] = {{NULL, 0}, {NULL, 0}};
    bool is_there[2] = {false, false};

    if (level->is_sorted) {
        return next_sorted(level, values);
    }
    for (size_t side = 0; side < 2; side++) {
        is_there[side] = json_walk_next(&level->walks[side], &keys[side], &values[side]);
    }
    if (is_there[0] != is_there[1]) {
        return PAIR_DIFFERENT;
    }
    if (!is_there[0]) {
        return PAIR_NONE;
    }
    if (!level->walks[0].is_object || strings_equal(keys[0], keys[1])) {
        return PAIR_FOUND;
    }
    for (size_t side = 0; side < 2; side++) {
        if (!sort_rest(arena, level, side, keys[side], values[side])) {
            return PAIR_NO_MEMORY;
        }
    }
    if (level->sorted[0].count != level->sorted[1].count) {
        return PAIR_DIFFERENT;
    }
    level->is_sorted = true;
    level->next = 0;
    return next_sorted(level, values);
}

/* Compares scalars; opens a level for containers. */
static bool compare_pair(struct comparison *comparison, const struct json_value values[2])
{
    struct level *level = NULL;

    if (values[0].kind != values[1].kind) {
        return false;
    }
    switch (values[0].kind) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE:
        return true;
    case JSON_NUMBER:
        return numbers_equal(values[0].text, values[1].text);
    case JSON_STRING:
        return strings_equal(values[0].text, values[1].text);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    if (comparison->levels == NULL || comparison->depth == JSON_DEPTH_MAX) {
        return false; /* nested deeper than any check accepts */
    }
    level = &comparison->levels[comparison->depth++];
    level->walks[0] = json_walk_start(values[0]);
    level->walks[1] = json_walk_start(values[1]);
    level->is_sorted = false;
    return true;
}

enum err json_equal(struct arena *arena, struct json_value a, struct json_value b, bool *ret_equal)
{
    struct comparison comparison = {.arena = arena};
    struct json_value values[2] = {a, b};
    bool is_equal = false;

    if (a.kind != b.kind || slice_equal(a.text, b.text)) {
        *ret_equal = a.kind == b.kind;
        return OK;
    }
    if (a.kind == JSON_ARRAY || a.kind == JSON_OBJECT) {
        comparison.levels = arena_calloc(arena, JSON_DEPTH_MAX, sizeof(*comparison.levels));
        if (comparison.levels == NULL) {
            return ERR_MEMORY;
        }
    }
    is_equal = compare_pair(&comparison, values);
    while (is_equal && comparison.depth > 0) {
        enum pair_result result =
            next_pair(arena, &comparison.levels[comparison.depth - 1], values);

        if (result == PAIR_NO_MEMORY) {
            return ERR_MEMORY;
        }
        if (result == PAIR_NONE) {
            comparison.depth--;
        } else {
            is_equal = result == PAIR_FOUND && compare_pair(&comparison, values);
        }
    }
    *ret_equal = is_equal;
    return OK;
}
