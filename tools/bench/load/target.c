/*
 * target.c: see target.h.
 */
#include "tools/bench/load/target.h"

#include "tools/bench/load/parse.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum err target_split(const char *text, struct fault *fault, char *ret_host, uint16_t *ret_port)
{
    bool bracketed = text[0] == '[';
    const char *start = text + (bracketed ? 1 : 0);
    const char *end = bracketed ? strchr(text, ']') : strrchr(text, ':');
    const char *port = bracketed && end != NULL ? end + 1 : end;
    size_t size = end != NULL ? (size_t)(end - start) : 0;
    uint64_t number = 0;

    if (end == NULL || *port != ':' || size == 0 || size >= TARGET_HOST_BYTES_MAX ||
        !parse_count(port + 1, &number) || number == 0 || number > UINT16_MAX) {
        return fault_say(
            fault, ERR_INVALID,
            "--server: malformed \"%s\"; expected HOST:PORT, such as 127.0.0.1:7443 or [::1]:7443",
            text);
    }
    memcpy(ret_host, start, size);
    ret_host[size] = '\0';
    *ret_port = (uint16_t)number;
    return OK;
}

enum err target_find(const char *text, struct fault *fault, struct target *ret_target)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    char host[TARGET_HOST_BYTES_MAX];
    char service[8];
    uint16_t port = 0;
    int problem = 0;
    enum err err = target_split(text, fault, host, &port);

    if (err != OK) {
        return err;
    }
    (void)snprintf(service, sizeof(service), "%u", (unsigned)port);
    problem = getaddrinfo(host, service, &hints, &found);
    if (problem != 0 || found == NULL) {
        return fault_say(fault, ERR_UNAVAILABLE, "cannot find %s: %s", host, gai_strerror(problem));
    }
    *ret_target = (struct target){.address_bytes = found->ai_addrlen, .port = port};
    memcpy(&ret_target->address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return OK;
}

/* Both ends of a connection have one address if they are on one machine. */
static bool is_local(int fd)
{
    struct sockaddr_storage own = {0};
    struct sockaddr_storage peer = {0};
    socklen_t own_bytes = sizeof(own);
    socklen_t peer_bytes = sizeof(peer);

    if (getsockname(fd, (struct sockaddr *)&own, &own_bytes) != 0 ||
        getpeername(fd, (struct sockaddr *)&peer, &peer_bytes) != 0 ||
        own.ss_family != peer.ss_family) {
        return false;
    }
    if (own.ss_family == AF_INET) {
        return ((struct sockaddr_in *)&own)->sin_addr.s_addr ==
               ((struct sockaddr_in *)&peer)->sin_addr.s_addr;
    }
    return memcmp(&((struct sockaddr_in6 *)&own)->sin6_addr,
                  &((struct sockaddr_in6 *)&peer)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* Returns 0, or the error of the connection attempt. */
static int finish_connect(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    int problem = 0;
    socklen_t size = sizeof(problem);

    if (poll(&wait, 1, TARGET_CONNECT_MS) != 1) {
        return ETIMEDOUT;
    }
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 ? problem : errno;
}

enum err target_connect(struct target *target, const char *text, struct fault *fault, int *ret_fd)
{
    int fd = socket(target->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    int problem = fd < 0 ? errno : 0;

    if (problem == 0 &&
        connect(fd, (struct sockaddr *)&target->address, target->address_bytes) != 0) {
        problem = errno == EINPROGRESS ? finish_connect(fd) : errno;
    }
    if (problem == 0 && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
        problem = errno;
    }
    if (problem != 0) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return fault_say(fault, ERR_UNAVAILABLE, "cannot reach %s: %s", text, strerror(problem));
    }
    target->local = is_local(fd);
    *ret_fd = fd;
    return OK;
}
