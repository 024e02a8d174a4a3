/*
 * strategy_index.c: see strategy_index.h. Each organisation has a place with its own lock, so that
 * catching up and searching one organisation does not delay others. The columns of a place are in
 * an arena, which is replaced when they grow.
 */
#include "server/domain/turns/strategy_index.h"

#include "server/domain/events/removal.h"
#include "server/domain/text/case_fold.h"
#include "server/domain/vectors/vectors.h"
#include "store/base/assert.h"
#include "store/base/bytes.h"
#include "store/base/sha256.h"

#include <errata/v1/event.views.h>
#include <event_apply.h>
#include <pthread.h>

#define ROOM_MIN 256
/* Bytes of the columns of a row, and of an arena's overhead. */
#define ROW_BYTES (4 * sizeof(uint64_t) + 2 + VECTORS_SKETCH_BYTES)
#define ARENA_SPARE_BYTES ((size_t)1 << 20)
/* Number of events after which cancellation is checked, and the scratch memory reset. */
#define EVENTS_PER_LOOK 64
#define SCRATCH_BYTES ((size_t)32 << 20)

/* The rows of one organisation. */
struct place {
    struct strategy_rows rows; /* guarded by `lock` */
    pthread_mutex_t lock;
    struct org_id org; /* this and the following members are guarded by the index's lock */
    bool is_taken;
    uint32_t users; /* number of calls that hold or wait for `lock` */
    uint64_t used_at;
    size_t kept_rows; /* when the last use ended */
};

struct strategy_index {
    pthread_mutex_t lock;
    uint64_t uses;
    struct place places[STRATEGY_ORGS_MAX];
};

enum err strategy_index_new(struct arena *arena, struct strategy_index **ret_index)
{
    struct strategy_index *index = arena_calloc(arena, 1, sizeof(*index));

    if (index == NULL || pthread_mutex_init(&index->lock, NULL) != 0) {
        return ERR_MEMORY;
    }
    for (size_t i = 0; i < STRATEGY_ORGS_MAX; i++) {
        if (pthread_mutex_init(&index->places[i].lock, NULL) != 0) {
            return ERR_MEMORY;
        }
    }
    *ret_index = index;
    return OK;
}

void strategy_index_deinit(struct strategy_index *index)
{
    for (size_t i = 0; index != NULL && i < STRATEGY_ORGS_MAX; i++) {
        ASSERT(index->places[i].users == 0);
        arena_deinit(&index->places[i].rows.arena);
        (void)pthread_mutex_destroy(&index->places[i].lock);
    }
    if (index != NULL) {
        (void)pthread_mutex_destroy(&index->lock);
    }
}

static void empty_rows(struct strategy_rows *rows)
{
    arena_deinit(&rows->arena);
    *rows = (struct strategy_rows){.count = 0};
}

/* Copies the columns into an arena with more room. */
static enum err grow(struct strategy_rows *rows)
{
    size_t room = rows->room < ROOM_MIN ? ROOM_MIN : rows->room + rows->room / 2;
    struct strategy_rows bigger = *rows;
    bool is_made = false;

