"""Errata as an example selector of LangChain: it has the two methods of BaseExampleSelector.

    FewShotPromptTemplate(example_selector=ErrataExamples(client), ...) formats each example with {input} and {output}.
"""
import json

from errata import Client

from errata_openai import complete


class ErrataExamples:
    """Selects the newest corrections of a layout, or of the layout of a document."""

    def __init__(self, client: Client, limit: int = 3) -> None:
        self.client = client
        self.limit = limit

    def select_examples(self, input_variables: dict[str, str]) -> list[dict[str, str]]:
        """Returns examples for the prompt of a document; `layout` or `document_id` is one of the variables."""
        found = self.client.examples(input_variables.get("document_id"), layout=input_variables.get("layout"),
                                     limit=self.limit)
        return [{"input": one.input_snippet, "output": json.dumps(one.output, ensure_ascii=False)} for one in found]

    def add_example(self, example: dict[str, str]) -> str:
        """Stores a correction: `input` and the correct `output`, and the model's `before` if it is known."""
        return self.client.correct(example.get("before", "{}"), example["output"], snippet=example["input"],
                                   layout=example["layout"])


if __name__ == "__main__":
    with Client(actor="ada") as client:
        selector = ErrataExamples(client)
        selector.add_example({"input": "2 x 6 eggs", "before": '{"qty": 2}', "output": '{"qty": 12}', "layout": "eggs"})
        client.flush()
        shots = ["{input} is {output}".format(**one) for one in selector.select_examples({"layout": "eggs"})]
        print(complete([{"role": "user", "content": "\n".join([*shots, "Answer with JSON. 3 x 6 eggs is"])}]))
