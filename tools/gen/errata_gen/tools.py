"""The tools of agents (server/mcp): each is a method of the contract, with the JSON schema of its request."""
import json

from errata_gen.contract import method_constant
from errata_gen.openapi import c_text
from errata_gen.schema import Schemas, one_line
from errata_gen.text import head

# Name, title, method, whether the response has learned text, how to ask for less. In the order in which they are
# listed; a method that the contract does not have yet is left out.
TOOLS = (
    ("get_examples", "Get examples of corrections", "GetExamples", True, "a smaller max_examples"),
    ("prepare_prompt", "Prepare a prompt", "PreparePrompt", True, "a smaller max_examples or template"),
    ("get_guidelines", "Get guidelines", "BuildAgentPrompt", True, "fewer guidelines"),
    ("resolve_placeholders", "Fill placeholders of prompts", "ResolvePlaceholders", True, "fewer prompts"),
    ("search_strategies", "Search strategies", "SearchStrategies", True, "fewer results"),
    ("record_correction", "Record a correction", "CaptureFeedbackEvent", False, "smaller JSON members"),
    ("record_extraction", "Record an extraction", "RecordExtraction", False, "fewer references"),
    ("record_decision", "Record a decision", "RecordDecision", False, "a smaller decision"),
    ("record_turn", "Record a turn", "RecordTurn", False, "a smaller turn"),
    ("propose_guideline", "Propose a guideline", "ProposeGuideline", False, "a shorter guideline"),
    ("explain_exposure", "Explain what was served", "ExplainExposure", True, "one reference"),
)


# Members of the request that a tool sets itself: only sanitised text reaches the model.
FIXED = {"get_examples": {"view": "HINTS"}, "get_guidelines": {"base_prompt": ""}}


def _definition(model, method, name, title):
    schemas = Schemas(model, False, lambda message: None)
    arguments = schemas.whole(model.messages[method.request])
    for member in FIXED.get(name, {}):
        arguments["properties"].pop(member, None)
    reads = method.proto.options.idempotency_level == 1
    return {
        "name": name,
        "title": title,
        "description": one_line(method.comment),
        "inputSchema": arguments,
        "annotations": {"title": title, "readOnlyHint": reads, "destructiveHint": False, "idempotentHint": reads,
                        "openWorldHint": False},
    }


def _fixed(name):
    fixed = json.dumps(FIXED.get(name, {}), separators=(",", ":"))
    escaped = fixed.replace('"', '\\"')
    return f'{{(const uint8_t *)"{escaped}", {len(fixed)}}}'


def write(model):
    methods = {method.name: method for method in model.methods()}
    text = head("mcp_tools.c", "the tools of agents.")
    text += '#include "errata/contract_methods.h"\n#include "server/mcp/mcp_tools.h"\n\n'
    rows = ""
    count = 0
    for name, title, target, learned, less in TOOLS:
        if target not in methods:
            continue
        method = methods[target]
        definition = json.dumps(_definition(model, method, name, title), ensure_ascii=False, separators=(",", ":"))
        text += c_text(name, definition.encode())
        rows += (f'    {{{{(const uint8_t *)"{name}", {len(name)}}}, &contract_methods[{method_constant(method)}],\n'
                 f"     {{{name}_bytes, sizeof({name}_bytes)}}, {'true' if learned else 'false'},\n"
                 f'     "{less}", {_fixed(name)}}},\n')
        count += 1
    text += f"\nconst struct mcp_tool mcp_tools[] = {{\n{rows}}};\nconst uint32_t mcp_tool_count = {count};\n"
    return {"mcp_tools.c": text}
