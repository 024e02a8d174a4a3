/*
 * app_damage.h: reaction to damage of the store's file that is found while the program runs. The
 * check at open covers part of the file; a page beyond that, or one that the disk loses later,
 * causes a fault within LMDB's map, a fault anywhere while LMDB follows pages
 * (store_lmdb_is_inside), or a failed assertion of LMDB. Each ends the program at once, with one
 * line and APP_EXIT_DAMAGED: no content of such a page is returned, and acknowledged writes are in
 * the undamaged parts of the file.
 */
#ifndef ERRATA_SERVER_APP_APP_DAMAGE_H
#define ERRATA_SERVER_APP_APP_DAMAGE_H

#include "store/base/fault.h"

/* Refuses a data folder that got its first token once but has no store now: ERR_CORRUPT, explained
 * in `fault`. */
MUST_CHECK enum err app_damage_check_folder(const char *data, struct fault *fault);
/* Does the same for commands that need an existing store, which opening would create.
 * ERR_PRECONDITION if there is none. */
MUST_CHECK enum err app_damage_require_store(const char *data, struct fault *fault);
/* Installs handlers: faults within `map` or inside LMDB end the program as described above; any
 * other fault is a bug, and ends it with its signal. `data`, the folder named in the message, must
 * outlive the program's threads. May be called again for another map while no other thread runs. */
void app_damage_watch(const char *data, struct slice map);
/* Implements store_lmdb_config.on_damage. */
NORETURN void app_damage_end(const char *fact);

#endif
