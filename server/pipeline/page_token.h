/*
 * page_token.h: page tokens, with which a list continues. Opaque to callers: the position of the
 * page's last row (store/page.h), authenticated with the data folder's key and bound to
 * organisation, method and filter, so that a token that is damaged, or of another list, is refused.
 */
#ifndef ERRATA_SERVER_PIPELINE_PAGE_TOKEN_H
#define ERRATA_SERVER_PIPELINE_PAGE_TOKEN_H

#include "server/pipeline/service.h"

/* Maximum bytes of a position: a key of the store. */
#define PAGE_POSITION_BYTES_MAX STORE_KEY_BYTES_MAX

/* Returns the text of a token for `position`, in the arena. ERR_MEMORY, or ERR_INTERNAL for a
 * position that is longer than PAGE_POSITION_BYTES_MAX. */
MUST_CHECK enum err page_token_write(const struct service *service,
                                     const struct sha256_digest *filter, struct slice position,
                                     struct slice *ret_text);
/* Returns the position that a text encodes, in the arena; empty for the empty text. ERR_INVALID,
 * with the field page_token, for a token that this server did not issue for this organisation,
 * method and filter. */
MUST_CHECK enum err page_token_read(const struct service *service,
                                    const struct sha256_digest *filter, struct slice text,
                                    struct slice *ret_position);

#endif
