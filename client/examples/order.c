/*
 * order.c: see order.h.
 */
#include "order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the next line without its line ending; cuts a long one. Returns false at the end of the file. */
static bool read_line(FILE *file, char *line, size_t size)
{
    size_t end = 0;

    if (fgets(line, (int)size, file) == NULL) {
        return false;
    }
    end = strcspn(line, "\r\n");
    if (line[end] == '\0') {
        int byte = fgetc(file);

        while (byte != EOF && byte != '\n') {
            byte = fgetc(file);
        }
    }
    line[end] = '\0';
    return true;
}

bool order_read(struct order *order, const char *path)
{
    const char *slash = strrchr(path, '/');
    FILE *file = fopen(path, "r");
    char line[ORDER_TEXT_BYTES];

    if (file == NULL) {
        return false;
    }
    memset(order, 0, sizeof(*order));
    (void)snprintf(order->path, sizeof(order->path), "%s", path);
    (void)snprintf(order->id, sizeof(order->id), "%s", slash != NULL ? slash + 1 : path);
    if (read_line(file, line, sizeof(line))) {
        (void)snprintf(order->layout, sizeof(order->layout), "%.*s", 127, line);
    }
    while (order->item_count < ORDER_ITEMS_MAX && read_line(file, line, sizeof(line))) {
        struct order_item *item = &order->items[order->item_count];

        if (sscanf(line, "%*d %*d %63s", item->sku) == 1) {
            (void)snprintf(item->line, sizeof(item->line), "%s", line);
            order->item_count++;
        }
    }
    (void)fclose(file);
    errno = EINVAL;
    return order->layout[0] != '\0' && order->item_count > 0;
}

char *order_write_prompt(const struct order *order, const char *hint_examples_json)
{
    char *prompt = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&prompt, &size);

    if (to == NULL) {
        return NULL;
    }
    fprintf(to, "Extract the order below as JSON, an object {\"sku\", \"qty\"} a line.\n");
    if (hint_examples_json[0] != '\0') {
        fprintf(to, "Orders of the same layout were corrected like this:\n%s\n",
                hint_examples_json);
    }
    fprintf(to, "Order:\n%s\n", order->layout);
    for (size_t i = 0; i < order->item_count; i++) {
        fprintf(to, "%s\n", order->items[i].line);
    }
    return fclose(to) == 0 ? prompt : NULL;
}

/* Returns whether the examples in the prompt show that the second number of a line is the
 * quantity. */
static bool second_number_counts(const char *prompt)
{
    const char *snippet = strstr(prompt, "\"input_snippet\":");
    const char *quantity = snippet != NULL ? strstr(snippet, "\"qty\":") : NULL;
    long first = 0;
    long second = 0;
    long wanted = 0;

    return quantity != NULL &&
           sscanf(snippet, "\"input_snippet\": \"%ld %ld", &first, &second) == 2 &&
           sscanf(quantity, "\"qty\": %ld", &wanted) == 1 && wanted == second;
}

void order_extract(struct order *order, const char *prompt)
{
    bool second_counts = second_number_counts(prompt);

    for (size_t i = 0; i < order->item_count; i++) {
        struct order_item *item = &order->items[i];
        char *end = NULL;
        long first = strtol(item->line, &end, 10);
        long second = strtol(end, NULL, 10);

        item->quantity = second_counts ? second : first;
    }
}

void order_read_corrections(const struct order *order,
                            void (*take)(void *user, const struct order *order,
                                         const struct order_item *item, long quantity),
                            void *user)
{
    char path[sizeof(order->path) + 16];
    char line[ORDER_TEXT_BYTES];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s.corrected", order->path);
    file = fopen(path, "r");
    if (file == NULL) {
        return; /* nothing was corrected */
    }
    while (read_line(file, line, sizeof(line))) {
        char sku[64];
        long quantity = 0;

        if (sscanf(line, "%63s %ld", sku, &quantity) != 2) {
            continue;
        }
        for (size_t i = 0; i < order->item_count; i++) {
            const struct order_item *item = &order->items[i];

            if (strcmp(item->sku, sku) == 0 && item->quantity != quantity) {
                take(user, order, item, quantity);
            }
        }
    }
    (void)fclose(file);
}
