/*
 * methods.h: the methods that can be called: those of the compiled-in contract, and those of a set
 * of descriptors; and kinds of calls made from them.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_METHODS_H
#define ERRATA_TOOLS_BENCH_LOAD_METHODS_H

#include "tools/bench/load/descriptors.h"
#include "tools/bench/load/kind.h"

/* The longest path of a method. */
#define METHODS_PATH_BYTES_MAX 512

/* Returns all paths, those of the contract first. `descriptors` may be NULL. */
size_t methods_count(const struct descriptors *descriptors);
struct slice methods_path(const struct descriptors *descriptors, size_t index);

/* Converts "errata.v1.Service/Method" to a path, with its leading slash. Returns ERR_INVALID with a
 * message. */
MUST_CHECK enum err methods_make_path(struct ctx *ctx, const char *method, struct slice *ret_path);
/* Compiles a template of proto JSON for the method at a path. ERR_NOT_FOUND if there is no such
 * method; ERR_INVALID, or ERR_MEMORY; with a sentence in the fault. */
MUST_CHECK enum err methods_compile(struct ctx *ctx, const struct descriptors *descriptors,
                                    struct slice path, struct slice json,
                                    const struct template_keys *keys,
                                    struct template *ret_template);
/* Compiles a text that is sent unchanged. */
MUST_CHECK enum err methods_compile_plain(struct ctx *ctx, struct slice text,
                                          const struct template_keys *keys,
                                          struct template *ret_template);

#endif
