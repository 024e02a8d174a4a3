/*
 * temp_folder.h: a folder of a test's own, removed with all that is in it.
 */
#ifndef ERRATA_TESTS_SUPPORT_STORE_TEMP_FOLDER_H
#define ERRATA_TESTS_SUPPORT_STORE_TEMP_FOLDER_H

#define TEMP_FOLDER_PATH_BYTES 256

struct temp_folder {
    char path[TEMP_FOLDER_PATH_BYTES];
};

/* Creates the folder under TMPDIR or /tmp; aborts the program on failure. */
void temp_folder_init(struct temp_folder *folder);
/* Takes a zeroed one too. */
void temp_folder_deinit(struct temp_folder *folder);

#endif
