/*
 * prompt_template_list.c: pages of templates. Rows of one name stand newest first, so the newest of
 * each name is found by one seek a name. The shipped template has no row: it is put in where its key
 * would stand, version 0 of its name, unless the organisation has put versions of its own.
 */
#include "server/domain/prompts/keys.h"
#include "server/domain/prompts/prompt_templates.h"
#include "server/domain/prompts/records.h"
#include "server/domain/prompts/shipped.h"

/* The inverted version at the end of a key. */
#define VERSION_BYTES 4

/* A page under way. */
struct walk {
    struct ctx *ctx;
    struct store_txn *txn;
    struct prompt_template_list *list;
    struct buffer *body;
    uint32_t field;
    size_t start; /* of the page in the body */
    struct key shipped; /* where the shipped template stands */
    bool shipped_due; /* it belongs behind what was listed */
    struct key at; /* the list goes on behind this; empty: at its beginning */
    uint32_t count; /* of items that fitted */
};

/* What stands next in a list. */
struct item {
    struct key key;
    uint64_t seq; /* of its event; 0: the shipped one */
};

static struct key key_of(struct slice bytes)
{
    struct key key = {.size = bytes.size};

    if (bytes.size > 0) {
        memcpy(key.bytes, bytes.data, bytes.size);
    }
    return key;
}

static struct key prefix_of(const struct walk *walk)
{
    return walk->list->name.size > 0 ? key_prompt_template_prefix(walk->list->org, walk->list->name)
                                     : key_org(walk->list->org);
}

/* The first row behind walk->at. ERR_NOT_FOUND behind the last. */
static enum err next_row(const struct walk *walk, struct item *ret_item)
{
    struct key prefix = prefix_of(walk);
    struct slice at = key_slice(&walk->at);
    struct prompt_template_record record;
    struct store_cursor cursor = {0};
    struct slice key;
    struct slice value;
    enum err err = store_cursor_init(&cursor, walk->txn, TABLE_PROMPT_TEMPLATE, key_slice(&prefix),
                                     at, STORE_ASCENDING);

    if (err == OK) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK && at.size > 0 && slice_equal(key, at)) {
        err = store_cursor_next(&cursor, &key, &value);
    }
    if (err == OK) {
        err = record_decode_prompt_template(value, &record);
    }
    if (err == OK && key.size != walk->shipped.size) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_item = (struct item){key_of(key), record.seq};
    }
    store_cursor_deinit(&cursor);
    return err;
}

/* Rows of the shipped template's name stand before it and, in a list of names, instead of it. */
static void pass_shipped(struct walk *walk, const struct item *row)
{
    struct key own = key_prompt_template_prefix(walk->list->org, shipped_name());

    if (walk->list->name.size == 0 && slice_starts_with(key_slice(&row->key), key_slice(&own))) {
        walk->shipped_due = false;
    }
}

/* What the list has next. ERR_NOT_FOUND at its end. */
static enum err next_item(struct walk *walk, struct item *ret_item)
{
    const struct item shipped = {.key = walk->shipped};
    struct item row;
    enum err err = next_row(walk, &row);

    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    if (err == OK) {
        pass_shipped(walk, &row);
    }
    if (walk->shipped_due && (err == ERR_NOT_FOUND ||
                              slice_compare(key_slice(&walk->shipped), key_slice(&row.key)) < 0)) {
        *ret_item = shipped;
        return OK;
    }
    if (err == OK) {
        *ret_item = row;
    }
    return err;
}

static enum err append_item(struct walk *walk, const struct item *item)
{
    const struct prompt_template_query query = {.org = walk->list->org,
                                                .name = shipped_name(),
                                                .has_version = true,
                                                .as_of_seq = UINT64_MAX};
    struct prompt_template template;
    struct event event;
    enum err err = OK;

    if (item->seq == 0) {
        err = prompt_template_find(walk->ctx, walk->txn, &query, &template);
        if (err == OK) {
            prompt_template_append(walk->body, walk->field, &template, walk->list->detail);
        }
        return err;
    }
    err = log_read(walk->txn, walk->list->org, item->seq, &event);
    if (err != OK) {
        return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
    }
    return prompt_template_append_event(walk->body, walk->field, &event, walk->list->detail);
}

/* The item is listed: the list goes on behind it; in a list of names behind its other versions too, where
 * version 0 of the name would stand. */
static void pass(struct walk *walk, const struct item *item)
{
    walk->count++;
    walk->at = item->key;
    if (item->seq == 0) {
        walk->shipped_due = false;
    } else if (walk->list->name.size == 0) {
        memset(walk->at.bytes + walk->at.size - VERSION_BYTES, 0xff, VERSION_BYTES);
    }
    walk->list->last = walk->at;
}

static void start(struct walk *walk)
{
    struct prompt_template_list *list = walk->list;

    walk->start = walk->body->size;
    walk->shipped = key_prompt_template(list->org, shipped_name(), 0);
    walk->at = key_of(list->after);
    walk->shipped_due = (list->name.size == 0 || slice_equal(list->name, shipped_name())) &&
                        slice_compare(list->after, key_slice(&walk->shipped)) < 0;
}

enum err prompt_template_list_write(struct ctx *ctx, struct store_txn *txn,
                                    struct prompt_template_list *list, uint32_t field,
                                    struct buffer *body, bool *ret_more)
{
    struct walk walk = {.ctx = ctx, .txn = txn, .list = list, .body = body, .field = field};
    struct item item;
    enum err err = OK;

    start(&walk);
    while ((err = next_item(&walk, &item)) == OK && walk.count < list->page_size) {
        size_t before = body->size;

        err = append_item(&walk, &item);
        if (err != OK) {
            return err;
        }
        if (walk.count > 0 && body->size - walk.start > PROMPT_TEMPLATES_PAGE_BYTES_MAX) {
            body->size = before;
            break;
        }
        pass(&walk, &item);
    }
    if (err != OK && err != ERR_NOT_FOUND) {
        return err;
    }
    *ret_more = err == OK;
    return buffer_ok(body) ? OK : ERR_MEMORY;
}
