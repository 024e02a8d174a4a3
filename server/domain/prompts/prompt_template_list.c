/*
 * prompt_template_list.c: lists of templates. Rows of one name are newest first, so the newest
 * version of each name is found by one seek for each name. The shipped template has no row: it is
 * listed at the position that the key of version 0 of its name would have, unless the organisation
 * has stored versions of its own.
 */
#include "server/domain/prompts/keys.h"
#include "server/domain/prompts/prompt_templates.h"
#include "server/domain/prompts/records.h"
#include "server/domain/prompts/shipped.h"

/* The inverted version at the end of a key. */
#define VERSION_BYTES 4

/* The next item of a list. */
struct item {
    struct key key;
    uint64_t seq; /* number of its event; 0: the shipped template */
};

static struct key key_of(struct slice bytes)
{
    struct key key = {.size = bytes.size};

    if (bytes.size > 0) {
        memcpy(key.bytes, bytes.data, bytes.size);
    }
    return key;
}

/* Reads the first row after list->at. ERR_NOT_FOUND after the last one, or at the end of the
 * page. */
static enum err next_row(struct store_txn *txn, struct prompt_template_list *list,
                         struct item *ret_item)
{
    const struct scan_range range = {
        .table = TABLE_PROMPT_TEMPLATE,
        .prefix = list->name.size > 0 ? key_prompt_template_prefix(list->org, list->name)
                                      : key_org(list->org),
        .after = key_slice(&list->at),
    };
    struct prompt_template_record record;
    struct slice key = {NULL, 0};
    struct slice value = {NULL, 0};
    enum err err = page_open(list->page, txn, &range);

    if (err == OK) {
        err = scan_next(&list->page->scan, &key, &value);
    }
    if (err == OK) {
        err = record_decode_prompt_template(value, &record);
    }
    if (err == OK && key.size != list->shipped.size) {
        err = ERR_CORRUPT;
    }
    if (err == OK) {
        *ret_item = (struct item){key_of(key), record.seq};
    }
    return err;
}

/* Versions of the shipped template's name come before it and, in a list of names, replace it. */
static void replace_shipped(struct prompt_template_list *list, const struct item *row)
{
    struct key own = key_prompt_template_prefix(list->org, shipped_name());

    if (list->name.size == 0 && slice_starts_with(key_slice(&row->key), key_slice(&own))) {
        list->shipped_due = false;
    }
}

/* Returns the next item. ERR_NOT_FOUND at the end of the list. */
static enum err next_item(struct store_txn *txn, struct prompt_template_list *list,
                          struct item *ret_item)
{
    struct item row;
    enum err err = next_row(txn, list, &row);

    if (err == OK) {
        replace_shipped(list, &row);
    }
    if ((err == OK || err == ERR_NOT_FOUND) && list->shipped_due &&
        (err == ERR_NOT_FOUND ||
         slice_compare(key_slice(&list->shipped), key_slice(&row.key)) < 0)) {
        *ret_item = (struct item){.key = list->shipped};
        return OK;
    }
    if (err == OK) {
        *ret_item = row;
    }
    return err;
}

static enum err read_item(struct ctx *ctx, struct store_txn *txn,
                          const struct prompt_template_list *list, const struct item *item,
                          struct prompt_template *ret_template)
{
    const struct prompt_template_query shipped = {
        .org = list->org,
        .name = shipped_name(),
        .has_version = true,
        .as_of_seq = UINT64_MAX,
    };
    struct event event;
    enum err err = OK;

    if (item->seq == 0) {
        return prompt_template_find(ctx, txn, &shipped, ret_template);
    }
    err = log_read(txn, list->org, item->seq, &event);
    if (err == OK) {
        err = prompt_template_of_event(&event, ret_template);
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

/* Returns the position of an item: its key; in a list of names, the last key of its name, so that
 * the other versions are skipped. */
static struct key place_of(const struct prompt_template_list *list, const struct item *item)
{
    struct key place = item->key;

    if (item->seq != 0 && list->name.size == 0) {
        memset(place.bytes + place.size - VERSION_BYTES, 0xff, VERSION_BYTES);
    }
    return place;
}

void prompt_template_list_begin(struct prompt_template_list *list)
{
    list->shipped = key_prompt_template(list->org, shipped_name(), 0);
    list->at = key_of(list->page->after);
    list->shipped_due = (list->name.size == 0 || slice_equal(list->name, shipped_name())) &&
                        slice_compare(list->page->after, key_slice(&list->shipped)) < 0;
}

enum err prompt_template_list_next(struct ctx *ctx, struct store_txn *txn,
                                   struct prompt_template_list *list,
                                   struct prompt_template_view *ret_template)
{
    struct prompt_template template;
    struct item item;
    enum err err = OK;

    if (!page_keep(list->page)) {
        return ERR_NOT_FOUND;
    }
    err = next_item(txn, list, &item);
    if (err != OK) {
        return err;
    }
    list->at = place_of(list, &item);
    list->shipped_due = list->shipped_due && item.seq != 0;
    if (!page_look(list->page) || !page_begin(list->page, key_slice(&list->at))) {
        return ERR_NOT_FOUND;
    }
    err = read_item(ctx, txn, list, &item, &template);
    if (err == OK) {
        *ret_template = template.view;
        ret_template->text = slice_of(NULL, 0);
    }
    return err;
}
