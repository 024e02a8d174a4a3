// grpc-js and proto-loader against erratad: every kind of method, deadlines, cancellation, gzip, error
// details, binary metadata, large messages, and many calls at once.
//
// node client.js ADDRESS TOKEN_FILE PROTO_FOLDER PDF. Each check is a function; the last line counts them.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const [address, tokenFile, protoFolder, pdfFile] = process.argv.slice(2);
const token = fs.readFileSync(tokenFile, 'ascii').trim();
const files = ['admin_service', 'event_service', 'feedback_service', 'layout_service',
  'prompt_service']
  .map((name) => `errata/v1/${name}.proto`)
  .concat(['grpc/health/v1/health.proto', 'google/rpc/status.proto',
    'google/rpc/error_details.proto']);
const definition = loader.loadSync(files, {
  includeDirs: [protoFolder, '/usr/include'], keepCase: true, longs: String, enums: String,
  defaults: true, oneofs: true,
});
const packages = grpc.loadPackageDefinition(definition);
const credentials = grpc.credentials.createInsecure();
const options = { 'grpc.enable_http_proxy': 0 };
const LINE = 'FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED';

const make = (Service, more = {}) => new Service(address, credentials, { ...options, ...more });
const events = make(packages.errata.v1.EventService);
const feedback = make(packages.errata.v1.FeedbackService);
const prompts = make(packages.errata.v1.PromptService);
const layouts = make(packages.errata.v1.LayoutService);
const admin = make(packages.errata.v1.AdminService);
const health = make(packages.grpc.health.v1.Health);

function metadata(extra = []) {
  const all = new grpc.Metadata();
  all.set('authorization', `Bearer ${token}`);
  extra.forEach(([key, value]) => all.add(key, value));
  return all;
}

