/*
 * mcp.h: the Model Context Protocol (modelcontextprotocol.io) at POST /mcp: agents list tools and call
 * them. A tool is one method of the contract: a call of the services like any other, with the same
 * token, role and checks. Revision 2026-07-28 without sessions, and 2025-11-25 and 2025-06-18 without a
 * session id; each POST has one JSON response. Nothing is sent without a request.
 */
#ifndef ERRATA_SERVER_MCP_MCP_H
#define ERRATA_SERVER_MCP_MCP_H

#include "server/http/http_protocol.h"
#include "store/base/fault.h"

#define MCP_PATH "/mcp"
/* Maximum bytes of a request, and of a response: a model's context is not larger. */
#define MCP_REQUEST_BYTES_MAX ((size_t)1 << 20)
#define MCP_ANSWER_BYTES_MAX ((size_t)256 * 1024)
/* Maximum bytes of a result's JSON as text, for clients that do not read structuredContent. */
#define MCP_TEXT_BYTES_MAX ((size_t)8 * 1024)
/* Maximum nesting of a request. */
#define MCP_DEPTH_MAX 64
/* Time for which a client may keep the list of tools. */
#define MCP_TTL_MS 300000

/* The functions of the services that the protocol uses. */
struct mcp_server {
    /* Returns the role of the request's token; ERR_UNAUTHENTICATED with a message in `fault`. */
    enum err (*find_role)(void *user, const struct plain_request *request, struct fault *fault,
                          uint32_t *ret_role);
    void *user;
};

/* Returns the protocol's table; it borrows the server. */
struct http_protocol mcp_protocol(const struct mcp_server *server);

#endif
