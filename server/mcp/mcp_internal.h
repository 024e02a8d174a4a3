/*
 * mcp_internal.h: functions shared by the files of server/mcp.
 */
#ifndef ERRATA_SERVER_MCP_MCP_INTERNAL_H
#define ERRATA_SERVER_MCP_MCP_INTERNAL_H

#include "server/mcp/mcp.h"
#include "server/mcp/mcp_tools.h"
#include "store/base/json.h"

/* Codes of JSON-RPC, and of the protocol. */
enum mcp_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_UNKNOWN_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_DENIED = -32000, /* no valid token, or a request from a foreign origin */
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNKNOWN_VERSION = -32022
};

/* A message of JSON-RPC. Slices are borrowed from the body, or are in the arena. */
struct mcp_message {
    bool
        is_request; /* has an id, and so a response; otherwise a notification, or a response to this server */
    struct slice id; /* as written; `null` if there is none */
    struct slice method;
    bool has_params;
    struct json_value params; /* an object */
    struct slice name; /* params.name, or empty */
    struct slice version; /* version of params._meta, or empty */
};

/* The reason for refusing a message. */
struct mcp_problem {
    unsigned http_status;
    enum mcp_code code;
    struct slice text;
};

/* The fields of HTTP that repeat values of the body; empty ones were not sent. */
struct mcp_fields {
    struct slice version;
    struct slice method;
    struct slice name;
};

/* mcp_message.c */
/* Reads a body; false with the problem. `ret_message->id` is set as far as it is known. */
bool mcp_read(struct arena *arena, struct slice body, struct mcp_message *ret_message,
              struct mcp_problem *ret_problem);
/* Compares the fields with the message; false with the problem. */
bool mcp_check_fields(const struct mcp_fields *fields, const struct mcp_message *message,
                      struct mcp_problem *ret_problem);
/* Returns whether the message is of the revision without sessions. */
bool mcp_is_modern(const struct mcp_fields *fields, const struct mcp_message *message);
/* Returns the revision that `initialize` selects. */
struct slice mcp_agree(struct slice asked);

/* mcp_result.c: these functions append whole responses. */
void mcp_write_error(const struct mcp_problem *problem, struct slice id, struct slice asked_version,
                     struct buffer *json);
void mcp_write_initialized(struct slice id, struct slice version, struct buffer *json);
void mcp_write_discovered(struct slice id, struct buffer *json);
void mcp_write_empty(struct slice id, struct buffer *json);
/* Appends the list of the tools that a role may call. */
void mcp_write_tools(struct slice id, uint32_t role, struct buffer *json);
/* Appends the result of a tool: `content` is proto JSON. */
void mcp_write_result(struct slice id, const struct mcp_tool *tool, struct slice content,
                      struct buffer *json);
/* Appends a call that the services refused, as a result that the model reads. */
void mcp_write_refusal(struct slice id, struct slice text, struct buffer *json);

#endif
