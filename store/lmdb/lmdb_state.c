/*
 * lmdb_state.c: reads and writes the state in one call of a fixed size, so that a reader sees a
 * complete text.
 */
#include "store/lmdb/lmdb_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_BYTES 96
#define OPEN_PREFIX "open inode "

struct state_text {
    char text[STATE_BYTES]; /* padded with spaces, ends with a line feed; no NUL */
};

static void pad(struct state_text *text, int size)
{
    memset(text->text + size, ' ', sizeof(text->text) - (size_t)size);
    text->text[sizeof(text->text) - 1] = '\n';
}

/* File systems without a time of birth yield 0. False: the file cannot be queried. */
static bool describe_open(int data_file, struct state_text *ret_text)
{
    struct statx info;

    memset(&info, 0, sizeof(info));
    if (statx(data_file, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &info) != 0) {
        return false;
    }
    pad(ret_text, snprintf(ret_text->text, sizeof(ret_text->text),
                           OPEN_PREFIX "%llu born %lld.%09u", (unsigned long long)info.stx_ino,
                           (long long)info.stx_btime.tv_sec, info.stx_btime.tv_nsec));
    return true;
}

int lmdb_state_open(const char *path, int data_file, bool *ret_copied)
{
    int state = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct state_text stored;
    struct state_text own;

    *ret_copied = state >= 0 &&
                  pread(state, stored.text, sizeof(stored.text), 0) == sizeof(stored.text) &&
                  memcmp(stored.text, OPEN_PREFIX, strlen(OPEN_PREFIX)) == 0 &&
                  stored.text[sizeof(stored.text) - 1] == '\n' && describe_open(data_file, &own) &&
                  memcmp(&stored, &own, sizeof(own)) != 0;
    return state;
}

static void write_state(int state, const struct state_text *text)
{
    ssize_t written = pwrite(state, text->text, sizeof(text->text), 0);

    (void)written; /* on failure copies are not recognised, or are checked unnecessarily */
}

void lmdb_state_mark_open(int state, int data_file)
{
    struct state_text text;

    if (state >= 0 && describe_open(data_file, &text)) {
        write_state(state, &text);
    }
}

void lmdb_state_mark_closed(int state)
{
    struct state_text text = {"closed"};

    if (state >= 0) {
        pad(&text, (int)strlen("closed"));
        write_state(state, &text);
    }
}
