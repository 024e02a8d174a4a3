/*
 * ingest_text.c: see ingest_text.h. A file is written beside its place and renamed, so that a reader
 * never finds a part of a text.
 */
#include "tools/errata/layouts/ingest_text.h"

#include "store/base/wire.h"
#include "tools/errata/layouts/measures.h"

#include <errata/v1/layout_service.fields.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Texts have the permissions of the PDFs beside them. */
#define TEXT_FILE_MODE 0644

bool ingest_text_is_printed(const struct ingest_text *text)
{
    return text->folder != NULL && strcmp(text->folder, "-") == 0;
}

enum cli_exit ingest_text_begin(struct cli *cli, size_t files, struct ingest_text *ret_text)
{
    struct ingest_text text = {.folder = options_get(&cli->options, "text")};

    if (ingest_text_is_printed(&text) && files != 1 && !cli->json) {
        return cli_usage(
            cli, "--text -: given with %zu files; expected one file, or --text FOLDER for several",
            files);
    }
    if (ingest_text_is_wanted(&text) && !ingest_text_is_printed(&text) &&
        mkdir(text.folder, 0777) != 0 && errno != EEXIST) {
        return cli_local(cli, "%s can't be created: %s", text.folder, strerror(errno));
    }
    *ret_text = text;
    return CLI_OK;
}

void ingest_text_split(struct arena *arena, struct slice reply, struct slice *ret_rest,
                       struct slice *ret_text)
{
    struct wire_reader reader = wire_reader_of(reply);
    struct slice text = {NULL, 0};
    struct buffer rest;

    buffer_init(&rest, arena, 4096);
    while (reader.rest.size > 0) {
        const uint8_t *start = reader.rest.data;
        struct wire_field field;

        if (wire_next(&reader, &field) != OK) {
            break;
        }
        if (field.number == INGEST_DOCUMENT_STREAM_RESPONSE_TEXT_FIELD) {
            text = field.bytes;
        } else {
            buffer_append(&rest, slice_of(start, (size_t)(reader.rest.data - start)));
        }
    }
    *ret_text = buffer_ok(&rest) ? text : slice_of(NULL, 0);
    *ret_rest = buffer_slice(&rest);
}

/* Returns FOLDER/NAME.txt for a PDF; NAME is its name without folders and `.pdf`. */
static struct slice path_of(struct arena *arena, const char *folder, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name);

    if (size > 4 && strcasecmp(name + size - 4, ".pdf") == 0) {
        size -= 4;
    }
    return arena_printf(arena, "%s/%.*s.txt", folder, (int)size, name);
}

/* Writes a new file and renames it to its final name. */
static bool write_file(struct arena *arena, const char *path, struct slice text)
{
    struct slice copy = arena_printf(arena, "%s.XXXXXX", path);
    char *new_path = (char *)(uintptr_t)copy.data; /* a private copy, which mkostemp changes */
    int fd = copy.size > 0 ? mkostemp(new_path, O_CLOEXEC) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    bool written = false;

    if (file == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return false;
    }
    written = (text.size == 0 || fwrite(text.data, 1, text.size, file) == text.size) &&
              fchmod(fd, TEXT_FILE_MODE) == 0;
    written = fclose(file) == 0 && written;
    if (!written || rename(new_path, path) != 0) {
        int why = errno;

        (void)unlink(new_path);
        errno = why;
        return false;
    }
    return true;
}

/* Returns the number of characters of a DocumentText. */
static struct slice characters_of(struct slice document_text)
{
    struct wire_reader reader = wire_reader_of(document_text);
    struct slice text = {NULL, 0};
    struct wire_field field;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == DOCUMENT_TEXT_TEXT_FIELD) {
            text = field.bytes;
        }
    }
    return text;
}

const char *ingest_text_warning(struct slice document_text)
{
    struct wire_reader reader = wire_reader_of(document_text);
    struct wire_field field;

    while (wire_next(&reader, &field) == OK) {
        if (field.number == DOCUMENT_TEXT_WARNINGS_FIELD) {
            return " TEXT_TRUNCATED";
        }
    }
    return "";
}

bool ingest_text_put(struct cli *cli, const struct ingest_text *text, const char *path,
                     struct slice document_text, struct slice *ret_problem)
{
    const struct slice characters = characters_of(document_text);
    struct slice file = {NULL, 0};

    if (ingest_text_is_printed(text)) {
        if (cli->out.terminal) {
            measures_print_text(cli, "", characters, SIZE_MAX);
        } else {
            print_bytes(&cli->out, characters);
        }
        return true;
    }
    file = path_of(&cli->arena, text->folder, path);
    if (file.size > 0 && write_file(&cli->arena, (const char *)file.data, characters)) {
        return true;
    }
    *ret_problem = arena_printf(&cli->arena, "it is stored, but %.*s can't be written: %s",
                                SLICE_ARGS(file), strerror(errno));
    return false;
}
