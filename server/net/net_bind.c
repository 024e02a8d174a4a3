/*
 * net_bind.c: binds sockets before there is a server to listen on them, by plain system calls.
 */
#include "server/net/net_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns advice for an errno of bind; NULL if strerror is sufficient. */
static const char *advice(int code)
{
    switch (code) {
    case EADDRINUSE:
        return "expected a free port (0: any)";
    case EADDRNOTAVAIL:
        return "expected an address of this host";
    case EACCES:
    case EPERM:
        return "expected a port from 1024 on; those below need the capability CAP_NET_BIND_SERVICE";
    case EAFNOSUPPORT:
        return "expected an address family that this host supports";
    case EMFILE:
        return "raise this process's limit of open files (ulimit -n)";
    default:
        return NULL;
    }
}

enum err net_say_not_listening(struct fault *fault, const char *address, int code)
{
    const char *todo = advice(code);

    errno = code;
    return fault_say(fault, code == ENOMEM ? ERR_MEMORY : ERR_UNAVAILABLE,
                     "cannot listen on %s: %m%s%s", address, todo != NULL ? "; " : "",
                     todo != NULL ? todo : "");
}

static bool read_address(const char *text, uint16_t port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *four = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;

    memset(ret, 0, sizeof(*ret));
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return true;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    return inet_pton(AF_INET6, text, &six->sin6_addr) == 1;
}

static void write_address(const struct sockaddr_storage *address, char text[NET_ADDRESS_BYTES])
{
    char host[INET6_ADDRSTRLEN] = "";

    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

        (void)inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host));
        (void)snprintf(text, NET_ADDRESS_BYTES, "[%s]:%u", host, ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;

        (void)inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host));
        (void)snprintf(text, NET_ADDRESS_BYTES, "%s:%u", host, ntohs(four->sin_port));
    }
}

/* Returns the bound socket and writes the port that the system chose to `address`. False with errno
 * set. */
static bool bind_socket(int socket_fd, struct sockaddr_storage *address)
{
    socklen_t size =
        address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    int one = 1;

    /* Connections of an earlier process in TIME_WAIT must not keep the port. */
    if (setsockopt(socket_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(socket_fd, (const struct sockaddr *)address, size) != 0) {
        return false;
    }
    size = sizeof(*address);
    return getsockname(socket_fd, (struct sockaddr *)address, &size) == 0;
}

enum err net_bind(const char *address, uint16_t port, struct fault *fault,
                  struct net_bound *ret_bound)
{
    struct sockaddr_storage where;
    char text[NET_ADDRESS_BYTES];
    int fd = -1;
    int reason = 0;

    if (!read_address(address, port, &where)) {
        return fault_say(
            fault, ERR_INVALID,
            "cannot listen on %s: invalid address; expected a numeric IPv4 or IPv6 address",
            address);
    }
    write_address(&where, text);
    fd = socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return net_say_not_listening(fault, text, errno);
    }
    if (!bind_socket(fd, &where)) {
        reason = errno;
        (void)close(fd);
        return net_say_not_listening(fault, text, reason);
    }
    ret_bound->socket = fd;
    write_address(&where, ret_bound->address);
    return OK;
}

void net_unbind(struct net_bound *bound)
{
    if (bound->socket >= 0) {
        (void)close(bound->socket);
        bound->socket = -1;
    }
}