function call(client, method, request, { extra = [], ms = 10000 } = {}) {
  return new Promise((resolve, reject) => {
    client[method](request, metadata(extra), { deadline: Date.now() + ms },
      (error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

async function fails(code, promise) {
  const error = await promise.then(() => null, (e) => e);
  assert.ok(error, 'the call did not fail');
  assert.strictEqual(error.code, code, error.details);
  return error;
}

// A PDF in pieces; a call that may also be cancelled.
function upload(pieces, { ms = 20000 } = {}) {
  let stream;
  const reply = new Promise((resolve, reject) => {
    stream = layouts.IngestDocumentStream(metadata(), { deadline: Date.now() + ms },
      (error, answer) => (error ? reject(error) : resolve(answer)));
  });
  pieces.forEach((piece) => stream.write(piece));
  return { stream, reply };
}

function piecesOf(documentId, content, size) {
  const all = [{ document_id: documentId }];
  for (let at = 0; at < content.length; at += size) {
    all.push({ content: content.subarray(at, at + size) });
  }
  return all;
}

function capture(fields, how) {
  return call(feedback, 'CaptureFeedbackEvent', { event: { event_type: LINE, actor_user_id: 'ada', ...fields } }, how);
}

const checks = {
  async 'too much metadata'() {
    // Its content type follows the metadata, and the frames of the header block are many.
    for (const size of [20000, 50000]) {
      const extra = [0, 1, 2, 3].map((i) => [`x-large-${i}`, 'v'.repeat(size / 4)]);
      const refused = call(prompts, 'GetExamples', { layout_fingerprint: 'x' }, { extra });
      const error = await fails(grpc.status.RESOURCE_EXHAUSTED, refused);
      assert.match(error.details, /16 KiB/);
    }
    await call(prompts, 'GetExamples', { layout_fingerprint: 'x' });
  },

  async 'unary reads and writes'() {
    const { event } = await capture({ layout_fingerprint: 'js', after_json: '{"qty":12}' });
    const { examples } = await call(prompts, 'GetExamples', { layout_fingerprint: 'js' });
    assert.strictEqual(examples[0].id, event.id);
    assert.strictEqual(examples[0].output, '{"qty":12}');
    const read = await call(feedback, 'GetFeedbackEvent', { id: event.id });
    assert.strictEqual(read.event.event_type, LINE);
    const info = await call(admin, 'GetServerInfo', {});
    assert.strictEqual(info.log_engine, 'LOG_ENGINE_KIND_JOURNAL');
    const print = await call(layouts, 'ComputeFingerprint', { metadata_json: '{}' });
    assert.strictEqual(print.layout_fingerprint.length, 64);
  },

  async 'proto3 optional: absent is not empty'() {
    const { event } = await capture({ after_json: '{"qty":1}' });
    assert.strictEqual(event.document_id ?? null, null);
    assert.strictEqual(event._document_id, undefined);
    const named = await capture({ after_json: '{"qty":1}', document_id: 'd' });
    assert.strictEqual(named.event.document_id, 'd');
  },

  async 'a stream of events, and its cancellation'() {
    const stream = events.WatchEvents({ from_seq: 1 }, metadata());
    const seqs = [];
    const error = await new Promise((resolve) => {
      stream.on('data', ({ event }) => {
        seqs.push(Number(event.seq));
        if (seqs.length === 3) {
          stream.cancel();
        }
      });
      stream.on('error', resolve);
    });
    assert.deepStrictEqual(seqs.slice(0, 3), [1, 2, 3]);
    assert.strictEqual(error.code, grpc.status.CANCELLED);
  },

  async 'a deadline ends a stream'() {
    const stream = events.WatchEvents({}, metadata(), { deadline: Date.now() + 300 });
    const error = await new Promise((resolve) => {
      stream.on('data', () => {});
      stream.on('error', resolve);
    });
    assert.strictEqual(error.code, grpc.status.DEADLINE_EXCEEDED);
  },

  async 'gzip both ways'() {
    const zipped = make(packages.errata.v1.FeedbackService,
      { 'grpc.default_compression_algorithm': 2 });
    const note = 'abc '.repeat(2000);
    const { event } = await call(zipped, 'CaptureFeedbackEvent', {
      event: { event_type: LINE, layout_fingerprint: 'js-gzip', after_json: JSON.stringify({ note }) },
    });
    const read = await call(zipped, 'GetFeedbackEvent', { id: event.id });
    assert.strictEqual(JSON.parse(read.event.after_json).note, note);
    zipped.close();
  },

  async 'error details name every bad field'() {
    const error = await fails(grpc.status.INVALID_ARGUMENT,
      call(prompts, 'GetExamples', { layout_fingerprint: 'x'.repeat(129), max_examples: 99 }));
    const bytes = error.metadata.get('grpc-status-details-bin')[0];
    assert.ok(Buffer.isBuffer(bytes) && bytes.length > 20);
    for (const field of ['layout_fingerprint', 'max_examples', 'google.rpc.BadRequest']) {
      assert.ok(bytes.includes(field), `${field} is not in the details`);
    }
  },

  async 'codes: no token, unknown id, unknown method'() {
    const bare = await new Promise((resolve) => {
      prompts.GetExamples({ layout_fingerprint: 'x' }, resolve);
    });
    assert.strictEqual(bare.code, grpc.status.UNAUTHENTICATED);
    await fails(grpc.status.NOT_FOUND, call(feedback, 'GetFeedbackEvent',
      { id: '00000000-0000-7000-8000-000000000000' }));
    const unknown = await new Promise((resolve) => {
      feedback.makeUnaryRequest('/errata.v1.FeedbackService/Nothing', (x) => x, (x) => x,
        Buffer.alloc(0), metadata(), resolve);
    });
    assert.strictEqual(unknown.code, grpc.status.UNIMPLEMENTED);
  },

  async 'binary metadata, and a repeat under its key'() {
    const extra = [['trace-bin', Buffer.from([...Array(256).keys()])], ['idempotency-key', 'js-1']];
    const first = await capture({ after_json: '{"qty":1}' }, { extra });
    const again = await capture({ after_json: '{"qty":1}' }, { extra });
    assert.strictEqual(again.event.id, first.event.id);
  },

  async 'messages of four mebibytes'() {
    const note = 'x'.repeat(4 << 20);
    const { event } = await capture({
      before_json: JSON.stringify({ qty: 1, note }), after_json: JSON.stringify({ qty: 2, note }),
    });
    assert.strictEqual(event.reduced, true);
  },

  async 'five hundred calls at once'() {
    const replies = await Promise.all(Array.from({ length: 500 }, (_, i) => (i % 5
      ? call(prompts, 'GetExamples', { layout_fingerprint: 'js' }, { ms: 30000 })
      : capture({ layout_fingerprint: 'js', after_json: `{"qty":${i}}` }, { ms: 30000 }))));
    assert.ok(replies.every((reply, i) => (i % 5 ? reply.examples.length > 0 : reply.event.id)));
  },

  async 'a slow reader loses nothing'() {
    const stream = events.WatchEvents({ from_seq: 1 }, metadata());
    const seqs = [];
    for await (const { event } of stream) {
      seqs.push(Number(event.seq));
      if (seqs.length % 50 === 0) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if (seqs.length === 100) {
        break;
      }
    }
    stream.on('error', () => {});
    stream.cancel();
    assert.deepStrictEqual(seqs, Array.from({ length: 100 }, (_, i) => i + 1));
  },

  async 'a client stream'() {
    const content = fs.readFileSync(pdfFile);
    const { stream, reply } = upload(piecesOf('js', content, 1000));
    stream.end();
    const { document, profile } = await reply;
    assert.strictEqual(document.size_bytes, String(content.length));
    assert.strictEqual(document.page_count, 1);
    assert.strictEqual(document.layout_fingerprint.length, 64);
    assert.strictEqual(profile.seen_count, '1');
    const read = await call(layouts, 'GetDocument', { document_id: 'js' });
    assert.deepStrictEqual(read.document, document);
    const again = await call(layouts, 'IngestDocument', { document_id: 'js', content });
    assert.deepStrictEqual(again.document, document);
  },

  async 'a client stream of megabytes, refused by what it is'() {
    const { stream, reply } = upload(piecesOf('js-zeros', Buffer.alloc(9 << 20), 1 << 17));
    stream.end();
    const error = await fails(grpc.status.INVALID_ARGUMENT, reply);
    assert.match(error.details, /^not_a_pdf: /);
  },

  async 'a client stream that is refused, cancelled or late'() {
    const nameless = upload([{ content: Buffer.from('x') }]);
    nameless.stream.on('error', () => {});
    await fails(grpc.status.INVALID_ARGUMENT, nameless.reply);
    const cancelled = upload([{ document_id: 'js-cancelled', content: Buffer.from('%PDF-') }]);
    setTimeout(() => cancelled.stream.cancel(), 100);
    await fails(grpc.status.CANCELLED, cancelled.reply);
    const late = upload([{ document_id: 'js-late' }], { ms: 300 });
    await fails(grpc.status.DEADLINE_EXCEEDED, late.reply);
    await fails(grpc.status.NOT_FOUND, call(layouts, 'GetDocument', { document_id: 'js-late' }));
  },

  async 'health'() {
    const reply = await call(health, 'Check', { service: '' });
    assert.strictEqual(reply.status, 'SERVING');
    await fails(grpc.status.NOT_FOUND, call(health, 'Check', { service: 'no.such' }));
  },
};

async function main() {
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log(`ok      ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}: ${error.stack}`);
    }
  }
  console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

main();
