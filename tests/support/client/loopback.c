/*
 * loopback.c: see loopback.h.
 */
#include "tests/support/client/loopback.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct sockaddr_in loopback_address(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

/* A socket bound to a port of its own, and its address. */
static int bind_somewhere(char text[32], uint16_t *ret_port)
{
    struct sockaddr_in address = loopback_address(0);
    socklen_t size = sizeof(address);
    int socket_fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(socket_fd >= 0);
    assert_int_equal(bind(socket_fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(socket_fd, (struct sockaddr *)&address, &size), 0);
    *ret_port = ntohs(address.sin_port);
    (void)snprintf(text, 32, "127.0.0.1:%u", (unsigned)*ret_port);
    return socket_fd;
}

static void *serve(void *user)
{
    struct loopback *server = user;

    for (size_t i = 0; i < server->connection_count; i++) {
        int connection = accept(server->listener, NULL, NULL);

        assert_true(connection >= 0);
        peer_serve(server->peers[i], connection);
        assert_int_equal(close(connection), 0);
    }
    return NULL;
}

void loopback_start(struct loopback *server, const struct peer_script *scripts, size_t count)
{
    memset(server, 0, sizeof(*server));
    assert_true(count <= LOOPBACK_CONNECTIONS_MAX);
    server->listener = bind_somewhere(server->address, &server->port);
    assert_int_equal(listen(server->listener, LOOPBACK_CONNECTIONS_MAX), 0);
    server->connection_count = count;
    for (size_t i = 0; i < count; i++) {
        server->peers[i] = peer_new(&scripts[i], SIZE_MAX);
    }
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

void loopback_knock(const struct loopback *server)
{
    struct sockaddr_in address = loopback_address(server->port);
    int knock = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(knock >= 0);
    assert_int_equal(connect(knock, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(close(knock), 0);
}

void loopback_wait(struct loopback *server)
{
    assert_int_equal(pthread_join(server->thread, NULL), 0);
}

void loopback_free(struct loopback *server)
{
    for (size_t i = 0; i < server->connection_count; i++) {
        peer_free(server->peers[i]);
    }
    assert_int_equal(close(server->listener), 0);
}

void loopback_nowhere(char address[32])
{
    uint16_t port = 0;

    assert_int_equal(close(bind_somewhere(address, &port)), 0);
}
