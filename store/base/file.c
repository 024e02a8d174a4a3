/*
 * file.c: see file.h.
 */
#include "store/base/file.h"

#include <errno.h>
#include <unistd.h>

bool file_write_all(int file, struct slice bytes)
{
    while (bytes.size > 0) {
        ssize_t count = write(file, bytes.data, bytes.size);

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        bytes = slice_after(bytes, (size_t)count);
    }
    return true;
}
