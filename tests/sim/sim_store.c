/*
 * sim_store.c: commits that take time and fail, over fault_store's single failures.
 */
#include "tests/sim/sim_store.h"

#include "store/base/assert.h"
#include "store/memory/memory.h"
#include "tests/sim/sim_crowd.h"
#include "tests/sim/sim_server.h"

#include <stdlib.h>

static struct sim_store *store_of(struct store_backend *backend)
{
    return (struct sim_store *)(void *)backend;
}

static enum err sim_begin(struct store_backend *backend, enum store_access access,
                          struct store_txn **ret_txn)
{
    struct sim_store *store = store_of(backend);

    if (store->broken || store->dead) {
        return ERR_UNAVAILABLE;
    }
    return store->inner_ops->begin(backend, access, ret_txn);
}

static enum err sim_renew(struct store_txn *txn)
{
    struct sim_store *store = store_of(txn->backend);

    if (store->broken || store->dead) {
        return ERR_UNAVAILABLE;
    }
    return store->inner_ops->renew(txn);
}

static enum err sim_restore(struct store_backend *backend)
{
    struct sim_store *store = store_of(backend);

    if (store->broken || store->dead) {
        return ERR_UNAVAILABLE;
    }
    if (sim_now(store->sim) < store->full_until_us) {
        return ERR_DISK_FULL;
    }
    return store->inner_ops->restore(backend);
}

/* Draws the error of this commit before anything is durable; OK: none. */
static enum err draw_error(struct sim_store *store)
{
    struct sim *sim = store->sim;

    if (sim_now(sim) < store->full_until_us) {
        return ERR_DISK_FULL;
    }
    if (sim->calm || !sim_chance(sim, sim->profile.commit_error)) {
        return OK;
    }
    return sim_draw(sim, 2) == 0 ? ERR_IO : ERR_DISK_FULL;
}

/* The server died, or the disk failed during a commit: a random draw decides whether the commit is stored. */
static void end_in_doubt(struct sim_store *store, struct store_txn *take_txn)
{
    struct sim *sim = store->sim;
    bool kept = sim_draw(sim, 2) == 0;

    sim_trace(sim, "store: the commit in flight is %s", kept ? "kept" : "lost");
    sim->counts[kept ? SIM_KEPT : SIM_LOST]++;
    if (!kept) {
        store->inner_ops->abort(take_txn);
    } else if (store->inner_ops->commit(take_txn) == OK) {
        store->commits++;
    }
}

static void on_crash(struct sim *sim, void *object, uint64_t number)
{
    (void)object;
    (void)number;
    sim_server_crash(sim, "while it commits");
}

/* The disk takes its time, and the server may die meanwhile. */
static void wait_for_disk(struct sim *sim)
{
    bool slow = !sim->calm && sim_chance(sim, sim->profile.commit_slow);
    int64_t duration_us =
        slow ? sim_delay(sim, SIM_MS, 3 * SIM_S) : sim_delay(sim, 200, 4 * SIM_MS);
    bool trouble = !sim->calm && (sim->crowd->set_up || sim->profile.chaos_in_setup);

    if (trouble && sim_chance(sim, sim->profile.crash / 2)) {
        sim_at(sim, (int64_t)sim_draw(sim, (uint64_t)duration_us), on_crash, NULL, 0);
    }
    sim_wait(sim, duration_us);
}

static enum err sim_commit(struct store_txn *take_txn)
{
    struct sim_store *store = store_of(take_txn->backend);
    struct sim *sim = store->sim;
    enum err err = OK;

    if (store->dead) {
        store->inner_ops->abort(take_txn);
        return ERR_UNAVAILABLE;
    }
    wait_for_disk(sim);
    if (sim_server_is_doomed(sim) || (!sim->calm && sim_chance(sim, sim->profile.commit_broken))) {
        sim->counts[SIM_BROKEN] += !sim_server_is_doomed(sim);
        store->broken = true;
        end_in_doubt(store, take_txn);
        return ERR_UNAVAILABLE;
    }
    err = draw_error(store);
    if (err != OK) {
        sim->counts[SIM_COMMIT_ERRORS]++;
        sim_trace(sim, "store: a commit fails with %s", err_name(err));
        store->inner_ops->abort(take_txn);
        return err;
    }
    err = store->inner_ops->commit(take_txn);
    store->commits += err == OK;
    return err;
}

void sim_store_open(struct sim *sim)
{
    struct sim_store *store = calloc(1, sizeof(*store));

    ASSERT(store != NULL);
    ASSERT(store_memory_open(&store->disk) == OK);
    fault_store_init(&store->faults, store->disk);
    store->sim = sim;
    store->inner_ops = store->faults.backend.ops;
    store->ops = *store->inner_ops;
    store->ops.begin = sim_begin;
    store->ops.renew = sim_renew;
    store->ops.commit = sim_commit;
    store->ops.restore = sim_restore;
    store->faults.backend.ops = &store->ops;
    sim->store = store;
}

void sim_store_close(struct sim *sim)
{
    store_memory_close(sim->store->disk);
    free(sim->store);
    sim->store = NULL;
}

struct store_backend *sim_store_backend(struct sim *sim)
{
    return &sim->store->faults.backend;
}

void sim_store_set_dead(struct sim *sim, bool dead)
{
    sim->store->dead = dead;
    if (!dead) {
        sim->store->broken = false;
    }
}

void sim_store_fail_reads(struct sim *sim)
{
    enum fault_call call = sim_draw(sim, 2) == 0 ? FAULT_GET : FAULT_CURSOR;

    fault_store_plan(&sim->store->faults, call, sim_draw(sim, 40), 1 + sim_draw(sim, 2), ERR_IO);
}

void sim_store_fill(struct sim *sim, int64_t duration_us)
{
    sim_trace(sim, "store: the disk is full");
    sim->store->full_until_us = sim_now(sim) + duration_us;
}
