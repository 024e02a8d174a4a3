/*
 * plain_protocol.h: a protocol of lines of text, to show that calls need no gRPC: it is made only of the headers
 * of server/call. A request is
 *
 *     /package.Service/Method NL { name: value NL } NL { size NL bytes }
 *
 * and an answer a run of messages, each after eight digits of its size and NL. No sockets: bytes are fed.
 */
#ifndef ERRATA_TESTS_COMMAND_PLAIN_PROTOCOL_H
#define ERRATA_TESTS_COMMAND_PLAIN_PROTOCOL_H

#include "server/call/server.h"

#define PLAIN_LINE_BYTES_MAX 256
#define PLAIN_HEAD_BYTES 9

/* A call from the client's side. */
struct plain_call {
    struct call_core *core; /* NULL once it was closed */
    struct arena *arena; /* arena of the test; responses stay allocated in it */
    char line[PLAIN_LINE_BYTES_MAX]; /* the line that is being received */
    size_t line_bytes;
    bool has_path;
    bool in_message;
    bool ended; /* the status came */
    enum status_code code;
    struct slice message;
    struct buffer answer; /* the sent response: messages with their sizes */
    unsigned waits; /* number of times that bytes had to wait */
};

void plain_open(struct plain_call *plain, struct call_server *server, struct arena *arena);
/* The next bytes of the request, and its end. */
void plain_feed(struct plain_call *plain, struct slice bytes);
void plain_end(struct plain_call *plain);
/* Sends what waits to be sent. */
void plain_drain(struct plain_call *plain);
/* The next message of the answer; false if there is none. */
bool plain_read(struct plain_call *plain, struct slice *ret_message);
/* The peer goes away. */
void plain_close(struct plain_call *plain);

#endif
