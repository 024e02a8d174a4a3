"""A real erratad in a folder of its own, and a stock gRPC client that talks to it.

For the end-to-end and interop tests and the benchmarks. The client is Debian's grpcio with stubs that
the build generates by grpc_python_plugin: no code of the server is between a test and the wire. The
environment names the programs and the stubs (tests/support/tests.cmake): ERRATA_BIN, ERRATA_STUBS.
"""
import contextlib
import functools
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import weakref

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
import grpc  # noqa: E402

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BIN = os.environ.get("ERRATA_BIN", os.path.join(ROOT, "build", "release", "bin"))
STUBS = os.environ.get("ERRATA_STUBS", os.path.join(ROOT, "build", "release", "gen", "python"))
if not os.path.isdir(os.path.join(STUBS, "errata")):
    sys.exit(f"no Python stubs in {STUBS}: build the target python_stubs")
sys.path.insert(0, STUBS)
grpc.__path__.append(os.path.join(STUBS, "grpc"))  # grpc.health.v1 is next to the library

from errata.v1 import admin_service_pb2 as admin  # noqa: E402
from errata.v1 import admin_service_pb2_grpc as admin_grpc  # noqa: E402
from errata.v1 import analytics_service_pb2 as analytics  # noqa: E402
from errata.v1 import annotator_kind_pb2 as annotators  # noqa: E402
from errata.v1 import analytics_service_pb2_grpc as analytics_grpc  # noqa: E402
from errata.v1 import content_retention_pb2 as content_retention  # noqa: E402
from errata.v1 import event_pb2 as event_log  # noqa: E402
from errata.v1 import event_service_pb2 as event_service  # noqa: E402
from errata.v1 import event_service_pb2_grpc as event_service_grpc  # noqa: E402
from errata.v1 import extraction_pb2 as extraction  # noqa: E402
from errata.v1 import extraction_service_pb2 as extraction_service  # noqa: E402
from errata.v1 import extraction_service_pb2_grpc as extraction_service_grpc  # noqa: E402
from errata.v1 import feedback_event_pb2 as feedback  # noqa: E402
from errata.v1 import feedback_service_pb2 as feedback_service  # noqa: E402
from errata.v1 import feedback_service_pb2_grpc as feedback_service_grpc  # noqa: E402
from errata.v1 import decision_pb2 as decision  # noqa: E402
from errata.v1 import decision_service_pb2 as decision_service  # noqa: E402
from errata.v1 import decision_service_pb2_grpc as decision_service_grpc  # noqa: E402
from errata.v1 import guideline_pb2 as guideline  # noqa: E402
from errata.v1 import guideline_service_pb2 as guideline_service  # noqa: E402
from errata.v1 import guideline_service_pb2_grpc as guideline_service_grpc  # noqa: E402
from errata.v1 import layout_service_pb2 as layout  # noqa: E402
from errata.v1 import layout_service_pb2_grpc as layout_grpc  # noqa: E402
from errata.v1 import learning_service_pb2 as learning  # noqa: E402
from errata.v1 import learning_service_pb2_grpc as learning_grpc  # noqa: E402
from errata.v1 import mapping_service_pb2 as mappings  # noqa: E402
from errata.v1 import mapping_service_pb2_grpc as mappings_grpc  # noqa: E402
from errata.options import options_pb2 as options  # noqa: E402
from errata.payload import payload_pb2 as payload  # noqa: E402
from errata.v1 import organization_pb2 as organization  # noqa: E402
from errata.v1 import organization_transfer_pb2 as organization_transfer  # noqa: E402
from errata.v1 import organization_settings_pb2 as organization_settings  # noqa: E402
from errata.v1 import prompt_service_pb2 as prompt_service  # noqa: E402
from errata.v1 import prompt_service_pb2_grpc as prompt_service_grpc  # noqa: E402
from errata.v1 import prompt_template_pb2 as prompt_template  # noqa: E402
from errata.v1 import quota_pb2 as quota  # noqa: E402
from errata.v1 import review_pb2 as review  # noqa: E402
from errata.v1 import review_service_pb2 as review_service  # noqa: E402
from errata.v1 import review_service_pb2_grpc as review_service_grpc  # noqa: E402
from errata.v1 import review_triggers_pb2 as review_triggers  # noqa: E402
from errata.v1 import reviewed_run_pb2 as reviewed_run  # noqa: E402
from errata.v1 import review_prompts_pb2 as review_prompts  # noqa: E402
from errata.v1 import agent_card_pb2 as agent_card  # noqa: E402
from errata.v1 import fragment_set_pb2 as fragment_set  # noqa: E402
from errata.v1 import run_item_pb2 as run_item  # noqa: E402
from errata.v1 import role_pb2 as roles  # noqa: E402
from errata.v1 import score_stacking_pb2 as score_stacking  # noqa: E402
from errata.v1 import sku_mapping_pb2 as sku_mapping  # noqa: E402
from errata.v1 import artifact_pb2 as artifact  # noqa: E402
from errata.v1 import learned_rule_pb2 as learned_rule  # noqa: E402
from errata.v1 import measured_weight_pb2 as measured_weight  # noqa: E402
from errata.v1 import turn_pb2 as turn  # noqa: E402
from errata.v1 import turn_feedback_pb2 as turn_feedback  # noqa: E402
from errata.v1 import turn_service_pb2 as turn_service  # noqa: E402
from errata.v1 import turn_service_pb2_grpc as turn_service_grpc  # noqa: E402
from errata.v1 import verdict_service_pb2 as verdict_service  # noqa: E402
from errata.v1 import verdict_service_pb2_grpc as verdict_service_grpc  # noqa: E402
from errata.v1 import verdict_submission_pb2 as verdicts  # noqa: E402
from google.api import field_behavior_pb2  # noqa: E402
from google.rpc import error_details_pb2, status_pb2  # noqa: E402
from grpc.health.v1 import health_pb2, health_pb2_grpc  # noqa: E402

