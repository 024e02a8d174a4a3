/** The extraction of one document, from its prompt to its corrections. */
import type {
  Client, CorrectionOptions, Examples, ExamplesOptions, Prompt, PromptOptions, Subject,
} from "./client.js";

export interface ExtractionOptions extends Subject {
  draftOrderId?: string | undefined;
  model?: string | undefined;
}

/**
 * What `examples` and `prompt` served is cited when the extraction is recorded: at the end of its `await using` block,
 * or after its function, if `confidence` was set.
 */
export class Extraction {
  /** References of what was served, in its order. */
  readonly exposureRefs: string[] = [];
  /** Confidence of the model's result, 0 to 1. */
  confidence: number | undefined;
  /** Number of extracted fields. */
  fieldCount: number | undefined;
  recorded = false;

  constructor(private readonly client: Client, private readonly subject: ExtractionOptions) {}

  /** Client.examples for this document. */
  async examples(options: Omit<ExamplesOptions, keyof Subject> = {}): Promise<Examples> {
    return this.served(await this.client.examples({ ...this.about(), ...options }));
  }

  /** Client.prompt for this document. */
  async prompt(template: string, options: Omit<PromptOptions, keyof Subject> = {}): Promise<Prompt> {
    return this.served(await this.client.prompt(template, { ...this.about(), ...options }));
  }

  /** Client.correct for this document; the event's meta names what was served. */
  correct(before: object, after: object, options: CorrectionOptions = {}): string {
    return this.client.correct(before, after, {
      ...this.about(), draftOrderId: this.subject.draftOrderId, exposureRefs: this.exposureRefs, ...options,
    });
  }

  /** Queues the record of the extraction, citing what was served; returns its idempotency key. */
  record(confidence: number): string {
    this.recorded = true;
    return this.client.record(JSON.parse(JSON.stringify({
      documentId: this.subject.documentId, draftOrderId: this.subject.draftOrderId,
      layoutFingerprint: this.subject.layout, confidence, model: this.subject.model, fieldCount: this.fieldCount,
      exposureRefs: this.exposureRefs,
    })));
  }

  /** Records the extraction if a confidence was set. */
  finish(): void {
    if (this.confidence !== undefined && !this.recorded) {
      this.record(this.confidence);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.finish();
  }

  private about(): Subject {
    return { documentId: this.subject.documentId, layout: this.subject.layout };
  }

  private served<T extends Examples | Prompt>(what: T): T {
    if (what.exposureRef !== "" && !this.exposureRefs.includes(what.exposureRef)) {
      this.exposureRefs.push(what.exposureRef);
    }
    return what;
  }
}
