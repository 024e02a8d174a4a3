/*
 * file.c: see file.h. Reads in pieces, so that pipes and /dev/stdin can be read too.
 */
#include "tools/bench/load/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define PIECE_BYTES ((size_t)64 * 1024)

/* Reads to the end; returns false without memory, above the limit, or if a read fails (errno). */
static bool read_all(FILE *file, uint8_t **bytes, size_t *size)
{
    size_t room = 0;
    size_t got = 0;

    do {
        if (*size + PIECE_BYTES + 1 > room) {
            uint8_t *more = NULL;

            room = 2 * room + PIECE_BYTES + 1;
            more = room <= FILE_BYTES_MAX ? realloc(*bytes, room) : NULL;
            if (more == NULL) {
                errno = ENOMEM;
                return false;
            }
            *bytes = more;
        }
        got = fread(*bytes + *size, 1, PIECE_BYTES, file);
        *size += got;
    } while (got > 0);
    (*bytes)[*size] = '\0';
    return ferror(file) == 0;
}

enum err file_read(const char *path, struct fault *fault, uint8_t **ret_bytes, size_t *ret_size)
{
    FILE *file = fopen(path, "rbe");
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool is_read = file != NULL && read_all(file, &bytes, &size);

    if (!is_read) {
        (void)fault_say(fault, ERR_INVALID, "cannot read %s: %s", path, strerror(errno));
        free(bytes);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!is_read) {
        return ERR_INVALID;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return OK;
}
