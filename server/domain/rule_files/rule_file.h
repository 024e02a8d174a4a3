/*
 * rule_file.h: the JSON document of learned rules: written by export, read by import. Members have
 * the names and values of the documents' LearningRule; `schema_version` is the first member:
 *
 *   {"schema_version":1,"rules":[
 *   {"rule_id":"...","rule_type":"missed_indicator","pattern":"font",...},
 *   ...
 *   ]}
 */
#ifndef ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_FILE_H
#define ERRATA_SERVER_DOMAIN_RULE_FILES_RULE_FILE_H

#include "store/base/slice.h"

/* The version of the document. A changed meaning of a member, or a changed form, needs a new version. */
#define RULE_FILE_VERSION 1

/* Returns the word of an enum value in a document, such as `missed_indicator`; empty for an unknown value. */
struct slice rule_file_type_word(uint32_t rule_type);
struct slice rule_file_action_word(uint32_t action);
struct slice rule_file_state_word(uint32_t state);

#endif
