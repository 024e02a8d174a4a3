/*
 * shadow.c: whether a proposal may be put in SHADOW; see proposals.h. There it is in no prompt, and exposures of its agents'
 * prompts name it.
 */
#include "server/domain/guidelines/proposals.h"

/* Refuses a proposal if one of its agents has no room. */
static enum err check_agents(struct ctx *ctx, struct store_txn *txn,
                             const struct proposal *proposal)
{
    struct slice run = proposal->view.affected_agents.run;
    struct slice agent = {NULL, 0};
    enum err err = OK;

    while (err == OK && view_next(&run, &agent)) {
        struct agent_guidelines list;

        err = agent_guidelines_read(txn, proposal->event.org, agent, &list);
        if (err == OK && list.shadow_count == SHADOWS_OF_AGENT_MAX) {
            agent = fault_shorten(ctx->fault, agent);
            err = fault_say(ctx->fault, ERR_PRECONDITION,
                            "state: agent '%.*s' has %d proposals in SHADOW; expected a decision "
                            "about one of them first",
                            (int)agent.size, (const char *)agent.data, SHADOWS_OF_AGENT_MAX);
        }
    }
    return err;
}

enum err proposal_check_shadow(struct ctx *ctx, struct store_txn *txn,
                               const struct proposal *proposal)
{
    if (!proposal_is_pending(&proposal->record)) {
        return fault_say(ctx->fault, ERR_PRECONDITION,
                         "state: the proposal was decided; expected a pending one for SHADOW");
    }
    return proposal->record.life.state == ARTIFACT_STATE_SHADOW ? OK
                                                                : check_agents(ctx, txn, proposal);
}
