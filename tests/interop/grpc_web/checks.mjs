// Runs in the page: Google's grpc-web against erratad of another origin, in both of its formats. Methods are made from the
// descriptors at run time, as its generated code makes them: that needs a plugin of protoc that no package here has.
import { base64Decode } from '@bufbuild/protobuf/wire';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { GrpcWebClientBase, MethodDescriptor, StatusCode } from 'grpc-web';

const FINGERPRINT = 'd'.repeat(64);
const STREAMED = 3;
const AT_ONCE = 30;
const DEADLINE_MS = 300;
const LIMIT_MS = 20000; // of one check

function check(holds, message) {
  if (!holds) throw new Error(message);
}

// Calls methods by their names; `format` is grpc-web's.
class Client {
  constructor({ url, files, format }) {
    this.url = url;
    this.files = files;
    this.base = new GrpcWebClientBase({ format });
  }

  describe(path, kind) {
    const [service, name] = path.split('/');
    const method = this.files.getService(service).methods.find((one) => one.name === name);
    return { method, stub: new MethodDescriptor(`/${path}`, kind, Object, Object,
      (message) => toBinary(method.input, message), (bytes) => fromBinary(method.output, bytes)) };
  }

  call(path, request, metadata = {}) {
    const { method, stub } = this.describe(path, 'unary');
    return this.base.unaryCall(`${this.url}/${path}`, create(method.input, request), metadata, stub);
  }

  stream(path, request, metadata = {}) {
    const { method, stub } = this.describe(path, 'server_streaming');
    return this.base.serverStreaming(`${this.url}/${path}`, create(method.input, request), metadata, stub);
  }
}

async function fails(code, promise) {
  const error = await promise.then(() => null, (reason) => reason);
  check(error !== null, 'the call did not fail');
  check(error.code === StatusCode[code], `code ${error.code} instead of ${code}: ${error.message}`);
  return error;
}

function within(promise) {
  return Promise.race([promise, new Promise((_, reject) => { setTimeout(() => reject(new Error('it hangs')), LIMIT_MS); })]);
}

// What a stream ends with; `on` gets each message.
function ended(stream, on) {
  return new Promise((resolve, reject) => {
    stream.on('data', on);
    stream.on('error', reject);
    stream.on('end', resolve);
  });
}

function details(files, error, name) {
  const status = fromBinary(files.getMessage('google.rpc.Status'), base64Decode(error.metadata['grpc-status-details-bin']));
  const found = status.details.find((any) => any.typeUrl.endsWith(`/${name}`));
  check(found, `the error has no ${name}`);
  return fromBinary(files.getMessage(name), found.value);
}

const checks = {
  async unary(client, { headers, files }) {
    check((await client.call('grpc.health.v1.Health/Check', {})).status === 1, 'not serving');
    const line = files.getEnum('errata.v1.FeedbackEventType').values.find(
      (value) => value.name === 'FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED').number;
    const event = { eventType: line, annotatorKind: 1, documentId: 'ü'.repeat(20), layoutFingerprint: FINGERPRINT,
      sourceSnippet: '9 boxes of 10', beforeJson: '{"qty": 90}', afterJson: '{"qty": 9}' };
    const captured = await client.call('errata.v1.FeedbackService/CaptureFeedbackEvent', { event }, headers);
    check(captured.event.documentId === event.documentId, 'another document');
    const reply = await client.call('errata.v1.PromptService/GetExamples', { layoutFingerprint: FINGERPRINT }, headers);
    check(reply.examples.length > 0, 'no examples');
  },
  async errors(client, { headers, files }) {
    await fails('NOT_FOUND', client.call('grpc.health.v1.Health/Check', { service: 'nothing' }));
    const denied = await fails('UNAUTHENTICATED', client.call('errata.v1.EventService/GetEvent', {}));
    check(details(files, denied, 'google.rpc.ErrorInfo').reason === 'UNAUTHENTICATED', 'another reason');
    const invalid = await fails('INVALID_ARGUMENT', client.call('errata.v1.EventService/GetEvent',
      { key: { case: 'id', value: '100% ü' } }, headers));
    check(details(files, invalid, 'google.rpc.BadRequest').fieldViolations.length > 0, 'no field');
  },
  async streams(client, { headers }) {
    const numbers = [];
    const watch = client.stream('errata.v1.EventService/WatchEvents', { fromSeq: 1n }, headers);
    await new Promise((resolve, reject) => {
      watch.on('error', reject);
      watch.on('data', ({ event }) => numbers.push(event.seq) >= STREAMED && resolve());
    });
    watch.cancel();
    check(numbers.every((seq, i) => seq === BigInt(i + 1)), `events ${numbers}`);
    await fails('UNAUTHENTICATED', ended(client.stream('errata.v1.EventService/WatchEvents', {}), () => {}));
    let pieces = 0;
    await ended(client.stream('errata.v1.VerdictService/ExportLearnedRules', {}, headers), () => { pieces += 1; });
    check(pieces === 1, `${pieces} pieces`);
  },
  async deadline(client, { headers }) {
    const deadline = String(Date.now() + DEADLINE_MS);
    const watch = client.stream('errata.v1.EventService/WatchEvents', { fromSeq: 1n }, { ...headers, deadline });
    await fails('DEADLINE_EXCEEDED', ended(watch, () => {}));
  },
  async many(client) {
    const calls = Array.from({ length: AT_ONCE }, () => client.call('grpc.health.v1.Health/Check', {}));
    check((await Promise.all(calls)).every((reply) => reply.status === 1), 'not serving');
  },
};

// Returns a line for each check that failed, and how many passed.
export async function run({ url, token, descriptors }) {
  const bytes = new Uint8Array(await (await fetch(descriptors)).arrayBuffer());
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  const headers = { authorization: `Bearer ${token}` };
  const result = { passed: 0, failed: [] };
  for (const format of ['text', 'binary']) {
    const client = new Client({ url, files, format });
    for (const [name, test] of Object.entries(checks)) {
      if (name === 'streams' && format === 'binary') continue; // it streams text only
      try {
        await within(test(client, { headers, files }));
        result.passed += 1;
      } catch (error) {
        result.failed.push(`${format}: ${name}: ${error.message || error}`);
      }
    }
  }
  return result;
}

// Returns whether a call from an origin that the server does not allow is refused by the browser.
export async function isRefused({ url, descriptors }) {
  const bytes = new Uint8Array(await (await fetch(descriptors)).arrayBuffer());
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
  const client = new Client({ url, files, format: 'text' });
  return client.call('grpc.health.v1.Health/Check', {}).then(() => false, () => true);
}
