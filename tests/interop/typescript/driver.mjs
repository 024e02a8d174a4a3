// Makes the client's calls that the test requests: a line of JSON for each call, and one for its result.
import { createInterface } from "node:readline";
import { Code, connect, ConnectError } from "@errata/client/node";

const refused = [];
const client = connect({
  ...JSON.parse(process.argv[2]), actor: "ada", onRejected: (key, error) => refused.push([key, Code[error.code]]),
});
const operations = {
  examples: async (options) => {
    const found = await client.examples(options);
    return { list: [...found], hint: found.hint, failed: found.failed, arm: found.arm };
  },
  prompt: (template, options) => client.prompt(template, options),
  correct: async (before, after, options) => client.correct(before, after, options),
  flush: (timeoutMs) => client.flush(timeoutMs),
  counts: async () => client.counts(),
  refused: async () => refused,
  extract: (subject) => client.extraction(subject, async (extraction) => {
    await extraction.examples();
    const prompt = await extraction.prompt("{{hint_examples}} {{text}}", { values: { text: "t" } });
    extraction.correct({ a: 1 }, { a: 2 });
    extraction.confidence = 0.5;
    return [prompt.text, extraction.exposureRefs.length];
  }),
  events: async (request) => (await client.feedbackService.listFeedbackEvents(request)).events.map(
    (event) => [event.actorUserId, event.entityId, event.afterJson, event.metaJson]),
  capture: async (event, key) => (await client.feedbackService.captureFeedbackEvent(
    { event }, key === undefined ? {} : { headers: { "idempotency-key": key } })).event.id,
  watch: async (count) => {
    const seen = [];
    for await (const { event } of client.eventService.watchEvents({ fromSeq: 1n })) {
      seen.push(String(event.seq));
      if (seen.length === count) {
        return seen;
      }
    }
    return seen;
  },
  close: (timeoutMs) => client.close(timeoutMs),
};
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...values] = JSON.parse(line);
  let result;
  try {
    result = { value: (await operations[name](...values)) ?? null };
  } catch (problem) {
    result = { error: problem instanceof ConnectError ? Code[problem.code] : problem.name, text: problem.message };
  }
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
