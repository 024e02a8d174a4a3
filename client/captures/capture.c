/*
 * capture.c: see capture.h.
 */
#include "client/captures/capture.h"

#include <stdlib.h>

struct capture *capture_new(size_t size)
{
    struct capture *capture = malloc(sizeof(*capture) + size);

    if (capture != NULL) {
        *capture = (struct capture){.size = size};
    }
    return capture;
}

void capture_list_append(struct capture_list *list, struct capture *capture)
{
    struct capture_links *links = &capture->links[list->link];

    *links = (struct capture_links){.before = list->last};
    if (list->last != NULL) {
        list->last->links[list->link].after = capture;
    } else {
        list->first = capture;
    }
    list->last = capture;
}

void capture_list_remove(struct capture_list *list, struct capture *capture)
{
    struct capture_links *links = &capture->links[list->link];

    if (links->before != NULL) {
        links->before->links[list->link].after = links->after;
    } else {
        list->first = links->after;
    }
    if (links->after != NULL) {
        links->after->links[list->link].before = links->before;
    } else {
        list->last = links->before;
    }
    *links = (struct capture_links){NULL, NULL};
}
