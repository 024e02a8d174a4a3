/*
 * decision_settings.c: see decision_settings.h.
 */
#include "server/domain/settings/decision_settings.h"

enum err decision_settings_read(struct store_txn *txn, struct org_id org,
                                struct decision_settings *ret_settings)
{
    struct organization_settings_view view;
    enum err err = settings_message_read(txn, org, UINT64_MAX, &view);

    if (err == OK) {
        *ret_settings = (struct decision_settings){.evaluator_id = view.evaluator_id,
                                                   .gate_agents = view.gate_agents};
    }
    return err;
}

enum err decision_settings_agent(const struct decision_settings *settings, struct slice gate_id,
                                 struct slice *ret_agent)
{
    struct gate_agents_view agents;
    struct slice message = {NULL, 0};
    enum err err = gate_agents_view_read(settings->gate_agents, &agents);

    *ret_agent = slice_of(NULL, 0);
    while (err == OK && view_next(&agents.gates.run, &message)) {
        struct gate_agent_view gate;

        err = gate_agent_view_read(message, &gate);
        if (err == OK && slice_equal(gate.gate_id, gate_id)) {
            *ret_agent = gate.agent_name;
            break;
        }
    }
    return err;
}
