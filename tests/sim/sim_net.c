/*
 * sim_net.c: pieces of bytes on their way, and their delivery or loss.
 */
#include "tests/sim/sim_net.h"

#include "store/base/assert.h"
#include "tests/sim/sim_connection.h"
#include "tests/sim/sim_server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void on_piece(struct sim *sim, void *object, uint64_t up);

void sim_net_open(struct sim *sim)
{
    sim->net = calloc(1, sizeof(*sim->net));
    ASSERT(sim->net != NULL);
}

void sim_net_close(struct sim *sim)
{
    struct sim_link *link = sim->net->links;

    while (link != NULL) {
        struct sim_link *next = link->next;

        ASSERT(link->session == NULL);
        free(link->up.data);
        free(link->down.data);
        free(link);
        link = next;
    }
    free(sim->net);
    sim->net = NULL;
}

static void on_connect(struct sim *sim, void *object, uint64_t number)
{
    struct sim_link *link = object;

    (void)number;
    if (link->silent || link->client == NULL) {
        return;
    }
    link->accepted = sim_server_accept(sim, link);
    sim_connection_connected(link->client, link->accepted);
}

struct sim_link *sim_link_open(struct sim *sim, struct sim_connection *client)
{
    struct sim_link *link = calloc(1, sizeof(*link));

    ASSERT(link != NULL);
    link->sim = sim;
    link->number = ++sim->net->link_count;
    link->client = client;
    link->small_pieces = !sim->calm && sim_chance(sim, sim->profile.small_pieces);
    link->next = sim->net->links;
    sim->net->links = link;
    sim_at(sim, sim_delay(sim, 50, 20 * SIM_MS), on_connect, link, 0);
    return link;
}

size_t sim_pipe_room(const struct sim_pipe *pipe)
{
    return pipe->ended || pipe->size >= SIM_PIPE_BYTES ? 0 : SIM_PIPE_BYTES - pipe->size;
}

static void move_on(struct sim_link *link, struct sim_pipe *pipe)
{
    struct sim *sim = link->sim;
    int64_t delay_us = sim_delay(sim, 20, link->small_pieces ? 200 : 3 * SIM_MS);

    if (pipe->moving || pipe->reported_end || (pipe->size == 0 && !pipe->ended)) {
        return;
    }
    if (!sim->calm && sim_chance(sim, sim->profile.slow_pieces)) {
        delay_us = sim_delay(sim, 50 * SIM_MS, 20 * SIM_S);
    }
    pipe->moving = true;
    sim_at(sim, delay_us, on_piece, link, pipe == &link->up);
}

void sim_link_write(struct sim_link *link, struct sim_pipe *pipe, struct slice bytes)
{
    if (pipe->ended || bytes.size == 0) {
        return;
    }
    if (pipe->size == 0) {
        pipe->start = 0;
        pipe->moved_us = sim_now(link->sim);
    }
    if (pipe->start + pipe->size + bytes.size > pipe->room) {
        if (pipe->size > 0) {
            memmove(pipe->data, pipe->data + pipe->start, pipe->size);
        }
        pipe->start = 0;
        if (pipe->size + bytes.size > pipe->room) {
            pipe->room = pipe->size + bytes.size + 4096;
            pipe->data = realloc(pipe->data, pipe->room);
            ASSERT(pipe->data != NULL);
        }
    }
    memcpy(pipe->data + pipe->start + pipe->size, bytes.data, bytes.size);
    pipe->size += bytes.size;
    move_on(link, pipe);
}

/* Draws the number of bytes that arrive together. */
static size_t draw_piece(struct sim_link *link, const struct sim_pipe *pipe)
{
    struct sim *sim = link->sim;
    size_t most = pipe->size;

    if (link->small_pieces) {
        most = pipe->size > 2048 ? 1500 : 24;
    } else if (sim_draw(sim, 4) == 0) {
        most = sim_draw(sim, 2) == 0 ? 64 : 1500;
    }
    most = most < pipe->size ? most : pipe->size;
    return most == pipe->size && sim_draw(sim, 2) == 0 ? most : 1 + (size_t)sim_draw(sim, most);
}

static void arrive(struct sim_link *link, bool up, struct slice bytes)
{
    if (up) {
        sim_server_take(link, bytes);
    } else if (link->client != NULL) {
        sim_connection_take(link->client, bytes);
    }
}

static void on_piece(struct sim *sim, void *object, uint64_t up)
{
    struct sim_link *link = object;
    struct sim_pipe *pipe = up ? &link->up : &link->down;
    uint8_t piece[SIM_PIPE_BYTES];
    size_t size = 0;

    pipe->moving = false;
    if (link->silent || pipe->reported_end) {
        return;
    }
    if (pipe->size > 0) {
        size = draw_piece(link, pipe);
        size = size < sizeof(piece) ? size : sizeof(piece);
        memcpy(piece, pipe->data + pipe->start, size);
        pipe->start += size;
        pipe->size -= size;
        pipe->moved_us = sim_now(sim);
        arrive(link, up, slice_of(piece, size));
    } else {
        pipe->reported_end = true;
        arrive(link, up, slice_of(NULL, 0));
    }
    move_on(link, pipe);
    if (up && link->client != NULL) {
        sim_connection_room(link->client);
    } else if (!up) {
        sim_server_room(link);
    }
}

void sim_link_end(struct sim_link *link, struct sim_pipe *pipe)
{
    pipe->ended = true;
    move_on(link, pipe);
}

void sim_link_reset(struct sim_link *link)
{
    link->up.size = 0;
    link->down.size = 0;
    sim_link_end(link, &link->up);
    sim_link_end(link, &link->down);
}

void sim_link_leave(struct sim_link *link)
{
    link->client = NULL;
    sim_link_reset(link);
}

struct sim_link *sim_net_draw_link(struct sim *sim)
{
    struct sim_link *drawn = NULL;
    uint64_t count = 0;

    for (struct sim_link *at = sim->net->links; at != NULL; at = at->next) {
        if (at->client != NULL && at->session != NULL && !at->silent &&
            sim_draw(sim, ++count) == 0) {
            drawn = at;
        }
    }
    return drawn;
}

void sim_net_heal(struct sim *sim)
{
    for (struct sim_link *at = sim->net->links; at != NULL; at = at->next) {
        if (at->silent) {
            at->silent = false;
            sim_link_reset(at);
        }
    }
}
