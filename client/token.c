/*
 * token.c: see token.h.
 */
#include "client/token.h"

#include <errno.h>
#include <stdio.h>
#include <uv.h>

/* A token, the longest line ending, and one byte that shows that the file is larger. */
#define FILE_BYTES_MAX (TOKEN_BYTES_MAX + 3)

bool token_valid(struct slice token)
{
    for (size_t at = 0; at < token.size; at++) {
        if (token.data[at] <= 0x20 || token.data[at] > 0x7e) {
            return false;
        }
    }
    return token.size > 0 && token.size <= TOKEN_BYTES_MAX;
}

/* Reads the first bytes of the file. Returns false with errno. */
static bool read_some(const char *path, char *bytes, size_t capacity, size_t *ret_size)
{
    FILE *file = fopen(path, "rbe");
    size_t size = 0;
    int why = 0;

    if (file == NULL) {
        return false;
    }
    errno = EIO;
    size = fread(bytes, 1, capacity, file);
    why = ferror(file) != 0 ? errno : 0;
    (void)fclose(file);
    errno = why;
    if (why != 0) {
        return false;
    }
    *ret_size = size;
    return true;
}

bool token_read_file(const char *path, const struct problem *problem,
                     char ret_token[TOKEN_BYTES_MAX + 1])
{
    struct problem_shown shown = problem_show(path);
    char bytes[FILE_BYTES_MAX];
    size_t size = 0;
    bool valid = false;

    if (!read_some(path, bytes, sizeof(bytes), &size)) {
        problem_say(problem, "token_file: cannot read \"%s\": %s", shown.text,
                    uv_strerror(uv_translate_sys_error(errno)));
        return false;
    }
    if (size > 0 && bytes[size - 1] == '\n') {
        size--;
        size -= size > 0 && bytes[size - 1] == '\r';
    }
    valid = token_valid(slice_of(bytes, size));
    if (valid) {
        memcpy(ret_token, bytes, size);
        ret_token[size] = '\0';
    } else if (size == 0) {
        problem_say(problem, "token_file: \"%s\" is empty; expected a file with a token",
                    shown.text);
    } else {
        problem_say(problem,
                    "token_file: \"%s\" holds no valid token; expected one line of printable ASCII "
                    "without spaces, at most %d bytes",
                    shown.text, TOKEN_BYTES_MAX);
    }
    explicit_bzero(bytes, sizeof(bytes));
    return valid;
}
