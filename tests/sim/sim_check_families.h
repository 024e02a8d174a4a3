/*
 * sim_check_families.h: the layout families of an organisation, by its log. Documents of one layout make one family,
 * also if they are written in one batch, until documents are split off; a document joins a family that had documents of
 * its layout, and names the family that this one was merged into.
 */
#ifndef ERRATA_TESTS_SIM_SIM_CHECK_FAMILIES_H
#define ERRATA_TESTS_SIM_SIM_CHECK_FAMILIES_H

#include "store/log.h"
#include "tests/sim/sim_model.h"

struct sim_family;
struct sim_family_document;

struct sim_families {
    struct sim *sim;
    struct sim_family *families; /* owned; oldest first */
    size_t count;
    struct sim_family_document *documents; /* owned; oldest first */
    size_t document_count;
    struct uuid *changes; /* owned; ids of the merges and splits */
    size_t change_count;
};

/* Checks the next event of the log; events of other kinds are ignored. `families` starts with `sim` and zeros. */
void sim_families_check(struct sim_families *families, const struct event *event);
/* Returns whether a merge or split with this id was among the events. */
bool sim_families_have_change(const struct sim_families *families, const char *id);
void sim_families_deinit(struct sim_families *families);

#endif
