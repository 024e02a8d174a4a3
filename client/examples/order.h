/*
 * order.h: orders as text files, the corrections of a person, and what stands for a model. Nothing
 * here knows Errata: it is what a program has before it asks.
 *
 * The first line of an order names who sent it, and stands for its layout; then each line is an item:
 *
 *   Miller & Sons, order form B
 *   1  12  ABC-123  Bolt M8
 *   2  40  XYZ-9    Washer
 *
 * A person's corrections stand beside it, in order.txt.corrected, as `SKU QUANTITY` lines.
 */
#ifndef EXTRACTOR_ORDER_H
#define EXTRACTOR_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#define ORDER_ITEMS_MAX 100
#define ORDER_TEXT_BYTES 256

struct order_item {
    char line[ORDER_TEXT_BYTES]; /* as it stands in the document */
    char sku[64];
    long quantity; /* what was extracted */
};

struct order {
    char path[1024];
    char id[ORDER_TEXT_BYTES]; /* the file's name */
    char layout[128];
    struct order_item items[ORDER_ITEMS_MAX]; /* extracted, once order_extract has run */
    size_t item_count;
};

/* Reads the document. False where there is none, or nothing in it; errno says why. */
bool order_read(struct order *order, const char *path);

/* The prompt for the order, with the examples as Errata hands them out ("": none); free it. NULL
 * where there is no memory. */
char *order_write_prompt(const struct order *order, const char *hint_examples_json);

/*
 * Fills in the items' quantities. This stands for the model: where yours is called, this program reads
 * the first number of each line, which is wrong for forms that number their lines, unless an example
 * in the prompt shows that the second is the quantity. A model learns from examples more than that.
 */
void order_extract(struct order *order, const char *prompt);

/* Calls `take` with each item that a person corrected. */
void order_read_corrections(const struct order *order,
                            void (*take)(void *user, const struct order *order,
                                         const struct order_item *item, long quantity),
                            void *user);

#endif
