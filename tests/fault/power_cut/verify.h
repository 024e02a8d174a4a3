/*
 * verify.h: opens an image like the server does, and checks all of it.
 */
#ifndef ERRATA_TESTS_FAULT_POWER_CUT_VERIFY_H
#define ERRATA_TESTS_FAULT_POWER_CUT_VERIFY_H

#include "store/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>

/* A response that a client had received when the journal had this many bytes. */
struct acknowledgement {
    size_t position;
    char kind; /* e: an event, o: an organisation */
    struct uuid id;
};

/* Checks that everything that was acknowledged up to `position` is stored once, every log's chain, and every row
 * against its replay. Prints the problems; returns whether there are none. `ret_recovered` is the number of commits
 * that only the journal had. */
bool verify_image(const char *folder, const struct acknowledgement *acknowledgements, size_t count,
                  size_t position, uint64_t *ret_recovered);

#endif
