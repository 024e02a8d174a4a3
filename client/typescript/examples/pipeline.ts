/** A pipeline: documents go through a model, and a person's corrections become examples for the next one. */
import { connect, type Extraction } from "@errata/client/node";

const TEMPLATE = `Extract the order as JSON with the members customer and qty.
Corrections of similar documents: {{hint_examples}}
Document: {{text}}`;

/** Asks the model. Here it is a few lines that take the first number for the quantity. */
async function extract(extraction: Extraction, text: string): Promise<{ customer: string; qty: number }> {
  const prompt = await extraction.prompt(TEMPLATE, { values: { text } });
  extraction.confidence = prompt.text.includes("qty\":") ? 0.5 : 0.4;
  return { customer: text.split(" ")[0] ?? "", qty: Number(/\d+/.exec(text)?.[0] ?? 0) };
}

const client = connect({ actor: "ada" }); // ERRATA_SERVER, ERRATA_TOKEN_FILE
for (const [document, text, right] of [["order-1", "ACME 7 boxes of 12", 84], ["order-2", "ACME 2 boxes of 5", 10]] as const) {
  await client.extraction({ documentId: document, layout: "acme-ts" }, async (extraction) => {
    console.log(document, "was given", (await extraction.examples()).length, "examples");
    const result = await extract(extraction, text);
    if (result.qty !== right) { // a person has looked at it
      extraction.correct(result, { ...result, qty: right }, { snippet: text });
    }
  });
  await client.flush();
}
console.log(JSON.stringify(client.counts()));
await client.close();
