/*
 * page_token.h: where a list goes on. Opaque to callers: a position that the method understands,
 * authenticated with the data folder's key and bound to organisation, method and filter, so that a
 * foreign, damaged or re-used one is refused.
 */
#ifndef ERRATA_SERVER_PIPELINE_PAGE_TOKEN_H
#define ERRATA_SERVER_PIPELINE_PAGE_TOKEN_H

#include "server/pipeline/service.h"
#include "store/page.h"

/* The longest position: a key of the store. */
#define PAGE_POSITION_BYTES_MAX STORE_KEY_BYTES_MAX
#define PAGE_SIZE_DEFAULT 50
/* A larger page_size counts as this (AIP-158): a page ends at PAGE_BYTES_MAX anyway. */
#define PAGE_SIZE_MAX 1000

/* How many items a page may have: the request's page_size, which the contract's rules keep from being
 * negative, the default for 0, and never more than PAGE_SIZE_MAX. */
size_t page_size_of(int32_t page_size);
/* The digest of a List request's filter: of the request without its page_size and page_token. Works in
 * service->ctx->arena. */
MUST_CHECK enum err page_filter_of(const struct service *service, const ProtobufCMessage *request,
                                   struct sha256_digest *ret_filter);
/* The text of a token for `position`, in the arena. ERR_MEMORY alone. */
MUST_CHECK enum err page_token_write(const struct service *service,
                                     const struct sha256_digest *filter, struct slice position,
                                     struct slice *ret_text);
/* The position that a text encodes: empty for the empty text. ERR_INVALID, with the field page_token, for
 * anything that this server did not make for this organisation, method and filter. */
MUST_CHECK enum err page_token_read(const struct service *service,
                                    const struct sha256_digest *filter, struct slice text,
                                    struct slice *ret_position);

/* Both for a List request: its filter, and where the page begins. */
MUST_CHECK enum err page_token_begin(const struct service *service, const ProtobufCMessage *request,
                                     const char *page_token, struct sha256_digest *ret_filter,
                                     struct slice *ret_after);
/* Appends the token of the next page, as field `field`, to a page that ended at `last`. */
MUST_CHECK enum err page_token_append(const struct service *service,
                                      const struct sha256_digest *filter, const struct key *last,
                                      uint32_t field, struct buffer *body);

#endif
