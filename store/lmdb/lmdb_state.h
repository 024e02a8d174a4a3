/*
 * lmdb_state.h: the file DIR/db/state, which says whether the data file beside it is open, and by its
 * inode's number and time of birth which file that is:
 *
 *   open inode 1311 born 1763833335.123456789     or     closed
 *
 * A copy of a folder whose store is open (`cp -r` beside a running server) has the text of the original
 * and a data file of its own: that is how it is recognised. Its pages may be of different commits. What
 * keeps the inode is no copy and is not mistaken for one: a folder whose process was killed, one that
 * was moved within its file system, a snapshot of a volume. A copy that was made after a clean end says
 * `closed`. A copy of a folder whose process was killed can't be distinguished from one of a running server:
 * it is checked like one.
 *
 * The file is not synced: after a power cut nothing depends on it. It is written in place, which a full
 * disk allows. Where it can't be written, only copies are not recognised.
 */
#ifndef ERRATA_STORE_LMDB_LMDB_STATE_H
#define ERRATA_STORE_LMDB_LMDB_STATE_H

#include <stdbool.h>

/* Opens the file, and reads whether the data file is a copy that was made while its original was open.
 * -1 where it can't be opened. */
int lmdb_state_open(const char *path, int data_file, bool *ret_copied);
/* The store is open from now on. Takes -1. */
void lmdb_state_mark_open(int state, int data_file);
/* It is closed, all of it synced. Takes -1. */
void lmdb_state_mark_closed(int state);

#endif
