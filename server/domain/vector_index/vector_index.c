/*
 * vector_index.c: see vector_index.h. Each organisation has a place with its own lock, so that
 * catching up and searching one organisation does not delay others. The columns of a place are in
 * an arena, which is replaced when they grow.
 */
#include "server/domain/vector_index/vector_index.h"

#include "server/domain/vectors/vectors.h"
#include "store/base/assert.h"
#include "store/base/cancel.h"

#include <pthread.h>

#define ROOM_MIN 256
/* An arena's overhead. */
#define ARENA_SPARE_BYTES ((size_t)1 << 20)
/* Number of events after which cancellation is checked, and the scratch memory reset. */
#define EVENTS_PER_LOOK 64
#define SCRATCH_BYTES ((size_t)32 << 20)

/* The rows of one organisation. */
struct place {
    struct vector_rows rows; /* guarded by `lock` */
    pthread_mutex_t lock;
    struct org_id org; /* this and the following members are guarded by the index's lock */
    bool is_taken;
    bool is_forgotten; /* the organisation was deleted: the rows go with their last use */
    uint32_t users; /* number of calls that hold or wait for `lock` */
    uint64_t used_at;
    size_t kept_rows; /* when the last use ended */
};

struct vector_index {
    const struct vector_source *source;
    pthread_mutex_t lock;
    uint64_t uses;
    struct place places[VECTOR_INDEX_ORGS_MAX];
};

enum err vector_index_new(struct arena *arena, const struct vector_source *source,
                          struct vector_index **ret_index)
{
    struct vector_index *index = arena_calloc(arena, 1, sizeof(*index));

    ASSERT(source->column_count <= VECTOR_INDEX_COLUMNS_MAX);
    if (index == NULL || pthread_mutex_init(&index->lock, NULL) != 0) {
        return ERR_MEMORY;
    }
    index->source = source;
    for (size_t i = 0; i < VECTOR_INDEX_ORGS_MAX; i++) {
        if (pthread_mutex_init(&index->places[i].lock, NULL) != 0) {
            return ERR_MEMORY;
        }
    }
    *ret_index = index;
    return OK;
}

void vector_index_deinit(struct vector_index *index)
{
    for (size_t i = 0; index != NULL && i < VECTOR_INDEX_ORGS_MAX; i++) {
        ASSERT(index->places[i].users == 0);
        arena_deinit(&index->places[i].rows.arena);
        (void)pthread_mutex_destroy(&index->places[i].lock);
    }
    if (index != NULL) {
        (void)pthread_mutex_destroy(&index->lock);
    }
}

static void empty_rows(struct vector_rows *rows)
{
    arena_deinit(&rows->arena);
    *rows = (struct vector_rows){.count = 0};
}

/* Allocates the columns of `room` rows in the arena of `rows`. */
static bool allocate(struct vector_rows *rows, size_t column_count, size_t room)
{
    bool is_made = true;

    rows->room = room;
    rows->seqs = arena_calloc(&rows->arena, room, sizeof(uint64_t));
    rows->kinds = arena_calloc(&rows->arena, room, 1);
    rows->spaces = arena_calloc(&rows->arena, room, 1);
    rows->sketches = arena_calloc(&rows->arena, room, VECTORS_SKETCH_BYTES);
    for (size_t i = 0; i < column_count; i++) {
        rows->columns[i] = arena_calloc(&rows->arena, room, sizeof(uint64_t));
        is_made = is_made && rows->columns[i] != NULL;
    }
    return is_made && rows->seqs != NULL && rows->kinds != NULL && rows->spaces != NULL &&
           rows->sketches != NULL;
}

/* Copies the columns into an arena with more room. */
static enum err grow(struct vector_rows *rows, size_t column_count)
{
    size_t room = rows->room < ROOM_MIN ? ROOM_MIN : rows->room + rows->room / 2;
    size_t row_bytes = (1 + column_count) * sizeof(uint64_t) + 2 + VECTORS_SKETCH_BYTES;
    struct vector_rows bigger = *rows;

