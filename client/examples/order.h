/*
 * order.h: orders as text files, the corrections of a person, and a function that simulates a model.
 * Nothing here depends on Errata.
 *
 * The first line of an order names its sender, and serves as its layout; each further line is an item:
 *
 *   Miller & Sons, order form B
 *   1  12  ABC-123  Bolt M8
 *   2  40  XYZ-9    Washer
 *
 * A person's corrections are in order.txt.corrected, as `SKU QUANTITY` lines.
 */
#ifndef EXTRACTOR_ORDER_H
#define EXTRACTOR_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#define ORDER_ITEMS_MAX 100
#define ORDER_TEXT_BYTES 256

struct order_item {
    char line[ORDER_TEXT_BYTES]; /* text of the line in the document */
    char sku[64];
    long quantity; /* extracted quantity */
};

struct order {
    char path[1024];
    char id[ORDER_TEXT_BYTES]; /* the file's name */
    char layout[128];
    struct order_item items[ORDER_ITEMS_MAX]; /* filled in by order_extract */
    size_t item_count;
};

/* Reads a document. Returns false with errno if it cannot be read or has no items. */
bool order_read(struct order *order, const char *path);

/* Returns the prompt for an order with the examples from Errata ("": none), to be freed; NULL if memory is
 * exhausted. */
char *order_write_prompt(const struct order *order, const char *hint_examples_json);

/*
 * Sets the quantities of the items. It simulates the model: it reads the first number of each line, which
 * is wrong for forms that number their lines, unless an example in the prompt shows that the second
 * number is the quantity.
 */
void order_extract(struct order *order, const char *prompt);

/* Calls `take` with each item that a person corrected. */
void order_read_corrections(const struct order *order,
                            void (*take)(void *user, const struct order *order,
                                         const struct order_item *item, long quantity),
                            void *user);

#endif
