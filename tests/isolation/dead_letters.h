/*
 * dead_letters.h: dead letters of an organisation whose retry succeeds.
 */
#ifndef ERRATA_TESTS_ISOLATION_DEAD_LETTERS_H
#define ERRATA_TESTS_ISOLATION_DEAD_LETTERS_H

#include "tests/isolation/asker.h"

/* Stores `count` of them, without a call: a stream has none. */
void make_dead_letters(struct fixture *fixture, const struct asker *asker, unsigned count);

#endif
