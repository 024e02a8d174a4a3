/*
 * redis_reader.c: see redis_reader.h. hiredis calls create_* for each value, with its place: the task, whose parents are
 * the lists around it.
 */
#include "server/redis/redis_reader.h"

#include "store/base/assert.h"

#include <hiredis/read.h>
#include <stdlib.h>

/* Memory of a reply: its texts, and each value with its place in a list; each piece is rounded up. */
#define ARENA_BYTES_MAX                                                                            \
    (REDIS_REPLY_BYTES_MAX + REDIS_REPLY_VALUES_MAX * (sizeof(struct redis_value) + 256u))

struct redis_reader {
    struct redis_filter filter;
    redisReader *hiredis;
    redisReplyObjectFunctions functions; /* of hiredis */
    struct arena arena; /* of the current reply */
    bool is_new; /* the next bytes begin a reply */
    bool is_too_deep;
    size_t bytes_left; /* budget of the reply */
    size_t values_left;
    uint64_t sent_bytes; /* of the reply, so far */
    struct redis_value left_out; /* used for every value beyond the budget */
};

static struct redis_reader *reader_of(const redisReadTask *task)
{
    return (struct redis_reader *)task->privdata;
}

/* Marks the lists around a value as cut. */
static void mark_cut(const redisReadTask *task)
{
    for (const redisReadTask *at = task->parent; at != NULL; at = at->parent) {
        struct redis_value *list = at->obj;

        ASSERT(list != NULL); /* made before the values in it */
        list->is_cut = true;
    }
}

/* Makes a value at its place; the one that is left out if the budget is spent. */
static struct redis_value *make_value(const redisReadTask *task, enum redis_kind kind)
{
    struct redis_reader *reader = reader_of(task);
    struct redis_value *list = task->parent != NULL ? task->parent->obj : NULL;
    bool has_place = list == NULL || (uint32_t)task->idx < list->capacity;
    struct redis_value *value = NULL;

    if (has_place && reader->values_left > 0) {
        value = arena_calloc(&reader->arena, 1, sizeof(*value));
    }
    if (value == NULL) {
        mark_cut(task);
        return &reader->left_out;
    }
    reader->values_left--;
    value->kind = kind;
    if (list != NULL) {
        list->items[task->idx] = value;
    }
    return value;
}

static void *create_string(const redisReadTask *task, char *bytes, size_t size)
{
    struct redis_reader *reader = reader_of(task);
    struct redis_value *value =
        make_value(task, task->type == REDIS_REPLY_ERROR ? REDIS_ERROR : REDIS_TEXT);
    bool fits = size <= REDIS_TEXT_BYTES_MAX && size <= reader->bytes_left;

    if (value == &reader->left_out) {
        return value;
    }
    if (!fits || !arena_copy(&reader->arena, slice_of(bytes, size), &value->text)) {
        value->is_cut = true;
        mark_cut(task);
        return value;
    }
    reader->bytes_left -= size;
    return value;
}

static void *create_array(const redisReadTask *task, int count)
{
    struct redis_reader *reader = reader_of(task);
    struct redis_value *value = NULL;
    size_t depth = 1;

    for (const redisReadTask *at = task->parent; at != NULL; at = at->parent) {
        depth++;
    }
    if (depth > REDIS_DEPTH_MAX || count < 0) {
        reader->is_too_deep = true;
        return NULL; /* ends the reading */
    }
    value = make_value(task, REDIS_LIST);
    if (value == &reader->left_out || count == 0) {
        return value;
    }
    value->count = (uint32_t)count;
    value->capacity =
        (size_t)count < reader->values_left ? value->count : (uint32_t)reader->values_left;
    value->items =
        (struct redis_value **)arena_calloc(&reader->arena, value->capacity, sizeof(void *));
    if (value->items == NULL) {
        value->capacity = 0;
    }
    if (value->capacity < value->count) {
        value->is_cut = true;
        mark_cut(task);
    }
    return value;
}

static void *create_integer(const redisReadTask *task, long long number)
{
    struct redis_value *value = make_value(task, REDIS_INTEGER);

    if (value != &reader_of(task)->left_out) {
        value->integer = number;
    }
    return value;
}

static void *create_nil(const redisReadTask *task)
{
    return make_value(task, REDIS_NIL);
}

static void free_object(void *object)
{
    (void)object; /* the arena frees it all at once */
}

enum err redis_reader_new(struct redis_reader **ret_reader)
{
    struct redis_reader *reader = (struct redis_reader *)calloc(1, sizeof(*reader));

    if (reader == NULL) {
        return ERR_MEMORY;
    }
    reader->functions = (redisReplyObjectFunctions){create_string, create_array, create_integer,
                                                    create_nil, free_object};
    reader->hiredis = redisReaderCreateWithFunctions(&reader->functions);
    if (reader->hiredis == NULL) {
        free(reader);
        return ERR_MEMORY;
    }
    reader->hiredis->privdata = reader;
    reader->is_new = true;
    arena_init(&reader->arena, ARENA_BYTES_MAX);
    *ret_reader = reader;
    return OK;
}

static void begin_reply(struct redis_reader *reader)
{
    arena_deinit(&reader->arena);
    reader->bytes_left = REDIS_REPLY_BYTES_MAX;
    reader->values_left = REDIS_REPLY_VALUES_MAX;
    reader->sent_bytes = 0;
    reader->left_out = (struct redis_value){.kind = REDIS_NIL, .is_cut = true};
    reader->is_new = false;
}

/* Passes the next bytes to hiredis. ERR_NOT_FOUND if the input is used up. */
static enum err feed_some(struct redis_reader *reader, struct slice *input)
{
    struct slice bytes = {NULL, 0};
    size_t before = input->size;
    enum err err = redis_filter_next(&reader->filter, input, &bytes);

    reader->sent_bytes += before - input->size;
    if (err == OK && reader->sent_bytes > REDIS_REPLY_SENT_BYTES_MAX) {
        err = ERR_TOO_LARGE;
    }
    if (err != OK) {
        return err;
    }
    if (bytes.size == 0) {
        return ERR_NOT_FOUND;
    }
    return redisReaderFeed(reader->hiredis, (const char *)bytes.data, bytes.size) == REDIS_OK
               ? OK
               : ERR_MEMORY;
}

enum err redis_reader_feed(struct redis_reader *reader, struct slice *input,
                           const struct redis_value **ret_reply)
{
    void *reply = NULL;
    enum err err = OK;

    if (reader->is_new && input->size > 0) {
        begin_reply(reader);
    }
    while (err == OK && reply == NULL) {
        err = feed_some(reader, input);
        if (err == OK && redisReaderGetReply(reader->hiredis, &reply) != REDIS_OK) {
            err = ERR_MALFORMED;
        }
    }
    if (err == OK) {
        reader->is_new = true;
        *ret_reply = (const struct redis_value *)reply;
    }
    return err;
}

void redis_reader_free(struct redis_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    redisReaderFree(reader->hiredis);
    arena_deinit(&reader->arena);
    free(reader);
}

const struct redis_value *redis_item(const struct redis_value *list, size_t index)
{
    return list->kind == REDIS_LIST && index < list->capacity ? list->items[index] : NULL;
}

bool redis_is_text(const struct redis_value *value)
{
    return value != NULL && value->kind == REDIS_TEXT && !value->is_cut;
}