    arena_init(&bigger.arena, room * ROW_BYTES + ARENA_SPARE_BYTES);
    bigger.room = room;
    bigger.seqs = arena_calloc(&bigger.arena, room, sizeof(uint64_t));
    bigger.marks = arena_calloc(&bigger.arena, room, sizeof(uint64_t));
    bigger.strategies = arena_calloc(&bigger.arena, room, sizeof(uint64_t));
    bigger.intents = arena_calloc(&bigger.arena, room, sizeof(uint64_t));
    bigger.statuses = arena_calloc(&bigger.arena, room, 1);
    bigger.spaces = arena_calloc(&bigger.arena, room, 1);
    bigger.sketches = arena_calloc(&bigger.arena, room, VECTORS_SKETCH_BYTES);
    is_made = bigger.seqs != NULL && bigger.marks != NULL && bigger.strategies != NULL &&
              bigger.intents != NULL && bigger.statuses != NULL && bigger.spaces != NULL &&
              bigger.sketches != NULL;
    if (!is_made) {
        arena_deinit(&bigger.arena);
        return ERR_MEMORY;
    }
    if (rows->count > 0) {
        memcpy(bigger.seqs, rows->seqs, rows->count * sizeof(uint64_t));
        memcpy(bigger.marks, rows->marks, rows->count * sizeof(uint64_t));
        memcpy(bigger.strategies, rows->strategies, rows->count * sizeof(uint64_t));
        memcpy(bigger.intents, rows->intents, rows->count * sizeof(uint64_t));
        memcpy(bigger.statuses, rows->statuses, rows->count);
        memcpy(bigger.spaces, rows->spaces, rows->count);
        memcpy(bigger.sketches, rows->sketches, rows->count * VECTORS_SKETCH_BYTES);
    }
    arena_deinit(&rows->arena);
    for (size_t i = 0; i < bigger.space_count; i++) {
        bigger.space_names[i].data = rows->space_bytes[i];
    }
    *rows = bigger;
    return OK;
}

uint8_t strategy_space(const struct strategy_rows *rows, struct slice space)
{
    for (size_t i = 0; i < rows->space_count; i++) {
        if (slice_equal(rows->space_names[i], space)) {
            return (uint8_t)i;
        }
    }
    return STRATEGY_NO_SPACE;
}

/* Returns the number of a space, which is added if it is new and there is room. */
static uint8_t add_space(struct strategy_rows *rows, struct slice space)
{
    uint8_t found = strategy_space(rows, space);
    size_t at = rows->space_count;

    if (found != STRATEGY_NO_SPACE || at == STRATEGY_SPACES_MAX ||
        space.size > TURN_SPACE_BYTES_MAX) {
        return found;
    }
    memcpy(rows->space_bytes[at], space.data, space.size);
    rows->space_names[at] = slice_of(rows->space_bytes[at], space.size);
    rows->space_count++;
    return (uint8_t)at;
}

static uint64_t hash_of(struct slice bytes)
{
    struct sha256_digest digest = sha256(bytes);
    uint64_t hash = bytes_get_be64(digest.bytes);

    return hash == 0 ? 1 : hash;
}

uint64_t intent_hash(struct slice intent)
{
    return intent.size == 0 ? 0 : hash_of(intent);
}

enum err strategy_hash(struct arena *arena, struct slice strategy, uint64_t *ret_hash)
{
    struct turn_strategy_view view;
    struct slice folded = {NULL, 0};
    struct slice both = {NULL, 0};
    enum err err = OK;

    *ret_hash = 0;
    if (strategy.size == 0) {
        return OK;
    }
    err = turn_strategy_view_read(strategy, &view);
    if (err == OK) {
        err = case_fold(arena, view.text, &folded);
    }
    if (err != OK) {
        return err;
    }
    both = arena_printf(arena, "%.*s\n%.*s", (int)view.tool.size, (const char *)view.tool.data,
                        (int)folded.size, (const char *)folded.data);
    if (both.data == NULL) {
        return ERR_MEMORY;
    }
    *ret_hash = hash_of(both);
    return OK;
}

/* Notes by which event a turn was erased. */
static enum err note_erased(struct strategy_rows *rows, struct store_txn *txn,
                            const struct event *event)
{
    struct key key = key_removal_erased(event->org, event->seq);
    uint64_t seq = 0;
    enum err err =
        event->content_removed ? log_get_id_row(txn, TABLE_REMOVAL_FLOOR, &key, &seq) : OK;

    rows->erased_by_seq = seq > rows->erased_by_seq ? seq : rows->erased_by_seq;
    return err;
}

