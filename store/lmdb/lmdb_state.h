/*
 * lmdb_state.h: the file DIR/db/state: whether the data file beside it is open, and which file that
 * is, by its inode's number and time of birth:
 *   open inode 1311 born 1763833335.123456789     or     closed
 * A copy of a folder whose store is open (`cp -r` beside a running server) has the text of the
 * original and another data file: so it is recognised. Its pages may be of different commits. A
 * file that keeps its inode is not mistaken for a copy: a folder whose process was killed, one that
 * was moved within its file system, a snapshot of a volume. A copy that was made after a clean end
 * says `closed`. A copy of a folder whose process was killed cannot be distinguished from one of a
 * running server, and is checked like it.
 * The file is not synced: after a power cut nothing depends on it. It is written in place, which a
 * full disk allows. If it cannot be written, copies are not recognised; nothing else depends on it.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_STATE_H
#define ERRATA_STORE_LMDB_LMDB_STATE_H

#include <stdbool.h>

/* Opens the file, and reads whether the data file is a copy that was made while its original was
 * open. -1 if it cannot be opened. */
int lmdb_state_open(const char *path, int data_file, bool *ret_copied);
/* Marks the store as open. Accepts -1. */
void lmdb_state_mark_open(int state, int data_file);
/* Marks it as closed, with everything synced. Accepts -1. */
void lmdb_state_mark_closed(int state);

#endif