WORKER = "errata-pdf-worker"
ENGINE = os.environ.get("ERRATA_LOG", "journal")  # the log engine of servers that do not name one
# The names in the folder of a running server.
DATA_FILES = {"db", "admin.token", "address", "errata.pid", "reserve",
              *(["journal"] if ENGINE == "journal" else [])}
# The same of a store that was made when there was no journal: it keeps its engine.
DATA_FILES_OF_OLD_STORE = DATA_FILES - (set() if "ERRATA_LOG" in os.environ else {"journal"})
START_SECONDS = 20
FAULT_ENTRIES_MAX = 100  # of a refusal (store/base/fault.h)
STOP_SECONDS = 20
CHANNEL_OPTIONS = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),  # a connection of its own
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", 64 << 20),
    ("grpc.min_reconnect_backoff_ms", 20_000),  # an attempt's time limit: machines are busy
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
)


def is_sanitized():
    """Built with a sanitizer: its PDF worker has no sandbox and no limit of memory, and is slow."""
    with open(os.path.join(BIN, "erratad"), "rb") as f:
        return b"__asan_init" in f.read()


def leave_free(folder, size):
    """Fills a disk, of which the server may take a part meanwhile."""
    with open(os.path.join(folder, "ballast"), "wb") as f:
        for _ in range(100):
            more = shutil.disk_usage(folder).free - size
            if more <= 0:
                return
            with contextlib.suppress(OSError):
                os.posix_fallocate(f.fileno(), os.fstat(f.fileno()).st_size, more)
    raise AssertionError("the disk does not fill")