    arena_init(&bigger.arena, room * row_bytes + ARENA_SPARE_BYTES);
    if (!allocate(&bigger, column_count, room)) {
        arena_deinit(&bigger.arena);
        return ERR_MEMORY;
    }
    if (rows->count > 0) {
        memcpy(bigger.seqs, rows->seqs, rows->count * sizeof(uint64_t));
        memcpy(bigger.kinds, rows->kinds, rows->count);
        memcpy(bigger.spaces, rows->spaces, rows->count);
        memcpy(bigger.sketches, rows->sketches, rows->count * VECTORS_SKETCH_BYTES);
    }
    for (size_t i = 0; i < column_count && rows->count > 0; i++) {
        memcpy(bigger.columns[i], rows->columns[i], rows->count * sizeof(uint64_t));
    }
    arena_deinit(&rows->arena);
    for (size_t i = 0; i < bigger.space_count; i++) {
        bigger.space_names[i].data = rows->space_bytes[i];
    }
    *rows = bigger;
    return OK;
}

enum err vector_rows_reserve(struct vector_rows *rows, const struct vector_source *source)
{
    if (rows->count == source->rows_max) {
        rows->is_cut = true;
        return ERR_NOT_FOUND;
    }
    return rows->count == rows->room ? grow(rows, source->column_count) : OK;
}

void vector_rows_forget(struct vector_rows *rows, size_t at)
{
    rows->spaces[at] = VECTOR_INDEX_NO_SPACE;
    memset(rows->sketches + at * VECTORS_SKETCH_BYTES, 0, VECTORS_SKETCH_BYTES);
}

uint8_t vector_rows_space(const struct vector_rows *rows, struct slice space)
{
    for (size_t i = 0; i < rows->space_count; i++) {
        if (slice_equal(rows->space_names[i], space)) {
            return (uint8_t)i;
        }
    }
    return VECTOR_INDEX_NO_SPACE;
}

uint8_t vector_rows_add_space(struct vector_rows *rows, struct slice space)
{
    uint8_t found = vector_rows_space(rows, space);
    size_t at = rows->space_count;

    if (found != VECTOR_INDEX_NO_SPACE || at == VECTOR_INDEX_SPACES_MAX ||
        space.size > VECTOR_INDEX_SPACE_BYTES_MAX) {
        return found;
    }
    memcpy(rows->space_bytes[at], space.data, space.size);
    rows->space_names[at] = slice_of(rows->space_bytes[at], space.size);
    rows->space_count++;
    return (uint8_t)at;
}

/* Applies the events after those that were applied, up to `last_seq`. */
static enum err catch_up(struct vector_rows *rows, const struct vector_source *source,
                         struct store_txn *txn, struct org_id org, uint64_t last_seq,
                         const atomic_bool *cancelled)
{
    struct arena scratch;
    struct event event;
    enum err err = OK;

    arena_init(&scratch, SCRATCH_BYTES);
    while (err == OK && rows->applied_seq < last_seq) {
        if (rows->applied_seq % EVENTS_PER_LOOK == 0) {
            arena_reset(&scratch);
            if (cancel_requested(cancelled)) {
                err = ERR_CANCELLED;
                break;
            }
        }
        err = log_read(txn, org, rows->applied_seq + 1, &event);
        if (err == OK) {
            err = source->apply(rows, &scratch, txn, &event);
        }
        err = err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
        rows->applied_seq += err == OK;
    }
    arena_deinit(&scratch);
    return err;
}

/* Makes the rows from the tables. */
static enum err fill(struct vector_rows *rows, const struct vector_source *source,
                     struct store_txn *txn, struct org_id org, uint64_t last_seq,
                     const atomic_bool *cancelled)
{
    enum err err = OK;

    empty_rows(rows);
    err = source->fill(rows, txn, org, cancelled);
    rows->applied_seq = last_seq;
    if (err != OK) {
        empty_rows(rows);
    }
    return err;
}

