/*
 * profile_rows.c: see profile_rows.h.
 */
#include "server/domain/layouts/profile_rows.h"

#include "server/domain/layouts/keys.h"
#include "server/domain/layouts/records.h"

static struct key_fingerprint fingerprint_of(const struct sha256_digest *measured)
{
    char text[2 * SHA256_BYTES];

    sha256_format(measured, text);
    return key_fingerprint_of(slice_of(text, sizeof(text)));
}

struct key profile_head_key(struct org_id org, const struct sha256_digest *measured)
{
    struct key_fingerprint fingerprint = fingerprint_of(measured);

    return key_layout_head(org, &fingerprint);
}

enum err profile_row_read(struct arena *arena, struct store_txn *txn, struct org_id org,
                          const struct sha256_digest *measured, struct profile_record *ret_profile)
{
    struct key_fingerprint fingerprint = fingerprint_of(measured);
    struct key key = key_profile(org, &fingerprint);
    struct profile_record profile;
    struct slice value = {NULL, 0};
    enum err err = store_get(txn, TABLE_PROFILE, key_slice(&key), &value);

    if (err == OK) {
        err = record_decode_profile(value, &profile);
    }
    if (err != OK) {
        return err;
    }
    if (!arena_copy(arena, profile.fp_version, &profile.fp_version)) {
        return ERR_MEMORY;
    }
    *ret_profile = profile;
    return OK;
}

void profile_count(struct profile_record *profile, const struct sha256_digest *measured,
                   const struct profile_addend *addend)
{
    if (profile->seen_count == 0) {
        profile->measured = *measured;
        profile->id = addend->event_id;
        profile->first_seen_at_us = addend->seen_at_us;
    } else if (profile->first_seen_at_us > addend->seen_at_us) {
        profile->first_seen_at_us =
            addend
                ->seen_at_us; /* the document is backdated, or the clock was ahead at the first one */
    }
    profile->seen_count++;
    if (!addend->is_history || profile->last_seen_at_us < addend->seen_at_us) {
        profile->last_seen_at_us = addend->seen_at_us;
    }
    profile->page_count_sum += addend->page_count;
    profile->table_count_sum += addend->table_count;
    profile->text_coverage_sum += addend->text_coverage_hundredths;
    profile->text_density_sum += addend->text_density_ten_thousandths;
    profile->fp_version = addend->fp_version;
}

/* Deletes a row from both orders. */
static enum err leave_orders(struct store_txn *txn, struct org_id org,
                             const struct profile_record *old)
{
    struct key last = key_profile_last_seen(org, old->last_seen_at_us, &old->measured);
    struct key most = key_profile_most_seen(org, old->seen_count, &old->measured);
    enum err err = store_del(txn, TABLE_PROFILE_LAST_SEEN, key_slice(&last));

    if (err == OK) {
        err = store_del(txn, TABLE_PROFILE_MOST_SEEN, key_slice(&most));
    }
    return err == ERR_NOT_FOUND ? ERR_CORRUPT : err;
}

static enum err enter_orders(struct store_txn *txn, struct org_id org,
                             const struct profile_record *profile)
{
    const struct slice nothing = {NULL, 0};
    struct key last = key_profile_last_seen(org, profile->last_seen_at_us, &profile->measured);
    struct key most = key_profile_most_seen(org, profile->seen_count, &profile->measured);
    enum err err = store_put(txn, TABLE_PROFILE_LAST_SEEN, key_slice(&last), nothing);

    return err != OK ? err : store_put(txn, TABLE_PROFILE_MOST_SEEN, key_slice(&most), nothing);
}

enum err profile_row_write(struct arena *arena, struct store_txn *txn, struct org_id org,
                           const struct profile_record *old, const struct profile_record *profile)
{
    struct key_fingerprint fingerprint = fingerprint_of(&profile->measured);
    struct key key = key_profile(org, &fingerprint);
    struct slice value = {NULL, 0};
    enum err err = record_encode_profile(arena, profile, &value);

    if (err == OK && old->seen_count > 0) {
        err = leave_orders(txn, org, old);
    }
    if (err == OK) {
        err = enter_orders(txn, org, profile);
    }
    return err != OK ? err : store_put(txn, TABLE_PROFILE, key_slice(&key), value);
}

static double mean_of(uint64_t sum, uint64_t unit, uint64_t count)
{
    return (double)sum / ((double)unit * (double)count);
}

void profile_of(const struct profile_record *record, const struct layout_head_record *head,
                struct profile *ret_profile)
{
    uint64_t count = record->seen_count;

    *ret_profile = (struct profile){
        .view =
            {
                .id = record->id,
                .seen_count = count,
                .example_count = head->example_count,
                .feedback_count = head->feedback_count,
                .first_seen_at_us = record->first_seen_at_us,
                .has_first_seen_at = true,
                .last_seen_at_us = record->last_seen_at_us,
                .has_last_seen_at = true,
                .created_at_us = record->first_seen_at_us,
                .has_created_at = true,
                .updated_at_us = head->updated_at_us > record->last_seen_at_us
                                     ? head->updated_at_us
                                     : record->last_seen_at_us,
                .has_updated_at = true,
                .has_stats = true,
            },
        .stats =
            {
                .page_count = mean_of(record->page_count_sum, 1, count),
                .text_coverage_ratio = mean_of(record->text_coverage_sum, 100, count),
                .table_count = mean_of(record->table_count_sum, 1, count),
                .text_density = mean_of(record->text_density_sum, 10000, count),
                .fp_version = record->fp_version,
            },
    };
    sha256_format(&record->measured, ret_profile->fingerprint);
}

enum err profile_encode(struct arena *arena, const struct profile *profile, struct slice *ret_bytes)
{
    struct layout_profile_view view = profile->view;

    view.layout_fingerprint = slice_of(profile->fingerprint, sizeof(profile->fingerprint));
    return view_encode(&layout_stats_view_type, &profile->stats, arena, &view.stats) &&
                   view_encode(&layout_profile_view_type, &view, arena, ret_bytes)
               ? OK
               : ERR_MEMORY;
}
