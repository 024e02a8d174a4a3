/*
 * id_filter.h: filters of lists by the first characters of an id. A text with which no id can begin
 * is reported in service->ctx->fault; an empty text selects all.
 */
#ifndef ERRATA_SERVER_PIPELINE_ID_FILTER_H
#define ERRATA_SERVER_PIPELINE_ID_FILTER_H

#include "server/pipeline/service.h"
#include "store/id_prefix.h"

/* Reads a prefix of UUIDs from the field id_prefix. */
MUST_CHECK enum err id_filter_read_uuid(const struct service *service, const char *text,
                                        struct id_prefix *ret_prefix);
/* Reads a prefix of hexadecimal ids of `bytes` bytes. */
MUST_CHECK enum err id_filter_read_hex(const struct service *service, const char *field,
                                       const char *text, size_t bytes,
                                       struct id_prefix *ret_prefix);

#endif
