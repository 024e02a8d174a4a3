/*
 * supervisor.h: reports to a service manager as sd_notify(3) describes: when the server serves, reloads
 * and stops, and, if the manager requests it, that the loop still runs. Its protocol is datagrams
 * of text to the socket that NOTIFY_SOCKET names; libsystemd would bring five more libraries for
 * that. Does nothing without NOTIFY_SOCKET.
 */
#ifndef ERRATA_SERVER_APP_SUPERVISOR_H
#define ERRATA_SERVER_APP_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Longest message. */
#define SUPERVISOR_MESSAGE_BYTES_MAX 512

struct supervisor {
    int socket; /* owned; -1: no manager */
    socklen_t address_bytes;
    struct sockaddr_un address;
    uint64_t watchdog_ms; /* interval at which to call supervisor_alive; 0: never */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment:
 * programs that the server starts must not report in its place. An address that is not usable is
 * ignored. */
void supervisor_init(struct supervisor *supervisor);
void supervisor_deinit(struct supervisor *supervisor);
/* Reports that the server serves; also ends a reload. `status` is shown to people, at most 256 bytes. */
void supervisor_ready(const struct supervisor *supervisor, const char *status);
/* Reports that the configuration is being read again. */
void supervisor_reloading(const struct supervisor *supervisor, uint64_t monotonic_us);
/* Reports that the server finishes running calls and ends. */
void supervisor_stopping(const struct supervisor *supervisor);
/* Reports that the loop runs. */
void supervisor_alive(const struct supervisor *supervisor);

#endif
