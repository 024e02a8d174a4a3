/*
 * methods.c: see methods.h.
 */
#include "tools/bench/load/methods.h"

/* "%.*s" of a slice. */
#define SHOWN(slice) (int)(slice).size, (const char *)(slice).data

size_t methods_count(const struct descriptors *descriptors)
{
    return contract_method_count + (descriptors != NULL ? descriptors->method_count : 0);
}

struct slice methods_path(const struct descriptors *descriptors, size_t index)
{
    return index < contract_method_count ? contract_methods[index].path
                                         : descriptors->methods[index - contract_method_count].path;
}

enum err methods_make_path(struct ctx *ctx, const char *method, struct slice *ret_path)
{
    struct slice name = slice_text(method[0] == '/' ? method + 1 : method);
    struct slice path = {NULL, 0};

    for (size_t i = 0; i < name.size; i++) {
        if (name.data[i] <= ' ' || name.data[i] >= 0x7f) {
            return fault_say(ctx->fault, ERR_INVALID,
                             "invalid method name \"%s\"; expected SERVICE/METHOD", method);
        }
    }
    if (name.size == 0 || name.size > METHODS_PATH_BYTES_MAX) {
        return fault_say(ctx->fault, ERR_INVALID,
                         "invalid method name \"%.60s\"; expected a name such as "
                         "errata.v1.EventService/GetEvent",
                         method);
    }
    path = arena_printf(ctx->arena, "/%.*s", SHOWN(name));
    if (path.size == 0) {
        return ERR_MEMORY;
    }
    *ret_path = path;
    return OK;
}

enum err methods_compile(struct ctx *ctx, const struct descriptors *descriptors, struct slice path,
                         struct slice json, const struct template_keys *keys,
                         struct template *ret_template)
{
    const struct method_info *method = contract_find_method(path);

    if (method == NULL && descriptors != NULL) {
        method = descriptors_find_method(descriptors, path);
    }
    if (method == NULL) {
        return fault_say(ctx->fault, ERR_NOT_FOUND, "unknown method %.*s",
                         SHOWN(slice_after(path, 1)));
    }
    if (method->stream != METHOD_UNARY) {
        return fault_say(ctx->fault, ERR_INVALID,
                         "%.*s streams: only methods with one request and one reply have templates",
                         SHOWN(slice_after(path, 1)));
    }
    return template_compile(ctx, method->request, json, keys, ret_template);
}

enum err methods_compile_plain(struct ctx *ctx, struct slice text, const struct template_keys *keys,
                               struct template *ret_template)
{
    return template_compile(ctx, NULL, text, keys, ret_template);
}
