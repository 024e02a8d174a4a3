/*
 * descriptors.h: methods of services that are not of this contract: a FileDescriptorSet, as written
 * by `protoc --include_imports --descriptor_set_out`, converted to the tables of the JSON codec.
 * Types of google.protobuf are those of the contract, so that proto JSON knows them.
 */
#ifndef ERRATA_TOOLS_BENCH_LOAD_DESCRIPTORS_H
#define ERRATA_TOOLS_BENCH_LOAD_DESCRIPTORS_H

#include "server/codec/contract.h"
#include "store/base/ctx.h"

/* Maximum size, above that of the largest public sets. */
#define DESCRIPTORS_MESSAGES_MAX 100000
#define DESCRIPTORS_METHODS_MAX 65535

/* All in the arena that they were read into. */
struct descriptors {
    struct message_info *messages; /* messages sorted by full name */
    size_t message_count;
    struct enum_info *enums; /* enums sorted by full name */
    size_t enum_count;
    struct method_info *methods; /* methods sorted by path */
    size_t method_count;
};

/* Reads the bytes of a set. Returns ERR_INVALID with a message in the fault, which names the set
 * `name`. */
MUST_CHECK enum err descriptors_read(struct ctx *ctx, const char *name, struct slice bytes,
                                     struct descriptors *ret_descriptors);
/* Finds a method by its path; returns NULL if there is none. */
const struct method_info *descriptors_find_method(const struct descriptors *descriptors,
                                                  struct slice path);
const struct message_info *descriptors_find_message(const struct descriptors *descriptors,
                                                    struct slice full_name);

#endif
