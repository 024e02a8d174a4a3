/*
 * damage.c: detects files that Poppler repairs. Poppler does not report that, so this repeats the
 * first steps of every reader (ISO 32000-2, 7.5): the header, `startxref` near the end, the table
 * or stream it points at, and the objects that the table points at. It finds files that were cut
 * off, shifted or patched by an editor. It does not follow older tables or read streams, and does
 * not affect how the document is read.
 */
#include "server/jobs/pdf/measure/measure_internal.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Range in which readers look for the header and for `startxref`. */
#define NEAR_BYTES 1024
/* Bytes of the table that are checked: entries of 20 bytes, with the lines in between. */
#define TABLE_BYTES 4096
/* `12 0 obj` with white space. */
#define OBJECT_BYTES 48
#define NUMBER_DIGITS_MAX 10
/* Maximum objects of the table that are checked, from the first on. */
#define OBJECTS_MAX 64

/* A piece of the file, with a read position. */
struct piece {
    char bytes[TABLE_BYTES + 1]; /* terminated by NUL */
    size_t size;
    size_t at;
};

static bool read_piece(int fd, int64_t offset, size_t size, struct piece *ret_piece)
{
    ssize_t got = offset < 0 ? -1 : pread(fd, ret_piece->bytes, size, offset);

    if (got < 0) {
        return false;
    }
    ret_piece->size = (size_t)got;
    ret_piece->bytes[got] = '\0';
    ret_piece->at = 0;
    return true;
}

/* Returns the offset of the header, which all other offsets are relative to; -1 if there is
 * none. */
static int64_t find_header(int fd)
{
    struct piece piece;
    const char *found = NULL;

    if (!read_piece(fd, 0, NEAR_BYTES, &piece)) {
        return -1;
    }
    found = memmem(piece.bytes, piece.size, "%PDF-", 5);
    return found == NULL ? -1 : found - piece.bytes;
}

bool damage_has_header(int fd)
{
    return find_header(fd) >= 0;
}

static void skip_space(struct piece *piece)
{
    while (piece->at < piece->size && isspace((unsigned char)piece->bytes[piece->at])) {
        piece->at++;
    }
}

static bool take_word(struct piece *piece, const char *word)
{
    size_t size = strlen(word);

    skip_space(piece);
    if (piece->size - piece->at < size || memcmp(piece->bytes + piece->at, word, size) != 0) {
        return false;
    }
    piece->at += size;
    return true;
}

static bool take_number(struct piece *piece, int64_t *ret_number)
{
    int64_t number = 0;
    size_t first = 0;

    skip_space(piece);
    first = piece->at;
    while (piece->at < piece->size && piece->at - first <= NUMBER_DIGITS_MAX &&
           isdigit((unsigned char)piece->bytes[piece->at])) {
        number = number * 10 + (piece->bytes[piece->at] - '0');
        piece->at++;
    }
    if (piece->at == first || piece->at - first > NUMBER_DIGITS_MAX) {
        return false;
    }
    *ret_number = number;
    return true;
}

/* Returns the table's offset by `startxref`; -1 if there is none. */
static int64_t find_table(int fd)
{
    struct stat status;
    struct piece piece;
    int64_t table = 0;
    size_t at = 0;

    if (fstat(fd, &status) != 0) {
        return -1;
    }
    if (!read_piece(fd, status.st_size > NEAR_BYTES ? status.st_size - NEAR_BYTES : 0, NEAR_BYTES,
                    &piece)) {
        return -1;
    }
    for (at = piece.size; at > 0; at--) {
        piece.at = at - 1;
        if (piece.bytes[piece.at] == 's' && take_word(&piece, "startxref")) {
            break;
        }
    }
    return at > 0 && take_number(&piece, &table) ? table : -1;
}

/* Returns whether an object with this number (-1: any) starts at the offset. */
static bool is_object(int fd, int64_t offset, int64_t number)
{
    struct piece piece;
    int64_t found = 0;
    int64_t generation = 0;

    return read_piece(fd, offset, OBJECT_BYTES, &piece) && take_number(&piece, &found) &&
           take_number(&piece, &generation) && take_word(&piece, "obj") &&
           (number < 0 || number == found);
}

/* Checks the next entry of a table's section. Some writers mark free entries as used, at offset
 * 0. */
static bool check_entry(int fd, int64_t header, struct piece *piece, int64_t number,
                        bool *ret_in_use)
{
    int64_t offset = 0;
    int64_t generation = 0;

    if (!take_number(piece, &offset) || !take_number(piece, &generation)) {
        return false;
    }
    if (!take_word(piece, "n")) {
        *ret_in_use = false;
        return take_word(piece, "f");
    }
    *ret_in_use = offset > 0;
    return offset == 0 || is_object(fd, header + offset, number);
}

/* Checks the table's first section as far as the piece goes. */
static bool check_section(int fd, int64_t header, struct piece *piece)
{
    int64_t first = 0;
    int64_t count = 0;
    int64_t checked = 0;

    if (!take_number(piece, &first) || !take_number(piece, &count)) {
        return false;
    }
    for (int64_t i = 0; i < count && checked < OBJECTS_MAX; i++) {
        bool in_use = false;

        if (piece->size - piece->at < OBJECT_BYTES) {
            return true;
        }
        if (!check_entry(fd, header, piece, first + i, &in_use)) {
            return false;
        }
        checked += in_use;
    }
    return true;
}

bool damage_is_found(int fd)
{
    int64_t header = find_header(fd);
    int64_t table = find_table(fd);
    struct piece piece;

    if (header < 0 || table < 0 || !read_piece(fd, header + table, TABLE_BYTES, &piece)) {
        return true;
    }
    if (!take_word(&piece, "xref")) {
        return !is_object(fd, header + table, -1);
    }
    return !check_section(fd, header, &piece);
}
