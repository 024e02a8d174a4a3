/** The client for Node: the token from a file, and corrections that wait in files. */
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { connect as connectAnywhere, type Client, type ConnectOptions } from "./index.js";
import type { Entry, Spool } from "./queue.js";

export interface NodeOptions extends Partial<ConnectOptions> {
  /** A file with the token, read again when the server refuses it; by default the environment's ERRATA_TOKEN_FILE. */
  tokenFile?: string | undefined;
  /** The folder of corrections that wait; null: memory only. By default errata/spool-node of the user's state folder. */
  spoolFolder?: string | null | undefined;
}

const SUFFIX = ".queue";

/**
 * Writes that wait, in a file of this process: a line of JSON for each, and one when it is done. Lines are not synced:
 * a power cut may lose the latest. Files of processes that ended are taken over.
 */
export class FileSpool implements Spool {
  private readonly path: string;
  private readonly file: number;

  constructor(private readonly folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.path = join(folder, `${process.pid}-${crypto.randomUUID()}${SUFFIX}`);
    this.file = openSync(this.path, "ax", 0o600);
  }

  load(): Entry[] {
    const taken: Entry[] = [];
    for (const name of readdirSync(this.folder).filter((one) => one.endsWith(SUFFIX)).sort()) {
      const path = join(this.folder, name);
      if (path !== this.path && !isRunning(Number(name.split("-")[0]))) {
        for (const entry of waiting(readFileSync(path, "utf8"))) {
          this.add(entry);
          taken.push(entry);
        }
        rmSync(path, { force: true });
      }
    }
    return taken;
  }

  add(entry: Entry): void {
    this.write(entry);
  }

  done(entry: Entry, noneLeft: boolean): void {
    if (noneLeft) {
      ftruncateSync(this.file);
    } else {
      this.write({ done: entry.key });
    }
  }

  reject(entry: Entry, reason: string): void {
    const file = openSync(join(this.folder, "rejected.jsonl"), "a", 0o600);
    writeSync(file, `${JSON.stringify({ error: reason, ...entry })}\n`);
    closeSync(file);
  }

  close(noneLeft: boolean): void {
    closeSync(this.file);
    if (noneLeft) {
      rmSync(this.path, { force: true });
    }
  }

  private write(line: object): void {
    writeSync(this.file, `${JSON.stringify(line)}\n`);
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) {
    return true;
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (problem) {
    return (problem as NodeJS.ErrnoException).code === "EPERM";
  }
}

function waiting(text: string): Entry[] {
  const entries = new Map<string, Entry>();
  for (const line of text.split("\n")) {
    try {
      const read = line === "" ? {} : JSON.parse(line) as Partial<Entry> & { done?: string };
      if (read.done !== undefined) {
        entries.delete(read.done);
      } else if (read.key !== undefined && read.kind !== undefined && read.request !== undefined) {
        entries.set(read.key, { key: read.key, kind: read.kind, request: read.request });
      }
    } catch {
      // A line that was cut off when its process was killed.
    }
  }
  return [...entries.values()];
}

/** Returns a client; by default of the environment's ERRATA_SERVER and ERRATA_TOKEN_FILE. */
export function connect(options: NodeOptions = {}): Client {
  const server = options.server ?? process.env["ERRATA_SERVER"] ?? "127.0.0.1:7443";
  const file = options.token === undefined ? options.tokenFile ?? process.env["ERRATA_TOKEN_FILE"] : undefined;
  let text: string | undefined;
  const fromFile = (path: string) => (refused: boolean): string => {
    text = text === undefined || refused ? readFileSync(path, "ascii").trim() : text;
    return text;
  };
  const token = file === undefined ? options.token : fromFile(file);
  const spool = options.spool ?? spoolOf(options.spoolFolder, server, file ?? "");
  return connectAnywhere({ ...options, server, token, spool });
}

/** A folder of its own for each server and token file, so that no correction reaches another. */
function spoolOf(folder: string | null | undefined, server: string, file: string): Spool | undefined {
  if (folder === null) {
    return undefined;
  }
  const state = process.env["XDG_STATE_HOME"] || join(homedir(), ".local", "state");
  const whose = createHash("sha256").update(`${server} ${existsSync(file) ? keyOf(file) : ""}`).digest("hex");
  return new FileSpool(join(folder ?? join(state, "errata", "spool-node"), whose.slice(0, 16)));
}

/** The part of a token that is not secret. */
function keyOf(file: string): string {
  return readFileSync(file, "ascii").trim().split("_")[1] ?? "";
}

export * from "./index.js";
