// The official client of revision 2026-07-28 discovers a server, lists its tools and calls them, without a handshake:
// node client.mjs ADDRESS TOKEN_FILE. Goal and method as in ../mcp/client.mjs; this one needs Node 20.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [address, tokenFile] = process.argv.slice(2);
const token = readFileSync(tokenFile, "utf8").trim();
const client = new Client({ name: "interop", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } });
await client.connect(new StreamableHTTPClientTransport(new URL(`http://${address}/mcp`),
    { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
const { tools } = await client.listTools();
assert.ok(tools.length >= 6);
const layoutFingerprint = "modern-layout";
const stored = await client.callTool({ name: "record_correction", arguments: { event: {
  eventType: "EXTRACTION_FIELD_CORRECTED", layoutFingerprint, actorUserId: "ann",
  beforeJson: '{"a":1}', afterJson: '{"a":2}' } } });
assert.equal(stored.isError, false, JSON.stringify(stored));
const served = await client.callTool({ name: "get_examples", arguments: { layoutFingerprint } });
assert.deepEqual(JSON.parse(served.structuredContent.hintExamplesJson)[0].output, { a: 2 });
const refused = await client.callTool({ name: "get_examples", arguments: {} });
assert.equal(refused.isError, true);
assert.match(refused.content[0].text, /layout_fingerprint: missing/);
await client.close();
console.log(`${tools.length} tools listed, revision 2026-07-28`);
process.exit(0);