class Server:
    """A running erratad. If `data` is None, it uses a temporary folder, which close() removes."""

    def __init__(self, data=None, arguments=(), program="erratad", prefix=(), environment=None):
        self.own = data is None
        self.listen = "127.0.0.1:0"  # a test may set the address of the next start
        self.data = data or tempfile.mkdtemp(prefix="errata-test-")
        self.arguments = list(arguments)
        self.program = program if os.sep in program else os.path.join(BIN, program)
        self.prefix = list(prefix)
        self.environment = {**os.environ, **(environment or {})}
        self.process = None
        self.clients = weakref.WeakSet()
        self.log_path = os.path.join(tempfile.gettempdir(), f"errata-test-{os.getpid()}-{id(self)}")

    def start(self):
        """Starts it, and waits until it states where it listens."""
        address_file = os.path.join(self.data, "address")
        if os.path.exists(address_file):
            os.unlink(address_file)
        self.log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            [*self.prefix, self.program, "--data", self.data, "--listen", self.listen,
             *self.arguments], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=self.environment)
        end = time.monotonic() + START_SECONDS
        while not self.read_address(address_file):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"erratad did not start: {self.read_log()[-2000:]}")
            time.sleep(0.01)
        self.address = self.read_address(address_file)
        return self

    @staticmethod
    def read_address(path):
        """Returns the server's address; empty until it is written."""
        try:
            with open(path, encoding="ascii") as f:
                return f.read().strip()
        except FileNotFoundError:
            return ""

    @property
    def admin_token(self):
        with open(os.path.join(self.data, "admin.token"), encoding="ascii") as f:
            return f.read().strip()

    def client(self, token=None, **kwargs):
        """A client with the given token; without one, the first start's admin."""
        client = Client(self.address, self.admin_token if token is None else token, **kwargs)
        self.clients.add(client)
        return client

    def read_log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def rss_kb(self):
        """Memory of its own, without the map of the store."""
        return rss_kb(self.process.pid)

    def worker(self):
        """The process id of the PDF worker's fork server; None while there is none."""
        for pid in children(self.process.pid):
            if process_name(pid).startswith(WORKER[:15]):
                return pid
        return None

    def pdf_health(self):
        """Returns whether documents are measured: a status of grpc.health.v1."""
        with grpc.insecure_channel(self.address, options=CHANNEL_OPTIONS) as channel:
            return health_pb2_grpc.HealthStub(channel).Check(
                health_pb2.HealthCheckRequest(service="errata.pdf"), timeout=5).status

    def wait_for_pdf(self, seconds=START_SECONDS):
        """Waits until documents are measured; the server itself does not wait for that."""
        wait_until(lambda: self.pdf_health() == health_pb2.HealthCheckResponse.SERVING,
                   "the PDF worker to be ready", seconds)
        return self

    def counters(self, client):
        """Name -> value of what GetServerInfo counts."""
        info = client.admin.GetServerInfo(admin.GetServerInfoRequest())
        return {counter.name: counter.value for counter in info.counters}

    def wait_for_day_of_use(self, client):
        """Waits until the day of the client's token is stored, after which the server writes nothing of its own for it."""
        wait_until(lambda: all(token.HasField("last_used_at") for token in
                               client.admin.ListTokens(admin.ListTokensRequest()).tokens), "the day of use", 60)

    def wait_until_stored(self, client):
        """Waits until the data file has every write: with a journal, it follows."""
        wait_until(lambda: self.counters(client)["journal_waiting_commits"] == 0, "the tables", 60)

    def jobs(self):
        """Process ids of the worker's children: a document each."""
        worker = self.worker()
        return children(worker) if worker else []

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds=STOP_SECONDS):
        """Waits for the end; its exit code. Without a call in progress, a channel of Python's grpc does not read
        its connection: it is watched meanwhile, so that it answers the server's GOAWAY, for which the server would
        wait 3 s."""
        clients = [client for client in self.clients if client.is_open]
        for client in clients:
            client.plain.subscribe(_ignore)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise RuntimeError(f"erratad did not end: {self.read_log()[-2000:]}") from None
        finally:
            for client in clients:
                client.plain.unsubscribe(_ignore)

    def stop(self):
        """SIGTERM, and its exit code; None where it does not run."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.terminate()
        code = self.wait()
        self.log.close()
        self.process = None
        return code

    def kill9(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.process = None

    def close(self):
        code = self.stop()
        for client in self.clients:
            client.close()
        if self.own:
            shutil.rmtree(self.data, ignore_errors=True)
        if os.path.exists(self.log_path):
            os.unlink(self.log_path)
        return code

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()


class Client:
    """Stubs of every service over one connection, each call with the token."""

    def __init__(self, address, token=None, compression=None, channel_options=(), credentials=None):
        self.is_open = True
        self.starved = 0  # answers that a document was not measured for lack of CPU time, each of which was repeated
        how = {"options": [*CHANNEL_OPTIONS, *channel_options], "compression": compression}
        self.plain = (grpc.insecure_channel(address, **how) if credentials is None
                      else grpc.secure_channel(address, credentials, **how))
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        self.channel = grpc.intercept_channel(self.plain, _Authorize(self.metadata))
        self.log = event_service_grpc.EventServiceStub(self.channel)
        self.extractions = extraction_service_grpc.ExtractionServiceStub(self.channel)
        self.feedback = feedback_service_grpc.FeedbackServiceStub(self.channel)
        self.layouts = layout_grpc.LayoutServiceStub(self.channel)
        self.admin = admin_grpc.AdminServiceStub(self.channel)
        self.mappings = mappings_grpc.MappingServiceStub(self.channel)
        self.prompts = prompt_service_grpc.PromptServiceStub(self.channel)
        self.analytics = analytics_grpc.AnalyticsServiceStub(self.channel)
        self.learning = learning_grpc.LearningServiceStub(self.channel)
        self.verdicts = verdict_service_grpc.VerdictServiceStub(self.channel)
        self.reviews = review_service_grpc.ReviewServiceStub(self.channel)
        self.decisions = decision_service_grpc.DecisionServiceStub(self.channel)
        self.guidelines = guideline_service_grpc.GuidelineServiceStub(self.channel)
        self.turns = turn_service_grpc.TurnServiceStub(self.channel)
        self.health = health_pb2_grpc.HealthStub(self.channel)

    def raw(self, path, body, timeout=10, metadata=()):
        """A unary call with bytes: (code, message, reply or details)."""
        call = self.plain.unary_unary(path)
        try:
            reply = call(body, timeout=timeout, metadata=[*self.metadata, *metadata])
            return grpc.StatusCode.OK, "", reply
        except grpc.RpcError as e:
            return e.code(), e.details(), _details(e)

    def raw_any(self, path, body, timeout=10):
        """A call of any kind with one request: (code, message, first reply or details)."""
        if is_client_stream(path):
            return self.raw_upload(path, [body], timeout)
        return (self.raw_stream if is_stream(path) else self.raw)(path, body, timeout)

    def raw_upload(self, path, bodies, timeout=10, metadata=()):
        """A client stream with bytes, in the shape of `raw`."""
        call = self.plain.stream_unary(path)
        try:
            reply = call(iter(bodies), timeout=timeout, metadata=[*self.metadata, *metadata])
            return grpc.StatusCode.OK, "", reply
        except grpc.RpcError as e:
            return e.code(), e.details(), _details(e)

    def raw_stream(self, path, body, timeout=10):
        """The first message of a server stream, or its error, in the same shape."""
        call = self.plain.unary_stream(path)(body, timeout=timeout, metadata=self.metadata)
        try:
            return grpc.StatusCode.OK, "", next(call)
        except StopIteration:
            return grpc.StatusCode.OK, "", b""
        except grpc.RpcError as e:
            return e.code(), e.details(), _details(e)
        finally:
            call.cancel()

    def capture(self, **fields):
        """Captures one event, by a person unless `annotator_kind` differs, and answers it as stored."""
        fields.setdefault("annotator_kind", annotators.ANNOTATOR_KIND_HUMAN)
        return self.feedback.CaptureFeedbackEvent(
            feedback_service.CaptureFeedbackEventRequest(event=feedback.FeedbackEvent(**fields))).event

    def examples(self, layout_fingerprint, **fields):
        return self.prompts.GetExamples(
            prompt_service.GetExamplesRequest(layout_fingerprint=layout_fingerprint, **fields))

    def prompt(self, **fields):
        return self.prompts.PreparePrompt(prompt_service.PreparePromptRequest(**fields))

    def submit_verdict(self, **fields):
        """Submits a verdict and returns the whole response."""
        fields.setdefault("original_score", 0.5)
        return self.verdicts.SubmitVerdict(verdict_service.SubmitVerdictRequest(
            submission=verdicts.VerdictSubmission(**fields)))

    def submit_review(self, **fields):
        """Submits a review and returns it as stored."""
        return self.reviews.SubmitReview(review_service.SubmitReviewRequest(review=review.Review(**fields))).review

    def record_extraction(self, **fields):
        """Records an extraction and answers it as stored."""
        return self.extractions.RecordExtraction(extraction_service.RecordExtractionRequest(
            extraction=extraction.Extraction(**fields))).extraction

    def explain(self, **fields):
        return self.learning.ExplainExposure(learning.ExplainExposureRequest(**fields))

    def update_settings(self, **fields):
        return self.admin.UpdateSettings(admin.UpdateSettingsRequest(
            settings=organization_settings.OrganizationSettings(**fields))).settings

    def events(self, **fields):
        """The whole log of the organisation, or what a filter leaves of it, newest first."""
        return self.all_pages(self.log.ListEvents, event_service.ListEventsRequest(
            page_size=1000, **fields), "events")

    @staticmethod
    def all_pages(method, request, name):
        """Every page of a list; `name` is the field that has what is listed."""
        found = []
        while True:
            page = method(request)
            found += getattr(page, name)
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def _when_there_is_time(self, ingest):
        """PDFs are measured when the machine has nothing else to do: beside other tests one may get no
        processor for seconds. The server says so, and the document is sent again, as clients do."""
        until = time.monotonic() + 60
        while True:
            try:
                return ingest()
            except grpc.RpcError as e:
                starved = "lacked CPU time" in (e.details() or "")
                if not (starved or reason_of(e) == "WALL_LIMIT") or time.monotonic() > until:
                    raise
                self.starved += starved
                time.sleep(0.2)

    def ingest(self, document_id, content, password=None, **call):
        """Sends a PDF in one message."""
        request = layout.IngestDocumentRequest(
            document_id=document_id, password=password, content=content)
        return self._when_there_is_time(lambda: self.layouts.IngestDocument(request, **call))

    def ingest_stream(self, document_id, content, password=None, piece_bytes=128 << 10, **call):
        """Sends a PDF in pieces; the first message names it."""
        return self._when_there_is_time(lambda: self.layouts.IngestDocumentStream(
            pieces(document_id, content, password, piece_bytes), **call))

    def document(self, document_id):
        return self.layouts.GetDocument(
            layout.GetDocumentRequest(document_id=document_id)).document

    def profile(self, layout_fingerprint):
        return self.layouts.GetProfile(
            layout.GetProfileRequest(layout_fingerprint=layout_fingerprint)).profile

    def create_token(self, role, user_id=None, org_id="", server=False, expire_us=None):
        """A token of a role; OPERATOR and REVIEWER get a user where none is named."""
        if user_id is None and role in (roles.ROLE_OPERATOR, roles.ROLE_REVIEWER):
            user_id = "user-1"
        token = admin.Token(role=role, server=server, user_id=user_id)
        if expire_us is not None:
            token.expires_at.FromMicroseconds(expire_us)
        return self.admin.CreateToken(admin.CreateTokenRequest(org_id=org_id, token=token))

    def create_org(self, name):
        return self.admin.CreateOrganization(admin.CreateOrganizationRequest(
            organization=organization.Organization(name=name))).organization

    def close(self):
        self.is_open = False
        self.plain.close()


def _ignore(_connectivity):
    """For a channel whose state is watched only so that it reads its connection."""


def pieces(document_id, content, password=None, piece_bytes=128 << 10):
    """The messages of a client stream with a PDF."""
    yield layout.IngestDocumentStreamRequest(document_id=document_id, password=password)
    for start in range(0, len(content), piece_bytes):
        yield layout.IngestDocumentStreamRequest(content=content[start:start + piece_bytes])


class _Authorize(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor,
                 grpc.StreamUnaryClientInterceptor):
    def __init__(self, metadata):
        self.metadata = metadata

    def _with_token(self, details):
        return details._replace(metadata=[*(details.metadata or []), *self.metadata])

    def intercept_unary_unary(self, continuation, client_call_details, request):
        return continuation(self._with_token(client_call_details), request)

    def intercept_unary_stream(self, continuation, client_call_details, request):
        return continuation(self._with_token(client_call_details), request)

    def intercept_stream_unary(self, continuation, client_call_details, request_iterator):
        return continuation(self._with_token(client_call_details), request_iterator)


def _details(error):
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return value
    return b""


def status_of(error):
    """The google.rpc.Status of a failed call."""
    return status_pb2.Status.FromString(_details(error))


def fields_in(details):
    """Field -> description of every BadRequest in an encoded google.rpc.Status."""
    fields = {}
    for detail in status_pb2.Status.FromString(details).details:
        if detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            bad = error_details_pb2.BadRequest()
            detail.Unpack(bad)
            for violation in bad.field_violations:
                fields[violation.field] = violation.description
    return fields


def bad_fields(error):
    return fields_in(_details(error))


def reason_of(error):
    """The reason of a failed call's ErrorInfo; empty where it has none."""
    for detail in status_of(error).details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return info.reason
    return ""


