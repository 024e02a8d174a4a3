/*
 * mapping_wire.h: converts requests of MappingService to values of the domain. Each function checks
 * one message, adds each invalid field to ctx->fault with its path below `path` (empty: the request
 * itself), and then returns ERR_INVALID. The values borrow from the message.
 */
#ifndef ERRATA_SERVER_API_MAPPINGS_MAPPING_WIRE_H
#define ERRATA_SERVER_API_MAPPINGS_MAPPING_WIRE_H

#include "server/domain/mappings/mappings.h"

#include <errata/v1/mapping_service.pb-c.h>

MUST_CHECK enum err mapping_wire_read_suggestion(struct ctx *ctx, struct slice path,
                                                 const Errata__V1__SkuMapping *mapping,
                                                 struct mapping_suggestion *ret_suggestion);
MUST_CHECK enum err mapping_wire_read_confirmation(struct ctx *ctx, struct slice path,
                                                   const Errata__V1__ConfirmMappingRequest *request,
                                                   struct mapping_judgement *ret_judgement);
MUST_CHECK enum err mapping_wire_read_rejection(struct ctx *ctx, struct slice path,
                                                const Errata__V1__RejectMappingRequest *request,
                                                struct mapping_judgement *ret_judgement);

#endif
