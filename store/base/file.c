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

bool file_read_at(int file, uint64_t at, uint8_t *bytes, size_t size, size_t *ret_size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t count = pread(file, bytes + done, size - done, (off_t)(at + done));

        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        if (count == 0) {
            break;
        }
        done += (size_t)count;
    }
    *ret_size = done;
    return true;
}
