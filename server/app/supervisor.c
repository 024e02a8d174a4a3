/*
 * supervisor.c: messages of sd_notify(3). A message that cannot be sent is dropped: the manager's time
 * limits then decide.
 */
#include "server/app/supervisor.h"

#include "store/base/logger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number of reports of the loop within the manager's time limit. */
#define SUPERVISOR_REPORTS_A_LIMIT 2

/* Returns whether `text` is the path of a socket, or an abstract one's name after an @. */
static bool supervisor_read_address(struct supervisor *supervisor, const char *text)
{
    size_t size = strlen(text);

    if ((text[0] != '/' && text[0] != '@') || size < 2 ||
        size >= sizeof(supervisor->address.sun_path)) {
        return false;
    }
    supervisor->address.sun_family = AF_UNIX;
    memcpy(supervisor->address.sun_path, text, size);
    if (text[0] == '@') {
        supervisor->address.sun_path[0] = '\0';
    }
    supervisor->address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    return true;
}

/* Reads a number of decimal digits; returns 0 for anything else. */
static uint64_t supervisor_read_number(const char *text)
{
    char *end = NULL;
    uint64_t number = 0;

    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return 0;
    }
    errno = 0;
    number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' ? number : 0;
}

/* Returns the interval of reports that the manager expects of this process. */
static uint64_t supervisor_read_watchdog_ms(void)
{
    uint64_t limit_us = supervisor_read_number(getenv("WATCHDOG_USEC"));
    const char *pid = getenv("WATCHDOG_PID");

    if (pid != NULL && supervisor_read_number(pid) != (uint64_t)getpid()) {
        return 0;
    }
    return limit_us / 1000 / SUPERVISOR_REPORTS_A_LIMIT;
}

void supervisor_init(struct supervisor *supervisor)
{
    const char *text = getenv("NOTIFY_SOCKET");

    *supervisor = (struct supervisor){.socket = -1};
    if (text != NULL && text[0] != '\0') {
        if (supervisor_read_address(supervisor, text)) {
            supervisor->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        } else {
            logger_printf(LOGGER_WARNING, "NOTIFY_SOCKET: unusable address; expected a path, or @ "
                                          "and a name");
        }
    }
    if (supervisor->socket >= 0) {
        supervisor->watchdog_ms = supervisor_read_watchdog_ms();
    }
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("WATCHDOG_PID");
}

void supervisor_deinit(struct supervisor *supervisor)
{
    if (supervisor->socket >= 0) {
        (void)close(supervisor->socket);
    }
    supervisor->socket = -1;
}

static void supervisor_send(const struct supervisor *supervisor, const char *message, int size)
{
    ssize_t sent = 0;

    if (supervisor->socket < 0 || size <= 0 || size >= SUPERVISOR_MESSAGE_BYTES_MAX) {
        return;
    }
    sent = sendto(supervisor->socket, message, (size_t)size, MSG_NOSIGNAL,
                  (const struct sockaddr *)&supervisor->address, supervisor->address_bytes);
    (void)sent; /* see the file's head comment for a lost message */
}

void supervisor_ready(const struct supervisor *supervisor, const char *status)
{
    char message[SUPERVISOR_MESSAGE_BYTES_MAX];

    supervisor_send(supervisor, message,
                    snprintf(message, sizeof(message), "READY=1\nSTATUS=%.256s", status));
}

void supervisor_reloading(const struct supervisor *supervisor, uint64_t monotonic_us)
{
    char message[SUPERVISOR_MESSAGE_BYTES_MAX];

    supervisor_send(
        supervisor, message,
        snprintf(message, sizeof(message), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, monotonic_us));
}

void supervisor_stopping(const struct supervisor *supervisor)
{
    static const char message[] = "STOPPING=1\nSTATUS=Finishing running calls";

    supervisor_send(supervisor, message, (int)sizeof(message) - 1);
}

void supervisor_alive(const struct supervisor *supervisor)
{
    static const char message[] = "WATCHDOG=1";

    supervisor_send(supervisor, message, (int)sizeof(message) - 1);
}
