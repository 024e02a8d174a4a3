/*
 * strategies.c: see strategies.h. The scan of sketches and the exact comparison are those of
 * server/domain/vectors; this file selects by status, excludes rejected strategies, sorts and
 * counts.
 */
#include "server/domain/turns/strategies.h"

#include "server/domain/embed/calibration.h"
#include "server/domain/vectors/vectors.h"

#include <stdlib.h>

/* Slots of a table of strategies, which never has more than VECTORS_EXACT_ROWS entries. */
#define TABLE_PLACES 2048

/* The marks of a strategy. */
struct strategy_fact {
    uint64_t strategy; /* 0: the slot is empty */
    uint64_t rejected_at; /* last mark of a rejected turn with such a query */
    uint64_t accepted_at; /* last mark of an accepted turn */
    uint32_t accepted;
    uint32_t rejected;
};

/* Strategies by their hash. */
struct strategy_table {
    struct strategy_fact places[TABLE_PLACES];
};

struct search {
    struct arena *arena;
    struct store_txn *txn;
    const struct strategy_query *query;
    const struct vector_rows *rows;
    size_t row_count; /* statuses and marks in the transaction */
    const uint8_t *statuses; /* statuses of the rows, as the transaction has them */
    const uint64_t *marks; /* marks of the rows, as the transaction has them */
    float *vector; /* vector of the row that is compared */
    struct strategy_table *table;
    struct strategy_match
        *found[TURN_STATUS_NEUTRAL + 1]; /* found turns by status, most similar first */
    size_t found_counts[TURN_STATUS_NEUTRAL + 1];
};

/* Returns the slot of a strategy, or the empty slot for it. */
static struct strategy_fact *place_of(struct strategy_table *table, uint64_t strategy)
{
    size_t at = strategy % TABLE_PLACES;

    while (table->places[at].strategy != 0 && table->places[at].strategy != strategy) {
        at = (at + 1) % TABLE_PLACES;
    }
    return &table->places[at];
}

static const float *read_vector(void *user, uint32_t row)
{
    struct search *search = user;
    enum err err = turn_vector_load(search->txn, search->query->org, search->rows->seqs[row],
                                    &search->query->vector, search->vector);

    return err == OK ? search->vector : NULL;
}

/* Returns the kind of each row: its status, if its vector is comparable. */
static uint8_t *make_kinds(struct search *search, struct strategies *strategies)
{
    uint8_t space = vector_rows_space(search->rows, search->query->vector.space);
    uint8_t *kinds = arena_alloc(search->arena, search->row_count + 1);

    for (size_t i = 0; kinds != NULL && i < search->row_count; i++) {
        bool is_comparable = space != VECTOR_INDEX_NO_SPACE && search->rows->spaces[i] == space;

        kinds[i] = is_comparable ? search->statuses[i] : VECTORS_KINDS;
        strategies->searched += is_comparable;
    }
    strategies->incomparable = search->row_count - strategies->searched;
    return kinds;
}

/* Sets the shown similarity of a match. Different numbers and opposite words limit it, if the words are known. */
static enum err show(struct search *search, struct strategy_match *match, uint32_t row)
{
    const struct strategy_query *query = search->query;
    struct calibration calibration;
    enum err err = OK;

    if (query->vector.is_callers) {
        match->similarity = match->cosine > 0 ? match->cosine : 0;
        return OK;
    }
    match->similarity = calibration_show(CALIBRATION_QUERY, query->vector.kind, match->cosine);
    if (match->similarity <= CALIBRATION_VETO_SHOWN_MAX || query->text.size == 0) {
        return OK;
    }
    if (read_vector(search, row) == NULL) {
        return ERR_CORRUPT;
    }
    err = calibration_compare(query->embedder, search->arena, CALIBRATION_QUERY,
                              (const struct slice[]){query->text, match->turn.query},
                              (const float *const[]){query->vector.values, search->vector},
                              &calibration);
    match->similarity = err == OK ? calibration.shown : match->similarity;
    return err;
}

static enum err make_match(struct search *search, const struct vectors_match *found,
                           struct strategy_match *ret_match)
{
    const struct vector_rows *rows = search->rows;
    struct strategy_match match = {
        .seq = rows->seqs[found->row],
        .status = (enum turn_status)search->statuses[found->row],
        .cosine = found->cosine,
        .strategy = rows->columns[STRATEGY_HASH][found->row],
        .mark = search->marks[found->row],
    };
    enum err err = log_read(search->txn, search->query->org, match.seq, &match.event);

