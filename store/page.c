/*
 * page.c: see page.h.
 */
#include "store/page.h"

#include "store/base/assert.h"

void page_init(struct page *page, uint32_t size, struct slice after, struct buffer *body)
{
    ASSERT(size > 0);
    *page = (struct page){
        .size = size,
        .after = after,
        .body = body,
        .start = body != NULL ? body->size : 0,
    };
}

void page_deinit(struct page *page)
{
    scan_deinit(&page->scan);
}

enum err page_open(struct page *page, struct store_txn *txn, const struct scan_range *range)
{
    struct scan_range whole = *range;

    whole.rows_max = UINT32_MAX; /* page_look counts the rows of all ranges */
    scan_deinit(&page->scan);
    return scan_init(&page->scan, txn, &whole);
}

bool page_keep(struct page *page)
{
    bool is_item = page->body == NULL || page->body->size > page->before;

    if (page->at.size == 0) {
        return true;
    }
    if (is_item && page->count > 0 && page->body != NULL &&
        page->body->size - page->start > PAGE_BYTES_MAX) {
        page->body->size = page->before;
        page->more = true;
        return false;
    }
    memcpy(page->last.bytes, page->at.data, page->at.size);
    page->last.size = page->at.size;
    page->at.size = 0;
    page->count += is_item;
    return true;
}

bool page_look(struct page *page)
{
    if (page->row_count == PAGE_ROWS_MAX) {
        page->more = true;
        return false;
    }
    page->row_count++;
    return true;
}

bool page_begin(struct page *page, struct slice at)
{
    ASSERT(at.size > 0 && at.size <= sizeof(page->last.bytes));
    if (page->count == page->size) {
        page->more = true;
        return false;
    }
    page->at = at;
    page->before = page->body != NULL ? page->body->size : 0;
    return true;
}

enum err page_next(struct page *page, struct slice *ret_key, struct slice *ret_value)
{
    enum err err = OK;

    if (!page_keep(page)) {
        return ERR_NOT_FOUND;
    }
    err = scan_next(&page->scan, ret_key, ret_value);
    if (err == OK && !(page_look(page) && page_begin(page, *ret_key))) {
        err = ERR_NOT_FOUND;
    }
    return err;
}