def has_retry_info(error):
    return any(detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR)
               for detail in status_of(error).details)


def wait_until(holds, what, seconds=10, step_seconds=0.02):
    """Waits until `holds` returns a true value, and returns it."""
    end = time.monotonic() + seconds
    while True:
        answer = holds()
        if answer:
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(step_seconds)


def children(pid):
    """Process ids of the children of any of its threads."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as f:
                found += [int(child) for child in f.read().split()]
    except OSError:
        pass  # ended in the meantime
    return found


def process_name(pid):
    """Returns the name in /proc, truncated to 15 characters; empty if there is no such process."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
            return f.read().strip()
    except OSError:
        return ""


def rss_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("RssAnon")).split()[1])


def is_required(field):
    return field_behavior_pb2.REQUIRED in _behaviors(field)


ALL_ROLES = [r for r in roles.Role.values() if r != roles.ROLE_UNSPECIFIED]
# Methods that need a token with the server flag.
NEED_THE_FLAG = ("/CreateOrganization", "/Verify", "/Backup")


def is_output_only(field):
    return field_behavior_pb2.OUTPUT_ONLY in _behaviors(field)


def is_plain_message(field):
    return field.type == field.TYPE_MESSAGE and not field.message_type.full_name.startswith(
        "google.protobuf.")


