/*
 * arm.c: see arm.h.
 */
#include "server/domain/experiment/arm.h"

#include "server/domain/settings/settings.h"
#include "store/base/bytes.h"

enum experiment_arm arm_under(struct org_id org, struct slice document_id, uint32_t holdout_percent)
{
    const struct slice pieces[] = {slice_of(org.uuid.bytes, UUID_BYTES), document_id};
    struct sha256_digest digest;

    if (document_id.size == 0 || holdout_percent == 0) {
        return EXPERIMENT_ARM_NONE;
    }
    digest = sha256_pieces(pieces, sizeof(pieces) / sizeof(pieces[0]));
    return bytes_get_be64(digest.bytes) % 100 < holdout_percent ? EXPERIMENT_ARM_CONTROL
                                                                : EXPERIMENT_ARM_TREATMENT;
}

enum err arm_of_document(struct store_txn *txn, struct org_id org, struct slice document_id,
                         uint64_t as_of_seq, enum experiment_arm *ret_arm)
{
    struct settings settings;
    enum err err = OK;

    *ret_arm = EXPERIMENT_ARM_NONE;
    if (document_id.size == 0) {
        return OK;
    }
    err = settings_read_as_of(txn, org, as_of_seq, &settings);
    if (err == OK) {
        *ret_arm = arm_under(org, document_id, settings.holdout_percent);
    }
    return err;
}
