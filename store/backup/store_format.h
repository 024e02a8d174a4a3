/*
 * store_format.h: the versions of the store's format (FORMAT.md) that this program works with.
 */
#ifndef ERRATA_STORE_BACKUP_STORE_FORMAT_H
#define ERRATA_STORE_BACKUP_STORE_FORMAT_H

/* Version of the store's format: keys, records, and the result of applying events. */
#define STORE_FORMAT_VERSION 9
/* The oldest format whose logs can be replayed, so that its tables can be rebuilt. */
#define STORE_FORMAT_OLDEST 3

#endif