    if (err == OK) {
        err = turn_view_of_event(&match.event, &match.turn);
    }
    if (err == OK) {
        match.ranking = turn_ranking(match.turn.quality_score, match.status);
        err = show(search, &match, found->row);
    }
    *ret_match = match;
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static int by_similarity(const void *a, const void *b)
{
    const struct strategy_match *left = a;
    const struct strategy_match *right = b;

    if (left->similarity < right->similarity || left->similarity > right->similarity) {
        return left->similarity < right->similarity ? 1 : -1;
    }
    return left->seq < right->seq ? 1 : -(left->seq > right->seq);
}

/* Compares two turns: accepted ones first; then by rank, quality, time, and the order of recording. */
static int by_rank(const void *a, const void *b)
{
    const struct strategy_match *left = a;
    const struct strategy_match *right = b;

    if (left->status != right->status) {
        return left->status > right->status ? 1 : -1;
    }
    if (left->ranking < right->ranking || left->ranking > right->ranking) {
        return left->ranking < right->ranking ? 1 : -1;
    }
    if (left->turn.quality_score < right->turn.quality_score ||
        left->turn.quality_score > right->turn.quality_score) {
        return left->turn.quality_score < right->turn.quality_score ? 1 : -1;
    }
    if (left->event.created_at_us != right->event.created_at_us) {
        return left->event.created_at_us < right->event.created_at_us ? 1 : -1;
    }
    return left->seq < right->seq ? 1 : -(left->seq > right->seq);
}

/* Returns the shown similarity of a cosine, which different numbers and opposite words can only lower. */
static float show_at_most(const struct search *search, float cosine)
{
    const struct turn_vector *vector = &search->query->vector;

    if (vector->is_callers) {
        return cosine > 0 ? cosine : 0;
    }
    return calibration_show(CALIBRATION_QUERY, vector->kind, cosine);
}

/* Returns whether a turn of at most this similarity, and those after it, cannot change the result,
 * since there are enough more similar ones. All rejected turns with the same query count. */
static bool is_enough(const struct strategy_match *matches, size_t count, uint32_t status,
                      float similarity)
{
    size_t wanted =
        status == TURN_STATUS_REJECTED ? STRATEGY_AVOID_MAX : (size_t)STRATEGY_CANDIDATES_MAX;
    size_t better = 0;

    if (count < wanted || (status == TURN_STATUS_REJECTED && similarity >= STRATEGY_SAME_QUERY)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        better += matches[i].similarity > similarity;
    }
    return better >= wanted;
}

/* Keeps the turns of a status at or above the minimum similarity, most similar first, and no more than are used. */
static enum err keep(struct search *search, const struct vectors_found *found, uint32_t status)
{
    struct strategy_match *matches =
        arena_calloc(search->arena, found->count + 1, sizeof(*matches));
    size_t count = 0;
    enum err err = matches != NULL ? OK : ERR_MEMORY;

    for (size_t i = 0; err == OK && i < found->count; i++) {
        float similarity = show_at_most(search, found->matches[i].cosine);

        if (similarity < search->query->similarity_min ||
            is_enough(matches, count, status, similarity)) {
            break; /* all others are less similar */
        }
        err = make_match(search, &found->matches[i], &matches[count]);
        count += err == OK && matches[count].similarity >= search->query->similarity_min;
    }
    if (err == OK) {
        qsort(matches, count, sizeof(*matches), by_similarity);
        search->found[status] = matches;
        search->found_counts[status] = count;
    }
    return err;
}

static enum err scan(struct search *search, struct strategies *strategies)
{
    struct vectors_found found[VECTORS_KINDS] = {{.count = 0}};
    struct vectors_rows rows = {
        .sketches = search->rows->sketches,
        .kinds = make_kinds(search, strategies),
        .count = search->row_count,
        .width = search->query->vector.width,
        .read = read_vector,
        .user = search,
    };
    enum err err = OK;