static enum err add_turn(struct strategy_rows *rows, struct arena *scratch, struct store_txn *txn,
                         const struct event *event)
{
    struct turn_view view;
    struct turn_vector vector;
    size_t at = rows->count;
    enum err err = turn_view_of_event(event, &view);

    if (err == OK && at == rows->room) {
        err = grow(rows);
    }
    if (err == OK) {
        err = strategy_hash(scratch, view.strategy, &rows->strategies[at]);
    }
    if (err == OK) {
        err = turn_vector_read(scratch, txn, event->org, event->seq, &vector);
        rows->spaces[at] = err == OK ? add_space(rows, vector.space) : STRATEGY_NO_SPACE;
        if (err == OK) {
            vectors_sketch(vector.values, vector.width, rows->sketches + at * VECTORS_SKETCH_BYTES);
        }
        err = err == ERR_NOT_FOUND ? OK : err;
    }
    if (err == OK) {
        err = note_erased(rows, txn, event);
    }
    if (err == OK) {
        rows->seqs[at] = event->seq;
        rows->marks[at] = 0;
        rows->intents[at] = intent_hash(view.intent);
        rows->statuses[at] = TURN_STATUS_NEUTRAL;
        rows->count++;
    }
    return err;
}

/* Returns the row of the turn that an event recorded; `count` if it has none, as turns beyond STRATEGY_TURNS_MAX. */
static size_t find_row(const struct strategy_rows *rows, uint64_t turn_seq)
{
    size_t low = 0;
    size_t high = rows->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows->seqs[middle] < turn_seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rows->count && rows->seqs[low] == turn_seq ? low : rows->count;
}

/* Sets the status of the turn that an event recorded. */
static void mark(struct strategy_rows *rows, uint64_t turn_seq, uint64_t seq, uint8_t status)
{
    size_t at = find_row(rows, turn_seq);

    if (at < rows->count) {
        rows->statuses[at] = status;
        rows->marks[at] = seq;
    }
}

/* Forgets what was made of the content of turns that were erased. */
static enum err forget_erased(struct strategy_rows *rows, const struct event *event)
{
    struct content_erased_view view;
    uint64_t seq = 0;
    enum err err = content_erased_view_read(event->facts, &view);

    while (err == OK && view_next_number(&view.seqs.run, &seq)) {
        size_t at = find_row(rows, seq);

        if (at < rows->count) {
            rows->strategies[at] = 0;
            rows->spaces[at] = STRATEGY_NO_SPACE;
            memset(rows->sketches + at * VECTORS_SKETCH_BYTES, 0, VECTORS_SKETCH_BYTES);
        }
    }
    return err;
}

static enum err apply_event(struct strategy_rows *rows, struct arena *scratch,
                            struct store_txn *txn, const struct event *event)
{
    struct feedback_detected_view detected;
    struct turn_feedback_set_view set;
    enum err err = OK;

    if (event->kind == EVENT_TURN_RECORDED) {
        rows->is_cut = rows->is_cut || rows->count == STRATEGY_TURNS_MAX;
        return rows->count < STRATEGY_TURNS_MAX ? add_turn(rows, scratch, txn, event) : OK;
    }
    if (event->kind == EVENT_CONTENT_ERASED) {
        return forget_erased(rows, event);
    }
    if (event->kind == EVENT_FEEDBACK_DETECTED) {
        err = feedback_detected_view_read(event->facts, &detected);
        if (err == OK && detected.marked) {
            mark(rows, detected.previous_seq, event->seq, (uint8_t)detected.feedback_type);
        }
    }
    if (event->kind == EVENT_TURN_FEEDBACK_SET) {
        err = turn_feedback_set_view_read(event->facts, &set);
        if (err == OK) {
            mark(rows, set.turn_seq, event->seq, (uint8_t)set.status);
        }
    }
    return err;
}

