/*
 * http1_parser.h: reads requests of HTTP/1.1 (RFC 9112) as their bytes arrive, strictly: input that
 * two readers may interpret differently is refused, since one of them may be a proxy. It does no
 * I/O, uses only its own memory, writes no responses, and interprets targets and fields only for
 * framing. HTTP/1.0 and absolute targets are refused.
 */
#ifndef ERRATA_SERVER_HTTP1_HTTP1_PARSER_H
#define ERRATA_SERVER_HTTP1_HTTP1_PARSER_H

#include "store/base/attributes.h"
#include "store/base/slice.h"

/* Maximum bytes of a request line, and of one header field. A Connect GET has its message in the line. */
#define HTTP1_LINE_BYTES_MAX ((size_t)8 * 1024)
/* Maximum bytes of all header fields of a request with their line ends, and their number; trailers count, too. */
#define HTTP1_FIELDS_BYTES_MAX ((size_t)16 * 1024)
#define HTTP1_FIELDS_MAX 100
/* Maximum length of a method; PROPPATCH and the like have fewer characters. */
#define HTTP1_METHOD_BYTES_MAX 16
/* Maximum bytes of the line of a chunk: its size and extensions, which are ignored. */
#define HTTP1_CHUNK_LINE_BYTES_MAX 256
/* Maximum bytes of chunk lines beyond 16 per chunk and twice the chunk's bytes: so a body of tiny
 * chunks or long extensions is refused. */
#define HTTP1_CHUNK_OVERHEAD_BYTES_MAX ((int64_t)16 * 1024)
/* Maximum digits of a content-length: such a number fits into 64 bits. */
#define HTTP1_LENGTH_DIGITS_MAX 18
/* Maximum digits of a chunk's size. */
#define HTTP1_CHUNK_DIGITS_MAX 8

/* The reasons for refusing a request. */
enum http1_refusal {
    HTTP1_NOT_REFUSED,
#define REFUSAL(name, status, text) HTTP1_REFUSAL_##name,
#include "server/http1/http1_refusals.def"
#undef REFUSAL
};

enum http1_event_kind {
    HTTP1_MORE, /* more bytes are needed */
    HTTP1_LINE, /* the request line: name is the method, value the target */
    HTTP1_FIELD, /* a header field that does not concern framing, or host; its name in lower case */
    HTTP1_HEAD_END, /* all fields were received; the parser's members describe the framing */
    HTTP1_BODY, /* bytes of the body, in value */
    HTTP1_END, /* the request is complete; the next byte begins another one */
    HTTP1_REFUSED /* see the parser's refusal; further bytes are ignored */
};

/* Borrowed until the next http1_parser_take; the bytes of a body, from its argument. */
struct http1_event {
    enum http1_event_kind kind;
    struct slice name;
    struct slice value;
};

enum http1_state {
    HTTP1_STATE_LINE,
    HTTP1_STATE_FIELDS,
    HTTP1_STATE_BODY, /* the head is complete; the next step decides what follows */
    HTTP1_STATE_BYTES, /* bytes of a body with a content-length */
    HTTP1_STATE_CHUNK_LINE,
    HTTP1_STATE_CHUNK_BYTES,
    HTTP1_STATE_CHUNK_END,
    HTTP1_STATE_TRAILERS,
    HTTP1_STATE_END,
    HTTP1_STATE_REFUSED
};

struct http1_parser {
    enum http1_state state;
    enum http1_refusal refusal;
    bool has_host;
    bool has_length;
    bool chunked; /* the body is chunked */
    bool closes; /* the peer announced `connection: close` */
    bool expects_continue; /* the peer waits for a 100 before it sends the body */
    bool has_empty_line; /* an empty line came before the request line; only one is allowed */
    bool has_cr; /* the line's CR was received */
    uint64_t length; /* the announced content-length; 0 if there is none */
    uint64_t left; /* remaining bytes of the body, or of the chunk */
    int64_t overhead_bytes; /* see HTTP1_CHUNK_OVERHEAD_BYTES_MAX */
    uint32_t field_count;
    size_t fields_bytes;
    size_t line_bytes; /* received bytes of the current line */
    uint8_t line[HTTP1_LINE_BYTES_MAX];
};

/* Initialises the parser for a connection's first request. */
void http1_parser_init(struct http1_parser *parser);
/* Consumes bytes (possibly none) up to the next event, and returns their number. Call it until
 * HTTP1_MORE: an event may need no further bytes. */
size_t http1_parser_take(struct http1_parser *parser, struct slice bytes,
                         struct http1_event *ret_event);
/* Returns whether some bytes of a request line (or of the empty line before it) or of its fields, but not
 * all, were received. */
bool http1_parser_in_head(const struct http1_parser *parser);
/* Returns whether the request that is being received has a body. */
bool http1_parser_has_body(const struct http1_parser *parser);
/* Return the HTTP status of a refusal, and the text that a caller may see. */
unsigned http1_refusal_status(enum http1_refusal refusal);
struct slice http1_refusal_text(enum http1_refusal refusal);

#endif
