"""Few-shot messages for a chat model with an interface like OpenAI's, and corrections from a review."""
import json
import os
import urllib.request
from typing import Any

from errata import Client, Examples


def messages(examples: Examples, instruction: str, text: str) -> list[dict[str, str]]:
    """Returns the messages of a chat: each example is a question with its correct answer; the oldest comes first."""
    turns = [{"role": "system", "content": instruction}]
    for example in reversed(examples):
        turns.append({"role": "user", "content": example.input_snippet})
        turns.append({"role": "assistant", "content": json.dumps(example.output, ensure_ascii=False)})
    return [*turns, {"role": "user", "content": text}]


def complete(turns: list[dict[str, str]]) -> Any:
    """Calls the model at OPENAI_BASE_URL."""
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps({"model": "any", "messages": turns}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "")})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(json.load(answer)["choices"][0]["message"]["content"])


if __name__ == "__main__":
    with Client(actor="ada") as client, client.extraction("invoice-9", layout="acme") as extraction:
        document = "Invoice of ACME: 3 boxes of 4"
        result = complete(messages(extraction.examples(), "Answer with JSON.", document))
        extraction.confidence = 0.9
        right = {**result, "qty": 12}  # of the person who reviews it
        if right != result:
            extraction.correct(result, right, snippet=document)
        print(json.dumps(right))