/* Applies the events that the transaction has after those that were applied, up to `last_seq`. */
static enum err catch_up(struct strategy_rows *rows, struct store_txn *txn, struct org_id org,
                         uint64_t last_seq, const atomic_bool *cancelled)
{
    struct arena scratch;
    struct log_head head;
    struct event event;
    enum err err = log_read_head(txn, org, &head);

    arena_init(&scratch, SCRATCH_BYTES);
    while (err == OK && rows->applied_seq < head.last_seq && rows->applied_seq < last_seq) {
        if (rows->applied_seq % EVENTS_PER_LOOK == 0) {
            arena_reset(&scratch);
            if (atomic_load_explicit(cancelled, memory_order_relaxed)) {
                err = ERR_CANCELLED;
                break;
            }
        }
        err = log_read(txn, org, rows->applied_seq + 1, &event);
        if (err == OK) {
            err = apply_event(rows, &scratch, txn, &event);
        }
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        rows->applied_seq += err == OK;
    }
    arena_deinit(&scratch);
    return err;
}

/* Returns the organisation's place, else a free one, else the least recently used; NULL if all are in use. */
static struct place *find_place(struct strategy_index *index, struct org_id org)
{
    struct place *best = NULL;

    for (size_t i = 0; i < STRATEGY_ORGS_MAX; i++) {
        struct place *place = &index->places[i];

        if (place->is_taken && memcmp(&place->org, &org, sizeof(org)) == 0) {
            return place;
        }
        if (place->users == 0 && (best == NULL || place->used_at < best->used_at)) {
            best = place;
        }
    }
    return best;
}

enum err strategy_index_begin(struct strategy_index *index, struct store_txn *txn,
                              struct org_id org, const atomic_bool *cancelled,
                              const struct strategy_rows **ret_rows)
{
    struct place *place = NULL;
    enum err err = OK;

    (void)pthread_mutex_lock(&index->lock);
    place = find_place(index, org);
    if (place == NULL) {
        (void)pthread_mutex_unlock(&index->lock);
        return ERR_BUSY;
    }
    if (!place->is_taken || memcmp(&place->org, &org, sizeof(org)) != 0) {
        empty_rows(&place->rows); /* it is not in use */
        place->org = org;
        place->is_taken = true;
    }
    place->users++;
    (void)pthread_mutex_unlock(&index->lock);
    (void)pthread_mutex_lock(&place->lock);
    err = catch_up(&place->rows, txn, org, UINT64_MAX, cancelled);
    *ret_rows = &place->rows;
    if (err != OK) {
        strategy_index_end(index, &place->rows);
    }
    return err;
}

/* Empties places that are not in use, least recently used first, while too many turns are kept. */
static void evict(struct strategy_index *index)
{
    for (size_t round = 0; round < STRATEGY_ORGS_MAX; round++) {
        struct place *oldest = NULL;
        size_t kept = 0;

        for (size_t i = 0; i < STRATEGY_ORGS_MAX; i++) {
            struct place *place = &index->places[i];

            kept += place->kept_rows;
            if (place->users == 0 && place->kept_rows > 0 &&
                (oldest == NULL || place->used_at < oldest->used_at)) {
                oldest = place;
            }
        }
        if (kept <= STRATEGY_KEPT_TURNS_MAX || oldest == NULL) {
            return;
        }
        empty_rows(&oldest->rows);
        oldest->kept_rows = 0;
        oldest->is_taken = false;
        oldest->used_at = 0;
    }
}

void strategy_index_end(struct strategy_index *index, const struct strategy_rows *rows)
{
    struct place *place = NULL;
    size_t kept = rows->count;

    for (size_t i = 0; i < STRATEGY_ORGS_MAX; i++) {
        place = rows == &index->places[i].rows ? &index->places[i] : place;
    }
    ASSERT(place != NULL);
    (void)pthread_mutex_unlock(&place->lock);
    (void)pthread_mutex_lock(&index->lock);
    place->users--;
    index->uses++;
    place->used_at = index->uses;
    place->kept_rows = kept;
    evict(index);
    (void)pthread_mutex_unlock(&index->lock);
}

enum err strategy_rows_make(struct strategy_rows *rows, struct store_txn *txn, struct org_id org,
                            uint64_t as_of_seq, const atomic_bool *cancelled)
{
    *rows = (struct strategy_rows){.count = 0};
    return catch_up(rows, txn, org, as_of_seq, cancelled);
}

void strategy_rows_free(struct strategy_rows *rows)
{
    empty_rows(rows);
}
