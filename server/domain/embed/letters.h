/*
 * letters.h: decodes arbitrary text into characters, truncated and normalised to NFKC.
 */
#ifndef ERRATA_SERVER_DOMAIN_EMBED_LETTERS_H
#define ERRATA_SERVER_DOMAIN_EMBED_LETTERS_H

#include "server/domain/text/marks.h"
#include "store/base/arena.h"

/* Maximum characters that are read: the encoder's 128 pieces have at most 16 each; the rest is room
 * for runs of unknown characters, which are one token. */
#define LETTERS_MAX 4096

/* Reads a text into the arena; there is room for one character more than there are. Invalid UTF-8
 * becomes U+FFFD; text beyond LETTERS_MAX is cut off. Fails only with ERR_MEMORY. */
MUST_CHECK enum err letters_read(struct arena *arena, struct slice text,
                                 struct points *ret_letters);

#endif
