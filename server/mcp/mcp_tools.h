/*
 * mcp_tools.h: the tools of agents, generated from the contract: each is one method.
 */
#ifndef ERRATA_SERVER_MCP_MCP_TOOLS_H
#define ERRATA_SERVER_MCP_MCP_TOOLS_H

#include "server/codec/contract.h"

struct mcp_tool {
    struct slice name; /* get_examples */
    const struct method_info *method;
    struct slice definition; /* its object in tools/list: JSON with the schema of its arguments */
    bool has_learned_text; /* the result has texts that people or models wrote */
    const char *less; /* hint for requesting a smaller response */
    struct slice fixed; /* JSON of the members of the request that the tool sets itself */
};

/* In the order in which they are listed. */
extern const struct mcp_tool mcp_tools[];
extern const uint32_t mcp_tool_count;

#endif
