/*
 * app_damage.h: what the program does where the store's file turns out to be damaged while it runs.
 * The check at open finds what it reaches; a page beyond that, or a disk that loses one later, shows
 * itself as a fault within LMDB's map, as a fault anywhere while LMDB follows pages
 * (store_lmdb_is_inside), or as a fact that LMDB asserts. Each ends the program at once, with one line
 * that says so and APP_EXIT_DAMAGED: nothing of what such a page holds is answered, and what was
 * acknowledged is in the file as far as the file is whole.
 */
#ifndef ERRATA_SERVER_APP_APP_DAMAGE_H
#define ERRATA_SERVER_APP_APP_DAMAGE_H

#include "store/base/fault.h"

/* A store that had its first token and has no file now is not rebuilt: ERR_CORRUPT, which `fault`
 * explains. */
MUST_CHECK enum err app_damage_check_folder(const char *data, struct fault *fault);
/* The same, for what needs a store that is there: opening would make one. ERR_PRECONDITION too. */
MUST_CHECK enum err app_damage_require_store(const char *data, struct fault *fault);
/* From now on faults within `map` or inside LMDB end the program as above; any other is a mistake of
 * the program, and ends it with its signal. `data`, the folder that the line names, outlives the
 * program's threads. Called again, before there are any, for another map in its place. */
void app_damage_watch(const char *data, struct slice map);
/* For store_lmdb_config.on_damage. */
NORETURN void app_damage_end(const char *fact);

#endif
