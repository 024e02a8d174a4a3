"""A pipeline: documents go through a model, and a person's corrections become examples for the next one."""
import json
import os

from errata import Client, Extraction

TEMPLATE = """Extract the order as JSON with the members customer and qty.
Corrections of similar documents: {{hint_examples}}
Document: {{text}}"""


def extract(extraction: Extraction, text: str) -> dict[str, object]:
    """Calls the model, which is simulated here by a few lines that take the first number for the quantity."""
    prompt = extraction.prompt(TEMPLATE, text=text)
    numbers = [int(word) for word in text.split() if word.isdigit()]
    extraction.confidence = 0.5 if "qty" in prompt.split("Document:")[0] else 0.4
    return {"customer": text.split()[0], "qty": numbers[0] if numbers else 0}


def main() -> None:
    """Works on two documents of one supplier."""
    with Client(actor=os.environ.get("USER", "ada")) as client:  # ERRATA_SERVER, ERRATA_TOKEN_FILE
        for document, text, right in (("order-1", "ACME 7 boxes of 12 pcs", 84), ("order-2", "ACME 2 boxes of 5", 10)):
            with client.extraction(document, layout="acme") as extraction:
                print(document, "was given", len(extraction.examples()), "examples")
                result = extract(extraction, text)
                if result["qty"] != right:  # a person has reviewed it
                    extraction.correct(result, {**result, "qty": right}, snippet=text)
            client.flush()
        print(json.dumps(client.counts()._asdict()))


if __name__ == "__main__":
    main()
