/*
 * hint.h: the ready piece of `hint_examples_json`, made once when an event is applied, so that a read
 * copies bytes. Every string leaf, and every member's name, has passed the sanitiser; numbers and
 * structure stay. It decides nothing about which examples are served.
 */
#ifndef ERRATA_SERVER_DOMAIN_TEXT_HINT_H
#define ERRATA_SERVER_DOMAIN_TEXT_HINT_H

#include "store/base/arena.h"
#include "store/base/err.h"

/* `{"input_snippet":...,"output":{...}}` in the arena. `output_json` is a checked JSON object.
 * Members whose names become equal once they are sanitised would make the text ambiguous: then all
 * members with a changed name are left out. Fails only with ERR_MEMORY. */
MUST_CHECK enum err hint_make_piece(struct arena *arena, struct slice input_snippet,
                                    struct slice output_json, struct slice *ret_piece);

#endif
