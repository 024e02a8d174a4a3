/*
 * propose_rules.c: VerdictService/ProposeRules: the pool finds rules in a snapshot of its own; then they are written.
 */
#include "server/domain/induction/induction.h"
#include "server/domain/settings/settings.h"
#include "server/pipeline/caller.h"
#include "server/pipeline/env.h"
#include "server/pipeline/service.h"

#include <errata/v1/verdict_service.handlers.h>

static enum err find_in(struct verdict_service_propose_rules_call *call, struct store_txn *txn,
                        struct found_rules *found)
{
    struct induction_request request = {
        .org = call->org,
        .rules_max =
            call->request->max_rules > 0 ? (size_t)call->request->max_rules : INDUCTION_RULES_MAX,
        .is_cancelled = service_was_cancelled,
        .user = call->service,
    };
    struct settings settings;
    enum err err = settings_read(txn, call->org, &settings);

    if (err != OK) {
        return err;
    }
    request.thresholds = (struct score_thresholds){settings.suspicious_at, settings.fake_at};
    random_fill(call->ctx->random, &request.seed, sizeof(request.seed));
    return induction_find(call->ctx, txn, &request, found);
}

enum err verdict_service_propose_rules_prepare(struct verdict_service_propose_rules_call *call)
{
    struct service_env *env = call->service->env;
    struct found_rules *found = arena_calloc(call->ctx->arena, 1, sizeof(*found));
    struct store_txn *txn = NULL;
    enum err err = found != NULL ? OK : ERR_MEMORY;

    if (err == OK && atomic_exchange(&env->finds_rules, true)) {
        return fault_say(call->ctx->fault, ERR_BUSY,
                         "server: another ProposeRules is running; expected another attempt after "
                         "the given delay");
    }
    if (err == OK) {
        err = store_begin(env->backend, STORE_READ, &txn);
    }
    if (err == OK) {
        err = find_in(call, txn, found);
        store_abort(txn);
    }
    atomic_store(&env->finds_rules, false);
    call->prepared = found;
    call->service->prepared_bytes = sizeof(*found);
    return err;
}

enum err verdict_service_propose_rules_write(struct verdict_service_propose_rules_call *call)
{
    const struct event_caller caller = caller_of(call->service);

    return call->request->dry_run ? OK
                                  : induction_write(call->ctx, call->txn, call->org, &caller,
                                                    call->prepared, call->result);
}

enum err verdict_service_propose_rules_answer(struct verdict_service_propose_rules_call *call)
{
    return call->request->dry_run
               ? induction_answer_dry(call->ctx, call->org, call->prepared, call->body)
               : induction_answer(call->txn, call->result, call->body);
}
