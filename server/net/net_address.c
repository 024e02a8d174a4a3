/*
 * net_address.c: limits by the address that connections come from: how many it has at once, and how
 * fast it opens them. An address whose connections are ended for misuse may open fewer. An address
 * without connections is removed once its allowance is full again.
 */
#include "server/net/net_internal.h"
#include "store/base/assert.h"

#include <stdlib.h>

static void net_address_key(const struct sockaddr_storage *peer, uint64_t *ret_high,
                            uint64_t *ret_low)
{
    uint64_t halves[2] = {0, 0};

    if (peer->ss_family == AF_INET6) {
        const struct in6_addr *address = &((const struct sockaddr_in6 *)peer)->sin6_addr;

        memcpy(halves, address->s6_addr, sizeof(halves));
        if (!IN6_IS_ADDR_V4MAPPED(address)) {
            halves[1] = 0;
        }
    } else {
        const struct in_addr *address = &((const struct sockaddr_in *)peer)->sin_addr;
        uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};

        memcpy(mapped + 12, &address->s_addr, 4);
        memcpy(halves, mapped, sizeof(halves));
    }
    *ret_high = halves[0];
    *ret_low = halves[1];
}

/* Hashes the server's address in memory, too: outsiders cannot predict chains. */
static struct net_address **net_address_chain(struct net_server *server, uint64_t high,
                                              uint64_t low)
{
    uint64_t mixed = (uint64_t)(uintptr_t)server >> 4;

    mixed = (mixed ^ high) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 29) ^ low) * 0xbf58476d1ce4e5b9u;
    return &server->addresses[(mixed >> 40) % NET_ADDRESS_CHAINS];
}

/* Returns the address's entry and adds one if it is missing; NULL if out of memory. */
static struct net_address *net_address_find(struct net_server *server, uint64_t high, uint64_t low)
{
    struct net_address **chain = net_address_chain(server, high, low);
    struct net_address *address = *chain;

    while (address != NULL && (address->high != high || address->low != low)) {
        address = address->next;
    }
    if (address != NULL || server->address_count >= NET_ADDRESSES_MAX) {
        return address;
    }
    address = (struct net_address *)malloc(sizeof(*address));
    if (address == NULL) {
        return NULL;
    }
    *address = (struct net_address){.next = *chain,
                                    .high = high,
                                    .low = low,
                                    .arrivals_left = NET_ARRIVALS_BURST,
                                    .refilled_us = net_now_us(server)};
    *chain = address;
    server->address_count++;
    return address;
}

static void net_address_refill(struct net_address *address, int64_t now_us)
{
    int64_t earned = (now_us - address->refilled_us) * NET_ARRIVALS_PER_SECOND / 1000000;

    if (earned <= 0) {
        return;
    }
    address->refilled_us += earned * 1000000 / NET_ARRIVALS_PER_SECOND;
    earned += address->arrivals_left;
    address->arrivals_left = earned < NET_ARRIVALS_BURST ? (int32_t)earned : NET_ARRIVALS_BURST;
}

bool net_address_enter(struct net_connection *connection, const struct sockaddr_storage *peer)
{
    struct net_server *server = connection->server;
    struct net_address *address = NULL;
    uint64_t high = 0;
    uint64_t low = 0;

    net_address_key(peer, &high, &low);
    address = net_address_find(server, high, low);
    if (address == NULL) {
        return true; /* too many addresses are stored, so only the limit of all connections applies */
    }
    net_address_refill(address, connection->accepted_us);
    if (address->live >= server->config.address_connections_max || address->arrivals_left <= 0) {
        return false;
    }
    address->live++;
    address->arrivals_left--;
    connection->address = address;
    return true;
}

void net_address_blame(struct net_connection *connection)
{
    struct net_address *address = connection->address;

    if (address == NULL) {
        return;
    }
    if (address->arrivals_left > -NET_ARRIVALS_BURST) {
        address->arrivals_left -= NET_ARRIVALS_A_CALMED;
    }
}

void net_address_leave(struct net_connection *connection)
{
    struct net_address *address = connection->address;

    if (address == NULL) {
        return;
    }
    ASSERT(address->live > 0);
    address->live--;
    connection->address = NULL;
}

void net_server_forget_addresses(struct net_server *server, int64_t now_us)
{
    for (size_t i = 0; i < NET_ADDRESS_CHAINS; i++) {
        struct net_address **at = &server->addresses[i];

        while (*at != NULL) {
            struct net_address *address = *at;

            net_address_refill(address, now_us);
            if (address->live > 0 || address->arrivals_left < NET_ARRIVALS_BURST) {
                at = &address->next;
                continue;
            }
            *at = address->next;
            free(address);
            server->address_count--;
        }
    }
}

void net_server_free_addresses(struct net_server *server)
{
    for (size_t i = 0; i < NET_ADDRESS_CHAINS; i++) {
        while (server->addresses[i] != NULL) {
            struct net_address *address = server->addresses[i];

            ASSERT(address->live == 0);
            server->addresses[i] = address->next;
            free(address);
        }
    }
}
