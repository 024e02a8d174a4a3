/** The client: examples for the next prompt, corrections in the background, and every service of the contract. */
import { create, fromJson, toJson, type JsonObject, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { Extraction, type ExtractionOptions } from "./extraction.js";
import { WriteQueue, type Entry, type QueueCounts, type Spool } from "./queue.js";
import { AnnotatorKind } from "./gen/errata/v1/annotator_kind_pb.js";
import { ExperimentArm } from "./gen/errata/v1/extraction_pb.js";
import { FeedbackEventSchema, FeedbackEventType } from "./gen/errata/v1/feedback_event_pb.js";
import { CaptureFeedbackEventRequestSchema } from "./gen/errata/v1/feedback_service_pb.js";
import { RecordExtractionRequestSchema } from "./gen/errata/v1/extraction_service_pb.js";
import {
  type GetExamplesRequestSchema, type GetExamplesResponse, type PreparePromptRequestSchema, MatchLevel,
} from "./gen/errata/v1/prompt_service_pb.js";
import { Services } from "./services.js";

/** A correction as an example. */
export interface Example {
  /** The event's id. */
  id: string;
  /** The text that the model read. */
  inputSnippet: string;
  /** The right result. */
  output: unknown;
  /** True if `output` is a part of the result. */
  partial: boolean;
  matchLevel: "EXACT" | "FAMILY" | "NONE";
}

/** Examples, newest first. */
export interface Examples extends Array<Example> {
  /** All as one JSON text, sanitised: the value of `{{hint_examples}}`. */
  hint: string;
  /** TREATMENT, CONTROL (held out: no examples) or NONE. */
  arm: "TREATMENT" | "CONTROL" | "NONE";
  /** Proves what was served. */
  exposureRef: string;
  /** True if the server did not answer. */
  failed: boolean;
}

/** A prompt that is ready for a model. */
export interface Prompt {
  text: string;
  exposureRef: string;
  /** Placeholders without a value. */
  missing: string[];
  /** True if it was filled in without the server, so without examples. */
  failed: boolean;
}

/** Which document, or which layout. */
export interface Subject {
  documentId?: string | undefined;
  layout?: string | undefined;
}

export interface ReadOptions extends Subject {
  timeoutMs?: number | undefined;
}

export interface ExamplesOptions extends ReadOptions {
  limit?: number | undefined;
  /** Further fields of GetExamplesRequest. */
  more?: MessageInitShape<typeof GetExamplesRequestSchema>;
}

export interface PromptOptions extends ReadOptions {
  /** Values by placeholder; those that are not texts are written as JSON. */
  values?: Record<string, unknown> | undefined;
  /** Further fields of PreparePromptRequest. */
  more?: MessageInitShape<typeof PreparePromptRequestSchema>;
}

export interface CorrectionOptions extends Subject {
  draftOrderId?: string | undefined;
  entityType?: string | undefined;
  entityId?: string | undefined;
  /** The whole right result, if `after` is a part of it. */
  output?: object | undefined;
  /** The text that the model read; the server has it for an ingested document. */
  snippet?: string | undefined;
  meta?: Record<string, unknown> | undefined;
  actor?: string | undefined;
  annotatorKind?: AnnotatorKind | undefined;
  /** By default a line if `entityId` is given, else a field. */
  type?: FeedbackEventType | undefined;
  exposureRefs?: string[] | undefined;
}

export interface ClientOptions {
  /** The time limit of a call with its repetitions: 10 s. */
  timeoutMs?: number | undefined;
  /** The same for `examples` and `prompt`: 1 s. */
  readTimeoutMs?: number | undefined;
  /** Makes `examples` and `prompt` return without examples if the server does not answer: true. */
  failOpen?: boolean | undefined;
  /** The user who corrects, where a call names none. */
  actor?: string | undefined;
  /** Keeps corrections that wait. Without one they are lost when the program ends. */
  spool?: Spool | undefined;
  /** The longest queue: 10,000 corrections, 64 MiB. */
  queueItemsMax?: number | undefined;
  queueBytesMax?: number | undefined;
  /** Called with key and error for each correction that the server refused. An error that it throws is printed as a warning. */
  onRejected?: ((key: string, error: ConnectError) => void) | undefined;
}

/** What a client did. */
export interface Counts {
  /** Calls of `examples` and `prompt`. */
  reads: number;
  /** Of these, answered without the server. */
  readsFailed: number;
  queue: QueueCounts;
}

const TOKEN = /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g;
const ATTEMPT_MS = 30_000;
/** Errors that say nothing about the request. */
const AWAY = new Set([
  Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted, Code.Internal, Code.Unknown, Code.Canceled,
]);

/**
 * A connection to Errata for a whole program. Made by `connect` of this package or, in Node, of `@errata/client/node`.
 * Each service of the contract is a member, as `client.feedbackService.listFeedbackEvents({...})`.
 */
export class Client extends Services {
  private readonly timeoutMs: number;
  private readonly readTimeoutMs: number;
  private readonly queue: WriteQueue;
  private reads = 0;
  private readsFailed = 0;

  constructor(transport: Transport, private readonly options: ClientOptions = {}) {
    super((service) => createClient(service, transport));
    this.timeoutMs = options.timeoutMs ?? 10_000;
    this.readTimeoutMs = options.readTimeoutMs ?? 1_000;
    this.queue = new WriteQueue({
      send: (entry) => this.send(entry), spool: options.spool, itemsMax: options.queueItemsMax ?? 10_000,
      bytesMax: options.queueBytesMax ?? 64 << 20, onRejected: options.onRejected,
    });
  }

  /** Returns the newest corrections of a document's layout, for the next prompt. */
  async examples(options: ExamplesOptions): Promise<Examples> {
    const request = {
      ...options.more, layoutFingerprint: options.layout ?? "", maxExamples: options.limit ?? 0,
      ...(options.documentId === undefined ? {} : { documentId: options.documentId }),
    };
    return this.read(async (call) => readExamples(await this.promptService.getExamples(request, call)),
      () => examplesOf([], { failed: true }), options.timeoutMs);
  }

  /** Returns a prompt: a template, as text or by its name, with examples and values in its placeholders. */
  async prompt(template: string, options: PromptOptions = {}): Promise<Prompt> {
    const context = Object.fromEntries(Object.entries(options.values ?? {}).map(
      ([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));
    const isText = template.search(TOKEN) >= 0 || /\s/.test(template);
    const request: MessageInitShape<typeof PreparePromptRequestSchema> = {
      ...options.more, context,
      source: isText ? { case: "template", value: template } : { case: "templateName", value: template },
      ...(options.layout === undefined ? {} : { layoutFingerprint: options.layout }),
      ...(options.documentId === undefined ? {} : { documentId: options.documentId }),
    };
    return this.read(async (call) => {
      const made = await this.promptService.preparePrompt(request, call);
      return { text: made.prompt, exposureRef: made.exposureRef, missing: made.missingTokens, failed: false };
    }, isText ? () => fillLocally(template, context) : undefined, options.timeoutMs);
  }

  /** Queues a correction and returns its idempotency key. Throws QueueFullError. */
  correct(before: object, after: object, options: CorrectionOptions = {}): string {
    const meta: Record<string, unknown> = { ...options.meta };
    if (options.snippet !== undefined) {
      meta["input_snippet"] = options.snippet;
    }
    if (options.exposureRefs !== undefined && options.exposureRefs.length > 0) {
      meta["exposure_refs"] = options.exposureRefs;
    }
    const event = create(FeedbackEventSchema, {
      eventType: options.type ?? (options.entityId === undefined
        ? FeedbackEventType.EXTRACTION_FIELD_CORRECTED : FeedbackEventType.EXTRACTION_LINE_CORRECTED),
      annotatorKind: options.annotatorKind ?? AnnotatorKind.UNSPECIFIED,
      beforeJson: JSON.stringify(before), afterJson: JSON.stringify(after),
      correctedOutputJson: options.output === undefined ? "" : JSON.stringify(options.output),
      metaJson: Object.keys(meta).length === 0 ? "" : JSON.stringify(meta),
      ...given({
        documentId: options.documentId, layoutFingerprint: options.layout, draftOrderId: options.draftOrderId,
        entityType: options.entityType, entityId: options.entityId, actorUserId: options.actor ?? this.options.actor,
      }),
    });
    return this.queue.add("correction", { event: toJson(FeedbackEventSchema, event) });
  }

  /** Queues the record of an extraction; `extraction` is an Extraction of the contract in JSON. */
  record(extraction: JsonObject): string {
    return this.queue.add("extraction", { extraction });
  }

  /** Returns the extraction of one document: for `await using`, or with a function that gets it. */
  extraction(subject: ExtractionOptions): Extraction;
  extraction<T>(subject: ExtractionOptions, work: (extraction: Extraction) => Promise<T>): Promise<T>;
  extraction<T>(subject: ExtractionOptions, work?: (extraction: Extraction) => Promise<T>): Extraction | Promise<T> {
    const extraction = new Extraction(this, subject);
    return work === undefined ? extraction : work(extraction).then((result) => {
      extraction.finish();
      return result;
    });
  }

  /** Returns what this client did so far. */
  counts(): Counts {
    return { reads: this.reads, readsFailed: this.readsFailed, queue: this.queue.counts() };
  }

  /** Waits until all queued writes are stored or refused; resolves to whether they are. */
  flush(timeoutMs = 30_000): Promise<boolean> {
    return this.queue.flush(timeoutMs);
  }

  /** Flushes and closes; resolves to whether nothing waits any more. */
  close(timeoutMs = 5_000): Promise<boolean> {
    return this.queue.close(timeoutMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async read<T>(call: (options: { timeoutMs: number }) => Promise<T>, otherwise: (() => T) | undefined,
    timeoutMs: number | undefined): Promise<T> {
    this.reads++;
    try {
      return await call({ timeoutMs: timeoutMs ?? this.readTimeoutMs });
    } catch (problem) {
      const error = ConnectError.from(problem);
      if (this.options.failOpen === false || otherwise === undefined || !AWAY.has(error.code)) {
        throw error;
      }
      this.readsFailed++;
      return otherwise();
    }
  }

  private async send(entry: Entry): Promise<void> {
    const call = { timeoutMs: Math.max(this.timeoutMs, ATTEMPT_MS), headers: { "idempotency-key": entry.key } };
    if (entry.kind === "correction") {
      await this.feedbackService.captureFeedbackEvent(
        fromJson(CaptureFeedbackEventRequestSchema, entry.request as JsonValue), call);
    } else {
      await this.extractionService.recordExtraction(
        fromJson(RecordExtractionRequestSchema, entry.request as JsonValue), call);
    }
  }
}

/** Returns the members that are given. */
function given<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function examplesOf(list: Example[], more: Partial<Omit<Examples, keyof Array<Example>>>): Examples {
  return Object.assign(list, { hint: "", arm: "NONE" as const, exposureRef: "", failed: false, ...more });
}

function readExamples(answer: GetExamplesResponse): Examples {
  const list = answer.examples.map((one) => ({
    id: one.id, inputSnippet: one.inputSnippet, output: parsed(one.output), partial: one.partial,
    matchLevel: one.matchLevel === MatchLevel.FAMILY ? "FAMILY" as const
      : one.matchLevel === MatchLevel.EXACT ? "EXACT" as const : "NONE" as const,
  }));
  const arm = answer.arm === ExperimentArm.TREATMENT ? "TREATMENT"
    : answer.arm === ExperimentArm.CONTROL ? "CONTROL" : "NONE";
  return examplesOf(list, { hint: answer.hintExamplesJson, arm, exposureRef: answer.exposureRef });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Fills in a template without the server: no examples. Values are not expanded again. */
function fillLocally(template: string, context: Record<string, string>): Prompt {
  const missing: string[] = [];
  const text = template.replace(TOKEN, (whole, name: string) => {
    if (name === "hint_examples") {
      return "";
    }
    const value = Object.hasOwn(context, name) ? context[name] : undefined;
    if (value === undefined) {
      missing.push(name);
    }
    return value ?? whole;
  });
  return { text, exposureRef: "", missing, failed: true };
}
