/*
 * mixes.h: the calls of Errata that a mix can name without a user's template. Their keys are those
 * of a store that `--preload` made: layouts `bench-layout-00000042`, events by their numbers.
 */
#ifndef ERRATA_TOOLS_BENCH_MIXES_H
#define ERRATA_TOOLS_BENCH_MIXES_H

struct mix_call {
    const char *name;
    const char *method;
    const char *json; /* a template (load/template.h) */
    const char *summary;
};

/* The list ends with a call without a name. */
extern const struct mix_call mix_calls[];

/* Finds a call by its name; returns NULL if there is none. */
const struct mix_call *mix_find(const char *name);

#endif