/* Brings the rows up to the transaction. */
static enum err follow(struct vector_rows *rows, const struct vector_source *source,
                       struct store_txn *txn, struct org_id org, const atomic_bool *cancelled)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    if (err != OK) {
        return err;
    }
    return source->fill != NULL && head.last_seq > rows->applied_seq &&
                   head.last_seq - rows->applied_seq > source->gap_max
               ? fill(rows, source, txn, org, head.last_seq, cancelled)
               : catch_up(rows, source, txn, org, head.last_seq, cancelled);
}

/* Returns the organisation's place, else a free one, else the least recently used; NULL if all are in use. */
static struct place *find_place(struct vector_index *index, struct org_id org)
{
    struct place *best = NULL;

    for (size_t i = 0; i < VECTOR_INDEX_ORGS_MAX; i++) {
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

enum err vector_index_begin(struct vector_index *index, struct store_txn *txn, struct org_id org,
                            const atomic_bool *cancelled, const struct vector_rows **ret_rows)
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
    err = follow(&place->rows, index->source, txn, org, cancelled);
    *ret_rows = &place->rows;
    if (err != OK) {
        vector_index_end(index, &place->rows);
    }
    return err;
}

/* Frees the rows of a place that is not in use. */
static void vacate(struct place *place)
{
    ASSERT(place->users == 0);
    empty_rows(&place->rows);
    place->kept_rows = 0;
    place->is_taken = false;
    place->is_forgotten = false;
    place->used_at = 0;
}

void vector_index_forget(struct vector_index *index, struct org_id org)
{
    (void)pthread_mutex_lock(&index->lock);
    for (size_t i = 0; i < VECTOR_INDEX_ORGS_MAX; i++) {
        struct place *place = &index->places[i];

        if (place->is_taken && uuid_equal(place->org.uuid, org.uuid)) {
            place->is_forgotten = true;
            if (place->users == 0) {
                vacate(place);
            }
        }
    }
    (void)pthread_mutex_unlock(&index->lock);
}

/* Empties places that are not in use, least recently used first, while too many rows are kept. */
static void evict(struct vector_index *index)
{
    for (size_t round = 0; round < VECTOR_INDEX_ORGS_MAX; round++) {
        struct place *oldest = NULL;
        size_t kept = 0;

        for (size_t i = 0; i < VECTOR_INDEX_ORGS_MAX; i++) {
            struct place *place = &index->places[i];

            kept += place->kept_rows;
            if (place->users == 0 && place->kept_rows > 0 &&
                (oldest == NULL || place->used_at < oldest->used_at)) {
                oldest = place;
            }
        }
        if (kept <= index->source->kept_max || oldest == NULL) {
            return;
        }
        vacate(oldest);
    }
}

void vector_index_end(struct vector_index *index, const struct vector_rows *rows)
{
    struct place *place = NULL;
    size_t kept = rows->count;

    for (size_t i = 0; i < VECTOR_INDEX_ORGS_MAX; i++) {
        place = rows == &index->places[i].rows ? &index->places[i] : place;
    }
    ASSERT(place != NULL);
    (void)pthread_mutex_unlock(&place->lock);
    (void)pthread_mutex_lock(&index->lock);
    place->users--;
    index->uses++;
    place->used_at = index->uses;
    place->kept_rows = kept;
    if (place->is_forgotten && place->users == 0) {
        vacate(place);
    }
    evict(index);
    (void)pthread_mutex_unlock(&index->lock);
}

enum err vector_rows_make(struct vector_rows *rows, const struct vector_source *source,
                          struct store_txn *txn, struct org_id org, uint64_t as_of_seq,
                          const atomic_bool *cancelled)
{
    struct log_head head;
    enum err err = log_read_head(txn, org, &head);

    *rows = (struct vector_rows){.count = 0};
    if (err == OK && head.last_seq > as_of_seq) {
        head.last_seq = as_of_seq;
    }
    return err != OK ? err : catch_up(rows, source, txn, org, head.last_seq, cancelled);
}

void vector_rows_free(struct vector_rows *rows)
{
    empty_rows(rows);
}
