/*
 * requests.c: see requests.h.
 */
#include "tools/bench/load/requests.h"

#include "store/base/bytes.h"
#include "tools/bench/load/file.h"

#include <stdlib.h>

#define HEAD_BYTES 8

/* Room doubles at each power of two. */
static bool add_body(struct requests_group *group, struct slice body)
{
    size_t count = group->count;

    if ((count & (count - 1)) == 0) {
        size_t room = count == 0 ? 1 : count * 2;
        struct slice *bodies = realloc(group->bodies, room * sizeof(*bodies));

        if (bodies == NULL) {
            return false;
        }
        group->bodies = bodies;
    }
    group->bodies[group->count++] = body;
    return true;
}

static enum err split(struct requests *requests, struct slice rest, const char *path,
                      struct fault *fault)
{
    while (rest.size > 0) {
        uint32_t group = rest.size >= HEAD_BYTES ? bytes_get_be32(rest.data) : UINT32_MAX;
        size_t size = rest.size >= HEAD_BYTES ? bytes_get_be32(rest.data + 4) : 0;

        if (group >= REQUESTS_GROUPS_MAX || size > rest.size - HEAD_BYTES) {
            return fault_say(fault, ERR_INVALID,
                             "%s: truncated request, or a group number above %d", path,
                             REQUESTS_GROUPS_MAX - 1);
        }
        if (group >= requests->group_count) {
            requests->group_count = group + 1;
        }
        if (!add_body(&requests->groups[group], slice_of(rest.data + HEAD_BYTES, size))) {
            return ERR_MEMORY;
        }
        rest = slice_after(rest, HEAD_BYTES + size);
    }
    for (size_t i = 0; i < requests->group_count; i++) {
        if (requests->groups[i].count == 0) {
            return fault_say(fault, ERR_INVALID,
                             "%s: group %zu is empty; expected one or more requests", path, i);
        }
    }
    return requests->group_count > 0
               ? OK
               : fault_say(fault, ERR_INVALID, "%s: no request; expected one or more", path);
}

enum err requests_read(const char *path, struct fault *fault, struct requests **ret)
{
    struct requests *requests = calloc(1, sizeof(*requests));
    size_t size = 0;
    enum err err = OK;

    if (requests == NULL) {
        return ERR_MEMORY;
    }
    err = file_read(path, fault, &requests->bytes, &size);
    if (err == OK) {
        err = split(requests, slice_of(requests->bytes, size), path, fault);
    }
    if (err != OK) {
        requests_free(requests);
        return err;
    }
    *ret = requests;
    return OK;
}

void requests_free(struct requests *take_requests)
{
    if (take_requests == NULL) {
        return;
    }
    for (size_t i = 0; i < take_requests->group_count; i++) {
        free(take_requests->groups[i].bodies);
    }
    free(take_requests->bytes);
    free(take_requests);
}
