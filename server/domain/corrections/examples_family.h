/*
 * examples_family.h: the rows of a layout family for a lookup of examples: whether an example belongs to the
 * family, and the examples of the family's other layouts. The lookup (examples.c) decides which of them are
 * served.
 */
#ifndef ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_FAMILY_H
#define ERRATA_SERVER_DOMAIN_CORRECTIONS_EXAMPLES_FAMILY_H

#include "server/domain/corrections/examples_filter.h"
#include "server/domain/layouts/family_examples.h"
#include "server/domain/layouts/family_walk.h"

/* An example's position and family. */
struct examples_family_place {
    struct org_id org;
    const struct family_members *members;
    int64_t created_at_us;
    uint64_t seq;
    uint64_t as_of_seq; /* UINT64_MAX: now */
};

/* Returns whether an example belonged to the family after the event `as_of_seq` and, if not, whether the family
 * has older examples. Reads one row per member. */
MUST_CHECK enum err examples_family_has(struct store_txn *txn,
                                        const struct examples_family_place *place, bool *ret_has,
                                        bool *ret_has_older);

/* Selects the examples of a family. */
struct examples_family_range {
    struct org_id org;
    const struct family_members *members;
    const struct key_fingerprint *except; /* the layout whose examples are excluded */
    const struct examples_filter *filter;
    int64_t as_of_us; /* recorded_at of the event `filter->as_of_seq`, if that is not UINT64_MAX */
    uint32_t layouts_max; /* maximum number of opened clusters, up to EXAMPLES_LIMIT_MAX */
    bool with_text; /* the texts of fingerprints are required */
    struct arena *arena;
};

/* A layout whose cluster was opened. */
struct examples_family_layout {
    struct key_fingerprint fingerprint;
    struct slice head; /* its head row */
    struct slice text; /* text of the fingerprint; only with `with_text` */
    char digits[2 * SHA256_BYTES]; /* digits of a measured fingerprint; `text` may point into it */
};

/* An example whose own row was read. Slices are borrowed from the transaction. */
struct examples_family_row {
    const struct examples_family_layout *layout; /* borrowed from the walk */
    struct key key; /* position of the example in its layout's cluster */
    struct slice value;
    bool is_retracted; /* `value` is of TABLE_EXAMPLE_RETRACTED */
};

struct examples_family_walk {
    const struct examples_family_range *range;
    struct family_walk rows;
    struct examples_family_layout layouts[EXAMPLES_LIMIT_MAX];
    size_t layout_count;
    size_t row_count; /* number of passed rows of the family */
    bool
        is_cut; /* the walk ended with rows left: EXAMPLES_FAMILY_ROWS_MAX were passed, or too many layouts
                 * would have to be opened */
};

/* `range` must outlive the walk. The caller must call examples_family_deinit, even after an error. */
MUST_CHECK enum err examples_family_init(struct examples_family_walk *walk, struct store_txn *txn,
                                         const struct examples_family_range *range);
/* Returns the next example that may be served according to its row of the family, newest first; ERR_NOT_FOUND
 * after the last one. */
MUST_CHECK enum err examples_family_next(struct examples_family_walk *walk, struct store_txn *txn,
                                         struct examples_family_row *ret_row);
void examples_family_deinit(struct examples_family_walk *walk);

#endif
