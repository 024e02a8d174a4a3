/*
 * fuzz.h: what a fuzz target is: one function that takes any bytes and must return. libFuzzer
 * calls it (preset fuzz), and so does replay.c, which is an ordinary test.
 */
#ifndef ERRATA_TESTS_FUZZ_FUZZ_H
#define ERRATA_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
