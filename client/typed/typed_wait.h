/*
 * typed_wait.h: the blocking forms of the stubs, over <errata/blocking.h>. A reply belongs to its
 * answer and is freed with it. Status codes set by the stubs are those of typed_call.h; they
 * replace the answer's status.
 */
#ifndef ERRATA_CLIENT_TYPED_TYPED_WAIT_H
#define ERRATA_CLIENT_TYPED_TYPED_WAIT_H

#include "client/typed/typed_call.h"

/* Results as errata_blocking_call; `*ret_reply` is NULL unless the answer's status is OK. */
ERRATA_MUST_CHECK enum errata_result
typed_wait_call(struct errata_blocking *blocking, const struct typed_kind *kind,
                const ProtobufCMessage *request, const struct errata_options *options,
                struct errata_answer **ret_answer, const ProtobufCMessage **ret_reply);
ERRATA_MUST_CHECK enum errata_result
typed_wait_stream(struct errata_blocking *blocking, const struct typed_kind *kind,
                  const ProtobufCMessage *request, const struct errata_options *options,
                  const struct typed_user *to, struct errata_answer **ret_answer);
ERRATA_MUST_CHECK enum errata_result
typed_wait_upload(struct errata_blocking *blocking, const struct typed_kind *kind,
                  const struct errata_options *options, const struct typed_user *to,
                  struct errata_answer **ret_answer, const ProtobufCMessage **ret_reply);

#endif
