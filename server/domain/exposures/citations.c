/*
 * citations.c: see citations.h.
 */
#include "server/domain/exposures/citations.h"

enum err exposure_refuse(struct ctx *ctx, const struct exposure_references *references,
                         size_t place)
{
    fault_add(ctx->fault, arena_printf(ctx->arena, "%s[%zu]", references->field, place),
              "unknown, incomplete or changed; expected the exposure_ref of a %s response of this "
              "organisation",
              references->method);
    return ERR_INVALID;
}

enum err exposure_cite(struct ctx *ctx, struct store_txn *txn,
                       const struct exposure_references *references, size_t place,
                       struct cited_exposure *ret_cited)
{
    enum err err = exposure_find(ctx, txn, references->key, references->org,
                                 references->items[place], ret_cited);

    if (err == OK) {
        err = exposure_check_kind(txn, references->org, &ret_cited->exposure, references->kind);
    }
    return err == ERR_INVALID ? exposure_refuse(ctx, references, place) : err;
}

enum err exposures_cite(struct ctx *ctx, struct store_txn *txn,
                        const struct exposure_references *references, struct cited_exposure *items,
                        size_t *ret_count)
{
    size_t count = 0;
    enum err err = OK;

    for (size_t i = 0; i < references->count && err == OK; i++) {
        err = exposure_cite(ctx, txn, references, i, &items[count]);
        count += err == OK && !exposure_is_among(&items[count], items, count);
        err = err == ERR_INVALID ? OK : err;
    }
    *ret_count = count;
    return err;
}

enum err exposures_record(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                          const struct exposure_citer *citer, struct cited_exposure *items,
                          size_t count)
{
    enum err err = OK;

    for (size_t i = 0; i < count && err == OK; i++) {
        err = exposure_record(ctx, txn, org, citer, &items[i]);
    }
    return err;
}

enum err exposure_count_artifacts(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                  const struct exposure *exposure,
                                  const struct artifact_change *change)
{
    struct artifact_change of_arm = *change;
    enum err err = OK;

    of_arm.arm = exposure->arm;
    for (size_t i = 0; exposure->is_listed && i < exposure->artifact_count && err == OK; i++) {
        of_arm.is_shadow = exposure->artifacts[i].shadow;
        err = artifact_count(ctx, txn, org, exposure->artifacts[i].seq, &of_arm);
    }
    return err;
}

enum err exposure_count_outcome(struct ctx *ctx, struct store_txn *txn, struct org_id org,
                                uint64_t exposure_seq, const struct artifact_change *change)
{
    struct exposure exposure;
    enum err err = exposure_read_recorded(ctx->arena, txn, org, exposure_seq, &exposure);

    return err != OK ? err : exposure_count_artifacts(ctx, txn, org, &exposure, change);
}