    search->vector =
        (float *)arena_alloc(search->arena, (search->query->vector.width + 1) * sizeof(float));
    if (rows.kinds == NULL || search->vector == NULL) {
        return ERR_MEMORY;
    }
    if (strategies->searched == 0) {
        return OK;
    }
    err = vectors_search(&rows, vectors_best_path(), search->arena, search->query->vector.values, 0,
                         found);
    for (uint32_t status = TURN_STATUS_REJECTED; err == OK && status <= TURN_STATUS_NEUTRAL;
         status++) {
        err = keep(search, &found[status], status);
    }
    return err;
}

/* Records for each strategy when it was last rejected for a similar query, and when it was last
 * accepted for any query. */
static void note_rejections(struct search *search)
{
    for (size_t i = 0; i < search->found_counts[TURN_STATUS_REJECTED]; i++) {
        const struct strategy_match *match = &search->found[TURN_STATUS_REJECTED][i];

        if (match->similarity >= STRATEGY_SAME_QUERY && match->strategy != 0) {
            struct strategy_fact *fact = place_of(search->table, match->strategy);

            fact->strategy = match->strategy;
            fact->rejected_at = match->mark > fact->rejected_at ? match->mark : fact->rejected_at;
        }
    }
    for (size_t i = 0; i < search->row_count; i++) {
        if (search->statuses[i] == TURN_STATUS_ACCEPTED) {
            struct strategy_fact *fact =
                place_of(search->table, search->rows->columns[STRATEGY_HASH][i]);

            if (fact->strategy != 0 && search->marks[i] > fact->accepted_at) {
                fact->accepted_at = search->marks[i];
            }
        }
    }
}

static void add_avoid(struct strategies *strategies, const struct strategy_match *match)
{
    if (strategies->avoid_count < STRATEGY_AVOID_MAX) {
        strategies->avoid[strategies->avoid_count] = *match;
        strategies->avoid_count++;
    }
}

/* Selects the most similar turns of a status, except those with a rejected strategy. */
static void take(struct search *search, uint32_t status, struct strategies *strategies)
{
    size_t count = search->found_counts[status];

    for (size_t i = 0; i < count && i < STRATEGY_CANDIDATES_MAX; i++) {
        struct strategy_match *match = &search->found[status][i];
        const struct strategy_fact *fact = place_of(search->table, match->strategy);

        match->is_excluded = fact->strategy != 0 && fact->rejected_at > fact->accepted_at;
        if (match->is_excluded) {
            add_avoid(strategies, match);
        } else {
            strategies->items[strategies->count] = *match;
            strategies->count++;
        }
    }
}

/* Counts the feedback on the strategies of the response, with the intent. */
static void count_outcomes(struct search *search, struct strategies *strategies)
{
    uint64_t intent = intent_hash(search->query->intent);

    memset(search->table, 0, sizeof(*search->table));
    for (size_t i = 0; i < strategies->count; i++) {
        if (strategies->items[i].strategy != 0) {
            place_of(search->table, strategies->items[i].strategy)->strategy =
                strategies->items[i].strategy;
        }
    }
    for (size_t i = 0; i < search->row_count; i++) {
        struct strategy_fact *fact =
            place_of(search->table, search->rows->columns[STRATEGY_HASH][i]);
        bool counts = fact->strategy != 0 &&
                      (intent == 0 || search->rows->columns[STRATEGY_INTENT][i] == intent);

        fact->accepted += counts && search->statuses[i] == TURN_STATUS_ACCEPTED;
        fact->rejected += counts && search->statuses[i] == TURN_STATUS_REJECTED;
    }
    for (size_t i = 0; i < strategies->count; i++) {
        const struct strategy_fact *fact = place_of(search->table, strategies->items[i].strategy);

        strategies->items[i].accepted = fact->strategy != 0 ? fact->accepted : 0;
        strategies->items[i].rejected = fact->strategy != 0 ? fact->rejected : 0;
    }
}

static enum err search_rows(struct search *search, struct strategies *strategies)
{
    enum err err = OK;

