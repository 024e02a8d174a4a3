/*
 * keys.h: keys of prompt templates, built from the parts of store/key.h.
 */
#ifndef ERRATA_SERVER_DOMAIN_PROMPTS_KEYS_H
#define ERRATA_SERVER_DOMAIN_PROMPTS_KEYS_H

#include "store/key.h"

/* Versions of a template, newest first: organisation, first KEY_NAME_BYTES of the name
 * (then zeros), hash of the whole name 16, inverted version 4. */
#define KEY_NAME_BYTES 24
struct key key_prompt_template_prefix(struct org_id org, struct slice name);
struct key key_prompt_template(struct org_id org, struct slice name, uint32_t version);

#endif