def one_of_each(message):
    """The fields that can be set together: of a oneof only its first member."""
    taken = set()
    for field in message.fields:
        oneof = field.containing_oneof
        if oneof is not None and len(oneof.fields) > 1:
            if oneof.name in taken:
                continue
            taken.add(oneof.name)
        yield field


def _behaviors(field):
    return field.GetOptions().Extensions[field_behavior_pb2.field_behavior]


def internal(message):
    """Returns the private message in the field `internal` of a payload."""
    return getattr(payload, type(message).DESCRIPTOR.name + "Internal").FromString(message.internal)


def service_modules():
    """The stubs of every service of the contract, including those that no test names."""
    for name in sorted(os.listdir(os.path.join(STUBS, "errata", "v1"))):
        if name.endswith("_service_pb2.py"):
            yield importlib.import_module(f"errata.v1.{name[:-3]}")


def methods():
    """Every method of our services: (path, descriptor, rules)."""
    for module in service_modules():
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                rules = method.GetOptions().Extensions[options.method]
                yield f"/{service.full_name}/{method.name}", method, rules


def _shape(path):
    return next((method for known, method, _ in methods() if known == path), None)


@functools.lru_cache(maxsize=None)
def is_stream(path):
    """The method answers with a stream."""
    method = _shape(path)
    return method is not None and method.server_streaming


