/*
 * examples_filter.c: see examples_filter.h.
 */
#include "server/domain/corrections/examples_filter.h"

#include "store/base/assert.h"

void examples_filter_init(const struct examples_query *query, uint32_t default_kinds,
                          struct examples_filter *ret_filter)
{
    ret_filter->as_of_seq = query->has_as_of ? query->as_of_seq : UINT64_MAX;
    ret_filter->include_superseded = query->include_superseded;
    ret_filter->annotator_kinds =
        query->annotator_kinds != 0 ? query->annotator_kinds : default_kinds;
    ret_filter->omits_own = query->document_id.size > 0 && !query->include_own;
    ret_filter->served_count = 0;
    if (ret_filter->omits_own) {
        struct sha256_digest digest = sha256(query->document_id);

        memcpy(ret_filter->own_hash, digest.bytes, sizeof(ret_filter->own_hash));
    }
}

static bool is_own(const struct examples_filter *filter, const struct example_record *row)
{
    return filter->omits_own && row->document_hash.size == sizeof(filter->own_hash) &&
           memcmp(row->document_hash.data, filter->own_hash, sizeof(filter->own_hash)) == 0;
}

bool examples_filter_passes(const struct examples_filter *filter, uint64_t seq,
                            const struct example_record *row)
{
    return seq <= filter->as_of_seq && (filter->annotator_kinds >> row->annotator_kind & 1) != 0 &&
           examples_filter_passes_document(filter, row);
}

bool examples_filter_passes_document(const struct examples_filter *filter,
                                     const struct example_record *row)
{
    if (is_own(filter, row)) {
        return false;
    }
    for (uint32_t i = 0; i < filter->served_count; i++) {
        if (filter->served[i] == row->copy_hash) {
            return false;
        }
    }
    return true;
}

void examples_filter_take(struct examples_filter *filter, const struct example_record *row)
{
    ASSERT(filter->served_count < EXAMPLES_LIMIT_MAX);
    filter->served[filter->served_count] = row->copy_hash;
    filter->served_count++;
}
