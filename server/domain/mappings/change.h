/*
 * change.h: effects of events on mappings: a MappingChange has the mapping after the event, and the
 * number of the previous event that changed it. The facts of EVENT_MAPPING_SUGGESTED have one;
 * those of a confirmation or rejection have that of the judged mapping and, if it superseded
 * another one, that mapping's.
 */
#ifndef ERRATA_SERVER_DOMAIN_MAPPINGS_CHANGE_H
#define ERRATA_SERVER_DOMAIN_MAPPINGS_CHANGE_H

#include "server/domain/mappings/records.h"
#include "server/domain/mappings/rows.h"
#include "store/base/buffer.h"

#include <errata/v1/sku_mapping.views.h>

/* Maximum changes of one event: the judged mapping, and the superseded one. */
#define MAPPING_CHANGES_MAX 2
/* Maximum events that are followed back to find an earlier state of a mapping, more than people
 * judge one. */
#define MAPPING_HISTORY_MAX 1000

struct mapping_change {
    struct mapping_row
        row; /* row without the members that apply adds: similar_block, settled_at_us */
    uint64_t
        previous_seq; /* number of the previous event that changed it; 0: this event created it */
    struct slice mapping; /* the same as wire bytes of a SkuMapping; when read */
};

struct mapping_changes {
    struct mapping_change items[MAPPING_CHANGES_MAX];
    size_t count; /* 0: the event changed no mapping */
};

/* Fills in the SkuMapping of a row; it borrows from the row. */
struct sku_mapping_view mapping_view_of(struct org_id org, const struct mapping_record *record);
/* Appends a MappingChange as field `field`; `arena` is for temporary values. */
MUST_CHECK enum err mapping_change_put(struct arena *arena, struct buffer *body, uint32_t field,
                                       struct org_id org, const struct mapping_change *change);
/* Reads the changes of an event of any kind; slices are borrowed from it. Returns ERR_CORRUPT for
 * invalid facts. */
MUST_CHECK enum err mapping_changes_read(const struct event *event,
                                         struct mapping_changes *ret_changes);
/* Reads the change of a mapping by the event `seq`, and the event. ERR_CORRUPT if that event did not change it. */
MUST_CHECK enum err mapping_change_read_at(struct store_txn *txn, struct org_id org, uint64_t seq,
                                           uint64_t mapping_seq, struct mapping_change *ret_change,
                                           struct event *ret_event);
/* Returns whether an event is the confirmation of a mapping, rather than of the one that superseded it. */
MUST_CHECK enum err mapping_is_confirmation(const struct event *event,
                                            const struct mapping_row *row, bool *ret_is);
/* Reads a mapping as it was after the event `as_of_seq`. ERR_NOT_FOUND if it did not exist yet, or
 * if it was changed more than MAPPING_HISTORY_MAX times since (then `ret_is_cut` is set). */
MUST_CHECK enum err mapping_read_past(struct store_txn *txn, struct org_id org,
                                      const struct mapping_row *row, uint64_t as_of_seq,
                                      struct mapping_row *ret_past, bool *ret_is_cut);
/* Sets settled_at_us of a mapping that mapping_read_past returned to the value that apply had set
 * then; examines at most MAPPING_HISTORY_MAX events. */
MUST_CHECK enum err mapping_settle_past(struct store_txn *txn, struct org_id org,
                                        struct mapping_row *past);
/* Returns whether a user confirmed a mapping after some time, regardless of its later state. Only
 * the last MAPPING_HISTORY_MAX events are examined. */
MUST_CHECK enum err mapping_was_confirmed_since(struct store_txn *txn, struct org_id org,
                                                const struct mapping_row *row, int64_t time_us,
                                                bool *ret_was);

#endif
