/**
 * Writes in the background: a bounded queue that sends one after the other, in the order of their calls, and repeats
 * each under its idempotency key until the server has stored or refused it.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import type { JsonObject } from "@bufbuild/protobuf";
import { newKey } from "./retry.js";

/** A write that waits. */
export interface Entry {
  /** Its idempotency key. */
  key: string;
  /** Which method it calls. */
  kind: "correction" | "extraction";
  /** The request in JSON. */
  request: JsonObject;
}

/** Where writes are kept while they wait, so that they outlive the program. */
export interface Spool {
  /** Returns the writes that earlier programs left, and takes them over. */
  load(): Entry[];
  /** Stores a write, before `correct` returns. */
  add(entry: Entry): void;
  /** Notes that a write needs no more attempt. */
  done(entry: Entry, noneLeft: boolean): void;
  /** Keeps a write that the server refused, with the reason. */
  reject(entry: Entry, reason: string): void;
  /** Closes it. */
  close(noneLeft: boolean): void;
}

/** What became of the writes of a queue. */
export interface QueueCounts {
  waiting: number;
  sent: number;
  /** Refused by the server. */
  rejected: number;
}

/** The queue is full: the server was away for too long. The write was not taken. */
export class QueueFullError extends Error {
  override name = "QueueFullError";
}

export interface QueueOptions {
  send: (entry: Entry) => Promise<void>;
  spool: Spool | undefined;
  itemsMax: number;
  bytesMax: number;
  onRejected: ((key: string, error: ConnectError) => void) | undefined;
}

/** The first and the longest wait between attempts. */
const WAIT_FIRST_MS = 100;
const WAIT_MAX_MS = 30_000;
/** Codes after which the same write may succeed later: the server or the token is the reason, not the write. */
const LATER = new Set([
  Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted, Code.Unauthenticated, Code.Internal, Code.Unknown,
  Code.Canceled,
]);

/** Calls a part that may throw, such as for a full disk: the queue and those who wait for it continue. */
function survive(part: string, call: () => void): void {
  try {
    call();
  } catch (problem) {
    console.warn(`errata: ${part} failed:`, problem);
  }
}

export class WriteQueue {
  private readonly entries: { entry: Entry; bytes: number }[] = [];
  private bytes = 0;
  private sent = 0;
  private rejected = 0;
  private running = false;
  private closed = false;
  private wake: (() => void) | undefined;
  private idle: (() => void)[] = [];

  constructor(private readonly options: QueueOptions) {
    for (const entry of options.spool?.load() ?? []) {
      this.put(entry);
    }
    this.start();
  }

  /** Queues a write and returns its key. Throws QueueFullError. */
  add(kind: Entry["kind"], request: JsonObject): string {
    if (this.closed) {
      throw new Error("the client is closed");
    }
    const entry: Entry = { key: newKey(), kind, request };
    const bytes = JSON.stringify(request).length;
    if (this.entries.length >= this.options.itemsMax || this.bytes + bytes > this.options.bytesMax) {
      throw new QueueFullError(`${this.entries.length} writes of ${this.bytes} bytes wait for the server`);
    }
    this.options.spool?.add(entry);
    this.put(entry);
    this.start();
    return entry.key;
  }

  counts(): QueueCounts {
    return { waiting: this.entries.length, sent: this.sent, rejected: this.rejected };
  }

  /** Waits until all queued writes are stored or refused; resolves to whether they are. */
  async flush(timeoutMs: number): Promise<boolean> {
    if (this.entries.length === 0) {
      return true;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([new Promise<void>((resolve) => this.idle.push(resolve)), limit]);
    clearTimeout(timer);
    return this.entries.length === 0;
  }

  /** Flushes and ends; what still waits stays in the spool. Resolves to whether nothing does. */
  async close(timeoutMs: number): Promise<boolean> {
    const done = await this.flush(timeoutMs);
    this.closed = true;
    this.wake?.();
    this.options.spool?.close(done);
    return done;
  }

  private put(entry: Entry): void {
    const bytes = JSON.stringify(entry.request).length;
    this.entries.push({ entry, bytes });
    this.bytes += bytes;
  }

  private start(): void {
    if (!this.running) {
      void this.run();
    }
  }

  /** `running` ends in the turn that finds the queue empty, so that a write of the same turn starts it again. */
  private async run(): Promise<void> {
    this.running = true;
    try {
      for (let failures = 0; !this.closed && this.entries[0] !== undefined;) {
        const { entry, bytes } = this.entries[0];
        const error = await this.attempt(entry);
        if (error !== undefined && LATER.has(error.code)) {
          failures++;
          await this.pause(Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** Math.min(failures - 1, 10)));
        } else {
          failures = 0;
          this.finish(entry, bytes, error);
        }
      }
    } finally {
      this.running = false;
    }
  }

  private async attempt(entry: Entry): Promise<ConnectError | undefined> {
    try {
      await this.options.send(entry);
      return undefined;
    } catch (problem) {
      return ConnectError.from(problem);
    }
  }

  private finish(entry: Entry, bytes: number, refused: ConnectError | undefined): void {
    this.entries.shift();
    this.bytes -= bytes;
    if (refused === undefined) {
      this.sent++;
    } else {
      this.rejected++;
    }
    if (!this.closed) {
      // A write that stays in the spool is sent again by the next program, under the same key.
      survive("the spool of corrections", () => {
        if (refused !== undefined) {
          this.options.spool?.reject(entry, refused.message);
        }
        this.options.spool?.done(entry, this.entries.length === 0);
      });
    }
    if (refused !== undefined) {
      survive("onRejected", () => this.options.onRejected?.(entry.key, refused));
    }
    if (this.entries.length === 0) {
      for (const resolve of this.idle.splice(0)) {
        resolve();
      }
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms * (0.5 + Math.random() / 2));
      // In Node a waiting queue does not keep a program alive: what waits is in the spool.
      (timer as { unref?: () => void }).unref?.();
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
