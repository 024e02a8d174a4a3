/*
 * rule_import_read.h: reads a document of rules (rule_file.h) and checks all of it, without the store. Members may be
 * missing or null; unknown ones are refused, so that a misspelled name does not become a default. Enum values may have
 * the documents' words or the contract's names.
 */
#ifndef ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_IMPORT_READ_H
#define ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_IMPORT_READ_H

#include "server/domain/verdicts/rules.h"
#include "store/base/ctx.h"

/* Maximum rules of a document: as many as an organisation may have enabled (RULE_SET_RULES_MAX). One transaction
 * creates them in about a second. */
#define RULE_IMPORT_RULES_MAX 20000
/* Maximum bytes of a pattern, as in the contract. */
#define RULE_IMPORT_PATTERN_BYTES_MAX 256
/* The largest count: the largest integer that every reader of JSON keeps exactly. */
#define RULE_IMPORT_COUNT_MAX (UINT64_C(1) << 53)

/* One rule of a document. Slices are in the arena, or borrowed from the document. */
struct rule_import_item {
    size_t place; /* index in the document, from 0 */
    enum learned_rule_type rule_type;
    struct slice pattern;
    struct uuid id; /* its id in the document; zeros if it has none */
    struct learned_rule_values values; /* `source_id`: of the document's member, if `id` is zeros */
};

/* A document that has no mistakes. */
struct rule_import {
    struct rule_import_item *items; /* in the order of the document */
    size_t count;
    const struct rule_import_item **by_key; /* the same, by type and pattern */
};

/* Reads a checked JSON object. ERR_INVALID with a fault for each mistake, whose field is the place, such as
 * `rules[17].pattern`; ERR_MEMORY. */
MUST_CHECK enum err rule_import_read(struct ctx *ctx, struct slice document,
                                     struct rule_import *ret_import);
/* Finds the rule of a type and pattern; NULL if the document has none. */
const struct rule_import_item *rule_import_find(const struct rule_import *import,
                                                uint32_t rule_type, struct slice pattern);

#endif
