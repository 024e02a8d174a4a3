/*
 * config_file.h: the file of contexts and their tokens. It is read only if it belongs to the user and
 * is private, changed under a lock, and replaced as a whole, so that a crash or concurrent changes lose
 * nothing.
 */
#ifndef ERRATA_TOOLS_ERRATA_CONFIG_CONFIG_FILE_H
#define ERRATA_TOOLS_ERRATA_CONFIG_CONFIG_FILE_H

#include "tools/errata/config/contexts.h"

/* Maximum bytes of the file; a larger one is refused. */
#define CONFIG_BYTES_MAX ((size_t)1024 * 1024)
/* Maximum wait for another process's change, which normally takes milliseconds. */
#define CONFIG_LOCK_MS 5000

/* Returns the path `$XDG_CONFIG_HOME/errata/config.json`, or `$HOME/.config/errata/config.json`,
 * from the values of these variables (NULL: not set); in the arena. ERR_NOT_FOUND if neither names
 * a folder. */
MUST_CHECK enum err config_file_path(struct arena *arena, const char *xdg_config_home,
                                     const char *home, const char **ret_path);

/* Reads the file into contexts that are in the arena; none if there is no file. ERR_DENIED if
 * others may read it or another user owns it, ERR_INVALID for invalid content, ERR_IO, ERR_MEMORY;
 * with a message in `fault`. */
MUST_CHECK enum err config_file_read(const char *path, struct arena *arena, struct fault *fault,
                                     struct contexts *ret_contexts);

/* Changes the given contexts; if it fails, the file is unchanged. */
typedef enum err (*config_file_change_function)(void *user, struct contexts *contexts,
                                                struct fault *fault);

/* Reads the file, calls `change` and replaces the file atomically; creates missing folders, private
 * to the user. Errors as config_file_read, ERR_BUSY if another process holds the lock too long, and
 * those of `change`. */
MUST_CHECK enum err config_file_change(const char *path, struct arena *arena, struct fault *fault,
                                       config_file_change_function change, void *user);

#endif
