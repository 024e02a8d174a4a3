/*
 * grpc_status.h: writes the fields that end a call in gRPC and gRPC-Web: its status and trailing metadata.
 */
#ifndef ERRATA_SERVER_GRPC_GRPC_STATUS_H
#define ERRATA_SERVER_GRPC_GRPC_STATUS_H

#include "server/call/protocol.h"
#include "server/http2/h2.h"

/* The fields of one block, while they are collected; elements from `count` on are not initialised. */
struct grpc_block {
    size_t count;
    struct h2_field fields[H2_FIELDS_MAX];
};

void grpc_block_add(struct grpc_block *block, const struct h2_field *field);
/* Adds the services' metadata. A value is left out if there is no memory to encode it. */
void grpc_block_add_metadata(struct grpc_block *block, struct arena *arena,
                             const struct call_field *fields, size_t count);
/* Adds status, message, details and trailing metadata. Texts that cannot be encoded are left out: only
 * the code is essential. */
void grpc_block_add_status(struct grpc_block *block, struct call_core *core);

#endif
