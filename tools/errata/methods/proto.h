/*
 * proto.h: the published .proto files that the program was built with, by name.
 */
#ifndef ERRATA_TOOLS_ERRATA_METHODS_PROTO_H
#define ERRATA_TOOLS_ERRATA_METHODS_PROTO_H

#include "tools/errata/help/completion.h"

/* Offers the names of the files. */
void proto_offer(struct completion *completion);

#endif
