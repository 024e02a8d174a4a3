/*
 * address_file.c: writes the address as a line, and again while the disk is full.
 */
#include "server/app/address_file.h"

#include "server/app/app.h"
#include "server/app/files.h"
#include "server/net/server.h"
#include "store/base/logger.h"

#include <stdio.h>

#define FAULT_BYTES_MAX (64u << 10)

static enum err write_line(const struct address_file *file, struct fault *fault)
{
    char line[NET_ADDRESS_BYTES + 1];
    int size = snprintf(line, sizeof(line), "%s\n", file->address);

    return files_write(file->data, APP_ADDRESS_FILE, slice_of(line, (size_t)size), fault);
}

enum err address_file_write(struct address_file *file, struct fault *fault)
{
    const struct fault before = *fault;
    enum err err = write_line(file, fault);

    file->missing = err == ERR_DISK_FULL;
    if (file->missing) {
        *fault = before;
        return OK;
    }
    return err;
}

void address_file_retry(struct address_file *file)
{
    struct arena arena;
    struct fault fault;
    enum err err = OK;

    if (!file->missing) {
        return;
    }
    arena_init(&arena, FAULT_BYTES_MAX);
    fault_init(&fault, &arena);
    err = write_line(file, &fault);
    file->missing = err != OK;
    if (err != OK && err != ERR_DISK_FULL && !file->failed) {
        file->failed = true;
        logger_printf(LOGGER_WARNING, "%.*s; it is tried again", (int)fault.message.size,
                      (const char *)fault.message.data);
    }
    arena_deinit(&arena);
}