    search->table = arena_calloc(search->arena, 1, sizeof(*search->table));
    strategies->items = arena_calloc(search->arena, 2 * (size_t)STRATEGY_CANDIDATES_MAX,
                                     sizeof(*strategies->items));
    strategies->avoid = arena_calloc(search->arena, STRATEGY_AVOID_MAX, sizeof(*strategies->avoid));
    if (search->table == NULL || strategies->items == NULL || strategies->avoid == NULL) {
        return ERR_MEMORY;
    }
    err = scan(search, strategies);
    if (err != OK) {
        return err;
    }
    note_rejections(search);
    for (size_t i = 0; i < search->found_counts[TURN_STATUS_REJECTED]; i++) {
        add_avoid(strategies, &search->found[TURN_STATUS_REJECTED][i]);
    }
    take(search, TURN_STATUS_ACCEPTED, strategies);
    take(search, TURN_STATUS_NEUTRAL, strategies);
    qsort(strategies->items, strategies->count, sizeof(*strategies->items), by_rank);
    if (strategies->count > search->query->limit) {
        strategies->count = search->query->limit;
    }
    count_outcomes(search, strategies);
    strategies->is_cut = search->rows->is_cut;
    return OK;
}

/* Reads the status of a turn, and the event that set it, in the transaction. */
static enum err read_status(struct search *search, uint64_t seq, uint8_t *status, uint64_t *mark)
{
    struct turn_record record;
    struct turn_hash hash;
    struct turn_view turn;
    struct event event;
    enum err err = log_read(search->txn, search->query->org, seq, &event);

    if (err == OK) {
        err = turn_view_of_event(&event, &turn);
    }
    if (err == OK) {
        hash = turn_hash_of(turn.session_id, turn.turn_id);
        err = turn_read(search->txn, search->query->org, &hash, &record);
    }
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    *status = (uint8_t)record.status;
    *mark = record.set_seq != 0 ? record.set_seq : record.marked_seq;
    return OK;
}

/* Sets the statuses of the rows. If another thread's transaction was newer, they are copied, and
 * those that were set later are read. */
static enum err take_statuses(struct search *search, uint64_t last_seq)
{
    const struct vector_rows *rows = search->rows;
    size_t count = search->row_count;
    uint8_t *statuses = NULL;
    uint64_t *marks = NULL;
    enum err err = OK;

    search->statuses = rows->kinds;
    search->marks = rows->columns[STRATEGY_MARK];
    if (rows->applied_seq <= last_seq || count == 0) {
        return OK;
    }
    statuses = arena_calloc(search->arena, count, sizeof(*statuses));
    marks = arena_calloc(search->arena, count, sizeof(*marks));
    if (statuses == NULL || marks == NULL) {
        return ERR_MEMORY;
    }
    memcpy(statuses, rows->kinds, count * sizeof(*statuses));
    memcpy(marks, rows->columns[STRATEGY_MARK], count * sizeof(*marks));
    for (size_t i = 0; err == OK && i < count; i++) {
        if (marks[i] > last_seq) {
            err = read_status(search, rows->seqs[i], &statuses[i], &marks[i]);
        }
    }
    search->statuses = statuses;
    search->marks = marks;
    return err;
}

/* Searches the rows of the index, without turns that the transaction does not have. */
static enum err search_now(struct search *search, struct vector_index *index,
                           struct strategies *strategies)
{
    const struct strategy_query *query = search->query;
    struct log_head head;
    enum err err = log_read_head(search->txn, query->org, &head);

    if (err == OK) {
        err = vector_index_begin(index, search->txn, query->org, query->cancelled, &search->rows);
    }
    if (err != OK) {
        return err;
    }
    search->row_count = search->rows->count;
    while (search->row_count > 0 && search->rows->seqs[search->row_count - 1] > head.last_seq) {
        search->row_count--;
    }
    err = take_statuses(search, head.last_seq);
    if (err == OK) {
        err = search_rows(search, strategies);
    }
    vector_index_end(index, search->rows);
    return err;
}

static enum err search_past(struct search *search, struct strategies *strategies)
{
    const struct strategy_query *query = search->query;
    struct vector_rows *rows = arena_calloc(search->arena, 1, sizeof(*rows));
    enum err err = OK;

    if (rows == NULL) {
        return ERR_MEMORY;
    }
    err = vector_rows_make(rows, &strategy_source, search->txn, query->org, query->as_of_seq,
                           query->cancelled);
    search->rows = rows;
    search->row_count = rows->count;
    if (err == OK) {
        err = take_statuses(search, query->as_of_seq);
    }
    if (err == OK) {
        err = search_rows(search, strategies);
    }
    strategies->misses_erased = rows->erased_by_seq > query->as_of_seq;
    vector_rows_free(rows);
    return err;
}

enum err strategies_search(struct arena *arena, struct store_txn *txn, struct vector_index *index,
                           const struct strategy_query *query, struct strategies *ret_strategies)
{
    struct search search = {.arena = arena, .txn = txn, .query = query};

    *ret_strategies = (struct strategies){.count = 0};
    return query->is_past ? search_past(&search, ret_strategies)
                          : search_now(&search, index, ret_strategies);
}
