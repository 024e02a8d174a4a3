/*
 * records.h: rows of prompt templates as plain C, and their bytes: messages of proto/record/prompts.proto.
 * The rules of store/records.h apply: slices are borrowed from the bytes, and bytes that do not decode are
 * ERR_CORRUPT.
 */
#ifndef ERRATA_SERVER_DOMAIN_PROMPTS_RECORDS_H
#define ERRATA_SERVER_DOMAIN_PROMPTS_RECORDS_H

#include "store/base/arena.h"
#include "store/key.h"

/* PROMPT_TEMPLATE: the event of a version of a template, which has its text. */
struct prompt_template_record {
    uint64_t seq;
    uint32_t version; /* version number, from 1 */
    struct slice name;
};

MUST_CHECK enum err record_decode_prompt_template(struct slice bytes,
                                                  struct prompt_template_record *ret_record);

MUST_CHECK enum err record_encode_prompt_template(struct arena *arena,
                                                  const struct prompt_template_record *record,
                                                  struct slice *ret_bytes);

#endif
