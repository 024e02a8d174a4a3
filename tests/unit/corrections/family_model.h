/*
 * family_model.h: random histories of ingestions, corrections, retractions, merges and splits of both kinds, and a
 * model that keeps every event in an array. Tests answer a question by a scan of all events.
 */
#ifndef ERRATA_TESTS_UNIT_CORRECTIONS_FAMILY_MODEL_H
#define ERRATA_TESTS_UNIT_CORRECTIONS_FAMILY_MODEL_H

#include "tests/unit/corrections/fixture.h"

#define EVENTS 300
#define PAPERS 24 /* the last two are never ingested */
#define LAYOUTS 5 /* the last one has no documents */
#define PAPER_LAYOUTS 4
#define FAMILIES 3 /* families of documents with equal sketches */
#define PARTS 5 /* maximum number of families from splits by documents; their numbers follow */
#define MEMBERS (FAMILIES + PARTS)
#define ENTITIES 12
#define SKETCH_FEATURES 40
#define STEP_US 1000

/* A document, from number 1. */
struct family_paper {
    uint64_t first_seq; /* 0: not ingested */
    uint64_t seq; /* seq of the event with the fingerprint; 0: none */
    unsigned members[1 + PARTS]; /* the family that it joined, then those that it was moved to */
    uint64_t member_seqs[1 + PARTS]; /* seqs of these events */
    size_t member_count;
};

/* An event, by its seq. */
struct family_fact {
    int64_t created_at_us;
    bool corrects; /* it is a correction that changes a field */
    enum annotator_kind annotator_kind;
    unsigned merged; /* the family that it merged into `into`, or split off; 0: another event */
    unsigned into; /* 0: a split */
    bool example; /* false: an ingestion, or an event that is not an example */
    uint64_t retracted_by; /* seq of the retraction; 0: it was not retracted */
    unsigned paper; /* 0: none named */
    unsigned layout; /* as it must be stored; 0: none */
    unsigned entity; /* 0: none named */
    unsigned value;
};

struct family_model {
    struct fixture fixture;
    struct family_paper papers[PAPERS + 1];
    struct family_fact facts[EVENTS + 16];
    uint64_t count;
    uint64_t part_seqs[PARTS]; /* seqs of the splits by documents */
    unsigned part_count;
    uint64_t sketches[MEMBERS + 1]
                     [FAMILIES +
                      1]; /* by member, the newest document with each sketch; 0: there is none */
    struct slice fingerprints[LAYOUTS + 1]; /* in `texts` */
    char texts[LAYOUTS + 1][2 * SHA256_BYTES];
};

unsigned family_model_draw(struct fixture *fixture, unsigned below);
/* Sketches and layouts overlap: layout 1 has documents with one sketch, the others have several. */
unsigned family_model_layout_of(unsigned paper);
/* The family that a document was of after the event `now`, which may have been an alias; 0: none. */
unsigned family_model_member_of(const struct family_model *model, unsigned paper, uint64_t now);
struct slice family_model_name_of(struct fixture *fixture, const char *kind, unsigned number);
void family_model_init(struct family_model *model, uint64_t seed);
/* The seq of the event that made a family; UINT64_MAX: it does not exist yet. */
uint64_t family_model_seq_of_family(const struct family_model *model, unsigned family);
/* Finds the families as they were after the event `now`: `ret_root[f]` is the one that f is merged into, or f. */
void family_model_find_roots(const struct family_model *model, uint64_t now,
                             unsigned ret_root[MEMBERS + 1]);
/* Several ingestions and corrections in one write; after it perhaps a retraction, and a merge or a split. */
void family_model_write_some(struct family_model *model);
void family_model_fill(struct family_model *model);

#endif
