/*
 * http_protocol.h: the interface of exchanges for protocols over HTTP (server/connect and others):
 * how a protocol selects a request, reads it, and responds. A request that becomes a call of the
 * services has its messages, replies and end in server/call; any other is answered by http_answer.
 */
#ifndef ERRATA_SERVER_HTTP_HTTP_PROTOCOL_H
#define ERRATA_SERVER_HTTP_HTTP_PROTOCOL_H

#include "server/http/http.h"

enum http_verb {
    HTTP_OTHER_VERB,
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS
};

/* A protocol. Its functions get the call of an exchange; its own state of it is http_state. */
struct http_protocol {
    void *user; /* private data of the protocol, for all its exchanges */
    /* Bytes of that state, zeroed, in the call's arena. */
    size_t state_bytes;
    /* Returns whether the request, whose fields are complete, is this protocol's. */
    bool (*selects)(const struct call_core *core);
    /* Takes the request: starts a call of the services, refuses it, or calls http_answer. */
    void (*start)(struct call_core *core);
    /* Takes bytes of the body, and returns how many: not all if call_input_stopped. NULL: ignored. */
    size_t (*take_body)(struct call_core *core, struct slice bytes);
    /* Takes the end of the request, before the services are notified of it. NULL: nothing is left to do. */
    void (*take_end)(struct call_core *core);
    /* Sets the status and adds fields of a response that http_answer has not made (http_add). NULL
     * if there are none. */
    MUST_CHECK enum err (*head)(struct call_core *core, struct http_head *head);
    /* Returns the bytes that follow the replies of a call that has ended, in the call's arena.
     * NULL: there are none. */
    MUST_CHECK enum err (*tail)(struct call_core *core, struct slice *ret_tail);
};

/* An exchange: the state of its call. */
struct http_exchange {
    struct http_server *server;
    const struct http_version *version;
    const struct http_protocol
        *protocol; /* NULL before a protocol is selected, or if there is none */
    void *state; /* the protocol's own data */
    enum http_verb verb;
    struct slice path;
    struct slice query; /* after the `?` of the target */
    struct http_body body;
    bool no_memory;
    bool end_passed; /* the protocol has taken the request's end */
    bool head_taken; /* the response's head */
    bool tail_made;
    unsigned answer_status; /* not 0: http_answer made the response */
    struct call_field answer_fields[HTTP_OWN_FIELDS_MAX];
    uint32_t answer_field_count;
    struct slice tail; /* remaining bytes of the body after the replies */
};

static inline struct http_exchange *http_exchange_of(const struct call_core *core)
{
    return (struct http_exchange *)core->state;
}

/* Returns the protocol's state of the call. */
static inline void *http_state(const struct call_core *core)
{
    return http_exchange_of(core)->state;
}

/* The functions of struct call_protocol that each protocol over HTTP has: a protocol has such a table
 * for each form of its messages, and sets core->protocol in `start`. */
#define HTTP_CALL_FUNCTIONS                                                                        \
    .state_bytes = sizeof(struct http_exchange), .read_value = http_read_value,                    \
    .replies = http_on_output, .finished = http_on_output, .expired = http_on_expired,             \
    .go_on = http_go_on

bool http_read_value(struct arena *arena, struct slice name, struct slice sent,
                     struct slice *ret_value);
void http_on_output(struct call_core *core);
void http_on_expired(struct call_core *core);
void http_go_on(struct call_core *core);

/* Returns a field of the request (name in lower case), or the empty slice; the first if there are
 * several. */
struct slice http_field(const struct call_core *core, struct slice name);
/* Returns the content type in the request's field, without parameters. */
struct slice http_content_type(const struct call_core *core);
/* Returns whether a list such as `br;q=1, gzip` has gzip, unless it has `q=0`. */
bool http_list_has_gzip(struct slice list);

/* Adds a field to a head. One with a control character in its value is left out. */
void http_add(struct http_head *head, struct slice name, struct slice value);
/* Adds metadata of the services, with a prefix; values of -bin names in base64. A field is left out
 * if there is no memory for it. */
void http_add_metadata(struct http_head *head, struct call_core *core,
                       const struct call_field *fields, uint32_t count, const char *prefix);
/* Adds a field to the response of http_answer; valid as long as the call. */
void http_answer_field(struct call_core *core, struct slice name, struct slice value);
/* Responds without the services, before a call was started: with a status, a content type (empty: none)
 * and a body, all valid as long as the call. */
void http_answer(struct call_core *core, unsigned status, struct slice type, struct slice body);
/* Refuses the request in this way, with a text that states what was expected. */
void http_answer_text(struct call_core *core, unsigned status, const char *text);

/* http_plain.c: plain requests (call/plain.h), by the table of the calls' configuration. */
extern const struct http_protocol http_plain_protocol;

/* http_json.c: messages in proto JSON, for struct call_protocol. Replies are converted on the loop. */
enum err http_convert_json(const struct call_core *core, struct slice sent, struct arena *arena,
                           struct fault *fault, struct slice *ret_message);
enum err http_write_json(struct call_core *core, struct slice message, struct buffer *json);

#endif