@functools.lru_cache(maxsize=None)
def is_client_stream(path):
    """The method is asked with a stream."""
    method = _shape(path)
    return method is not None and method.client_streaming


class ServerCase(unittest.TestCase):
    """Tests that share one server; it must end by itself, with 0, and without a word of alarm."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(arguments=cls.arguments).start()
        if os.path.exists(os.path.join(BIN, WORKER)):
            cls.server.wait_for_pdf()
        cls.admin = cls.server.client()

    @classmethod
    def tearDownClass(cls):
        cls.admin.close()
        code = cls.server.stop()
        log = cls.server.read_log()
        cls.server.close()
        alarm_at = max(log.find("==ERROR"), 0)
        assert code == 0, f"erratad ended with {code}: {log[alarm_at:][:6000]}"
        for alarm in ("unexpected", "Sanitizer", "runtime error"):
            assert alarm not in log, f"the log has '{alarm}': {log[-4000:]}"

    def assert_code(self, code, call, *arguments, **kwargs):
        """The call fails with this code; the error."""
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, **kwargs)
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        return caught.exception


def main():
    """Runs the tests of the calling file, and ends the process at once: Python's grpc can hang an interpreter that ends
    while a channel's thread still runs."""
    program = unittest.main(verbosity=2, exit=False)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if program.result.wasSuccessful() else 1)
