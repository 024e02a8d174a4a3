/*
 * server.c: see server.h.
 */
#include "tests/unit/client/server.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

int server_listen(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 4), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    *ret_port = ntohs(address.sin_port);
    return listener;
}

static void *serve(void *user)
{
    struct server *server = user;

    for (unsigned i = 0; i < server->script_count; i++) {
        int connection = accept(server->listener, NULL, NULL);
        struct peer *peer = NULL;

        if (connection < 0) {
            break; /* stopped */
        }
        atomic_store(&server->connection, connection);
        peer = peer_new(&server->scripts[i], SIZE_MAX);
        peer_serve(peer, connection);
        memcpy(server->request_fields, peer->request_fields, sizeof(server->request_fields));
        peer_free(peer);
        assert_int_equal(close(connection), 0);
        atomic_fetch_add(&server->served, 1);
    }
    return NULL;
}

void server_start(struct server *server, const struct peer_script *scripts, unsigned count)
{
    *server = (struct server){.scripts = scripts, .script_count = count};
    server->listener = server_listen(&server->port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

void server_stop(struct server *server)
{
    (void)shutdown(server->listener, SHUT_RDWR);
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    assert_int_equal(close(server->listener), 0);
}
