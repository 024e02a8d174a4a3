#!/usr/bin/python3
"""Vectors and comparisons of texts through real clients, with the sentence encoder's model and without.

Goal: texts that mean the same have a higher score, by the client and by the command line; a server without a
model, or with an invalid file, serves them too and reports the problem. Method: one erratad with the model,
which a fixture has made, and others for each kind of file.
"""
import glob
import math
import os
import subprocess
import tempfile

import grpc

from erratad import Server, health_pb2, main, roles
from errata_cli import CliCase

from errata.v1 import text_service_pb2 as text
from errata.v1 import text_service_pb2_grpc as text_grpc

MODEL = os.environ["ERRATA_TEST_MODEL"]
QUERY = text.SIMILARITY_PROFILE_QUERY
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def service(client):
    return text_grpc.TextServiceStub(client.channel)


def compare(client, a, b, profile=QUERY):
    return service(client).CompareTexts(text.CompareTextsRequest(text_a=a, text_b=b, profile=profile))


def embed(client, *texts):
    return service(client).Embed(text.EmbedRequest(texts=texts))


def health(client):
    return client.health.Check(health_pb2.HealthCheckRequest(service="errata.embedder")).status


class Texts(CliCase):
    arguments = ("--model", MODEL)

    def test_same_meaning_scores_higher(self):
        """A rephrased question, an unrelated one, and the same words with another number."""
        same = compare(self.admin, "How do I reset my password?", "What can I do to change my password?")
        other = compare(self.admin, "How do I reset my password?", "Which trains leave for Oslo tomorrow?")
        self.assertGreaterEqual(same.score, 0.8)
        self.assertLess(other.score, 0.3)
        self.assertGreater(same.cosine, other.cosine)
        numbers = compare(self.admin, "Where is order 12?", "Where is order 13?")
        self.assertTrue(numbers.numbers_differ)
        self.assertLessEqual(numbers.score, 0.75)
        antonyms = compare(self.admin, "Turn the heating on at 6", "Turn the heating off at 6")
        self.assertEqual((antonyms.antonym_a, antonyms.antonym_b), ("on", "off"))
        self.assertLessEqual(antonyms.score, 0.75)
        self.assertEqual(compare(self.admin, "open it", "close it", text.SIMILARITY_PROFILE_STRICT).antonym_a, "")
        self.assertAlmostEqual(compare(self.admin, "twice", "twice").score, 1, places=5)
        self.assertEqual(health(self.admin), SERVING)

    def test_vectors_have_length_one(self):
        """Vectors in the order of the texts; the cosine of two is that of CompareTexts; a cached text's is the same."""
        texts = ("Where is my order?", "", "\U0001F600", "Has my parcel been sent?")
        reply = embed(self.admin, *texts)
        self.assertEqual(reply, embed(self.admin, *texts))
        vectors = [vector.values for vector in reply.vectors]
        self.assertEqual([len(vector) for vector in vectors], [1024] * 4)
        lengths = [math.hypot(*vector) for vector in vectors]
        self.assertAlmostEqual(lengths[0], 1, places=5)
        self.assertEqual(lengths[1], 0)
        cosine = sum(a * b for a, b in zip(vectors[0], vectors[3]))
        self.assertAlmostEqual(cosine, compare(self.admin, texts[0], texts[3]).cosine, places=5)

    def test_texts_are_counted(self):
        """A text is computed once and then found in the cache, according to the server's counters."""
        def counts():
            counters = self.server.counters(self.admin)
            return counters["embedded_computed_total"], counters["embedded_cached_total"]
        before = counts()
        for _ in range(3):
            embed(self.admin, "a text that only this test counts")
        self.assertEqual([after - earlier for earlier, after in zip(before, counts())], [1, 2])

    def test_limits_are_checked(self):
        for texts in ((), ["x"] * 65, ["x" * 16385]):
            with self.assertRaises(grpc.RpcError) as caught:
                embed(self.admin, *texts)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        viewer = self.server.client(self.admin.create_token(roles.ROLE_VIEWER).secret)
        self.addCleanup(viewer.close)
        with self.assertRaises(grpc.RpcError) as caught:
            compare(viewer, "a", "b")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.PERMISSION_DENIED)

    def test_command_line_compares_and_embeds(self):
        _, said = self.run_cli("text", "compare", "open the door", "close the door", "--profile", "query")
        self.assertIn("limited, since 'open' and 'close' are opposites", said)
        out, _ = self.run_cli("text", "compare", "Where is my order?", "Where is my order?", "--profile", "query")
        self.assertRegex(out, r"score +(1\.0|0\.9999\d*)\ncosine +(1\.0|0\.9999\d*)\n")
        out, said = self.run_cli("text", "embed", "Where is my order?")
        self.assertEqual(len(out.splitlines()), 1024)
        self.assertIn(embed(self.admin, "x").embedder_id, said)

    def test_other_files_leave_ngrams(self):
        """With no model file, a missing one, or an invalid one, the server compares by n-grams and reports it."""
        model_id = embed(self.admin, "x").embedder_id
        with tempfile.NamedTemporaryFile() as wrong:
            wrong.write(b"this is not a model" * 100)
            wrong.flush()
            for arguments, words in (((), "no model"), (("--model", "/nowhere/m"), "cannot map the model"),
                                     (("--model", wrong.name), "is not a model of this version")):
                with self.subTest(words):
                    self.check_ngrams(arguments, words, model_id)

    def check_ngrams(self, arguments, words, model_id):
        server = Server(arguments=arguments).start()
        self.addCleanup(server.close)
        client = server.client()
        self.assertIn(words, server.read_log())
        self.assertEqual(health(client), NOT_SERVING)
        reply = embed(client, "x")
        self.assertNotEqual(reply.embedder_id, model_id)
        self.assertEqual(len(reply.vectors[0].values), 512)
        self.assertGreater(compare(client, "reset my password", "reset the password").score,
                           compare(client, "reset my password", "trains to Oslo").score)
        client.close()
        self.assertEqual(server.stop(), 0)

    def test_model_program_checks_its_input(self):
        """Another file than the package is refused, and no file is left."""
        folder = tempfile.mkdtemp()
        program = os.path.join(os.environ["ERRATA_BIN"], "errata-mkmodel")
        target = os.path.join(folder, "x.model")
        ended = subprocess.run([program, MODEL, target], capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("SHA-512", ended.stderr)
        self.assertEqual(os.listdir(folder), [])
        os.rmdir(folder)

    def test_model_program_checks_words_and_antonyms(self):
        """Other files than WordNet's, and another package than that of the word vectors, are refused, and no file is left."""
        program = os.path.join(os.environ["ERRATA_BIN"], "errata-mkmodel")
        package, = glob.glob(os.path.join(os.path.dirname(MODEL), "energetic-ai-*.tgz"))
        with tempfile.TemporaryDirectory() as folder:
            target = os.path.join(folder, "x.model")

            def refused(*options):
                ended = subprocess.run([program, *options, package, target], capture_output=True, text=True, check=False)
                self.assertEqual(ended.returncode, 1)
                self.assertFalse(os.path.exists(target))
                return ended.stderr
            self.assertIn("data.adj: No such file", refused("--antonyms", folder))
            for name in ("adj", "adv", "noun", "verb"):
                with open(os.path.join(folder, "data." + name), "w", encoding="ascii") as file:
                    file.write("00000000 00 a 01 high 0 000 | \n")
            self.assertIn("data files of WordNet: SHA-256 is", refused("--antonyms", folder))
            self.assertIn("package: SHA-512 is", refused("--words", package))


if __name__ == "__main__":
    main()
