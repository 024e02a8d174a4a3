/*
 * id_filter.c: see id_filter.h.
 */
#include "server/pipeline/id_filter.h"

enum err id_filter_read_uuid(const struct service *service, const char *text,
                             struct id_prefix *ret_prefix)
{
    if (id_prefix_parse_uuid(slice_text(text), ret_prefix)) {
        return OK;
    }
    fault_add(service->ctx->fault, SLICE("id_prefix"),
              "invalid UUID prefix; expected the first characters of a UUID, such as 0192f0c0-11");
    return ERR_INVALID;
}

enum err id_filter_read_hex(const struct service *service, const char *field, const char *text,
                            size_t bytes, struct id_prefix *ret_prefix)
{
    if (id_prefix_parse_hex(slice_text(text), bytes, ret_prefix)) {
        return OK;
    }
    fault_add(service->ctx->fault, slice_text(field),
              "invalid prefix; expected at most %zu hexadecimal digits", 2 * bytes);
    return ERR_INVALID;
}
