/**
 * Errata from TypeScript, in browsers and in any program with `fetch`. In Node use `@errata/client/node`, which reads
 * the token from a file and keeps corrections in a spool.
 *
 *     import { connect } from "@errata/client";
 *     const client = connect({ server: "http://127.0.0.1:7443", token });
 *     const { hint } = await client.examples({ layout: "supplier-7" });
 */
import { createConnectTransport } from "@connectrpc/connect-web";
import { Client, type ClientOptions } from "./client.js";
import { authorize, repeat, type TokenSource } from "./retry.js";

export interface ConnectOptions extends ClientOptions {
  /** HOST:PORT or a URL of http or https. */
  server: string;
  /** The token, or a function that returns it: called again after the server refused one. */
  token?: string | TokenSource | undefined;
}

/** Returns a client. */
export function connect(options: ConnectOptions): Client {
  const { token } = options;
  const source: TokenSource = typeof token === "function" ? token : () => token;
  return new Client(createConnectTransport({
    baseUrl: options.server.includes("://") ? options.server : `http://${options.server}`,
    useBinaryFormat: false,
    defaultTimeoutMs: options.timeoutMs ?? 10_000,
    interceptors: [repeat(), authorize(source)],
  }), options);
}

export * from "./client.js";
export { Extraction, type ExtractionOptions } from "./extraction.js";
export { QueueFullError, type Entry, type QueueCounts, type Spool } from "./queue.js";
export type { TokenSource } from "./retry.js";
export { Code, ConnectError } from "@connectrpc/connect";
