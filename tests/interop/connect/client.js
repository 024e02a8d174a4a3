// The stock clients of Connect and gRPC-Web against erratad: each of their transports over each version
// of HTTP, in proto and JSON: unary calls, streams, errors with details, deadlines, cancellation, GET.
//
// node client.js ADDRESS TOKEN_FILE DESCRIPTOR_SET PDF. Each check is a function; the last line counts
// them.
import assert from 'node:assert';
import fs from 'node:fs';
import { createFileRegistry, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import * as node from '@connectrpc/connect-node';
import * as web from '@connectrpc/connect-web';

const [address, tokenFile, descriptors, pdfFile] = process.argv.slice(2);
const token = fs.readFileSync(tokenFile, 'ascii').trim();
const pdf = fs.readFileSync(pdfFile);
const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, fs.readFileSync(descriptors)));
const service = (name) => files.getService(name);
const headers = { authorization: `Bearer ${token}` };
const baseUrl = `http://${address}`;
const FINGERPRINT = 'c'.repeat(64);
const LINE = files.getEnum('errata.v1.FeedbackEventType').values.find(
  (value) => value.name === 'FEEDBACK_EVENT_TYPE_EXTRACTION_LINE_CORRECTED').number;

const transports = [];
for (const useBinaryFormat of [true, false]) {
  const form = useBinaryFormat ? 'proto' : 'json';
  for (const httpVersion of ['1.1', '2']) {
    const options = { baseUrl, httpVersion, useBinaryFormat };
    transports.push([`connect-node Connect ${form} HTTP/${httpVersion}`, node.createConnectTransport(options),
      { uploads: true, both: httpVersion === '2' }]);
    transports.push([`connect-node gRPC-Web ${form} HTTP/${httpVersion}`, node.createGrpcWebTransport(options),
      { uploads: true, both: httpVersion === '2' }]);
  }
  transports.push([`connect-web Connect ${form}`, web.createConnectTransport({ baseUrl, useBinaryFormat }), {}]);
  transports.push([`connect-web gRPC-Web ${form}`, web.createGrpcWebTransport({ baseUrl, useBinaryFormat }), {}]);
}
transports.push(['connect-node gRPC proto HTTP/2', node.createGrpcTransport({ baseUrl, httpVersion: '2' }),
  { uploads: true, both: true }]);
transports.push(['connect-node Connect json GET', node.createConnectTransport(
  { baseUrl, httpVersion: '1.1', useBinaryFormat: false, useHttpGet: true }), {}]);
transports.push(['connect-node Connect proto gzip', node.createConnectTransport(
  { baseUrl, httpVersion: '2', sendCompression: node.compressionGzip, compressMinBytes: 0 }), {}]);
transports.push(['connect-node gRPC-Web proto gzip', node.createGrpcWebTransport(
  { baseUrl, httpVersion: '1.1', sendCompression: node.compressionGzip, compressMinBytes: 0 }), {}]);

async function fails(code, promise) {
  const error = await promise.then(() => null, (e) => ConnectError.from(e));
  assert.ok(error, 'the call did not fail');
  assert.strictEqual(Code[error.code], Code[code], error.message);
  return error;
}

async function all(stream) {
  const messages = [];
  for await (const message of stream) {
    messages.push(message);
  }
  return messages;
}

// A machine that is busy with other tests may refuse a document, and then reports it.
async function whenThereIsTime(call) {
  for (let i = 0; i < 5; i += 1) {
    try {
      return await call();
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unavailable) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  return call();
}

const checks = {
  async unary(transport) {
    const health = createClient(service('grpc.health.v1.Health'), transport);
    assert.strictEqual((await health.check({})).status, 1);
    const feedback = createClient(service('errata.v1.FeedbackService'), transport);
    const prompts = createClient(service('errata.v1.PromptService'), transport);
    const event = { eventType: LINE, annotatorKind: 1, documentId: 'ü'.repeat(20),
      layoutFingerprint: FINGERPRINT, sourceSnippet: '9 boxes of 10',
      beforeJson: '{"qty": 90}', afterJson: '{"qty": 9}' };
    const key = { ...headers, 'idempotency-key': String(Math.random()) };
    const first = await feedback.captureFeedbackEvent({ event }, { headers: key });
    const again = await feedback.captureFeedbackEvent({ event }, { headers: key });
    assert.deepStrictEqual(again, first);
    assert.strictEqual(first.event.documentId, event.documentId);
    const reply = await prompts.getExamples({ layoutFingerprint: FINGERPRINT }, { headers });
    assert.ok(reply.examples.length > 0);
  },
  async errors(transport) {
    const health = createClient(service('grpc.health.v1.Health'), transport);
    const events = createClient(service('errata.v1.EventService'), transport);
    await fails(Code.NotFound, health.check({ service: 'nothing' }));
    const denied = await fails(Code.Unauthenticated, events.getEvent({}));
    const [info] = denied.findDetails(files.getMessage('google.rpc.ErrorInfo'));
    assert.strictEqual(info.reason, 'UNAUTHENTICATED');
    const invalid = await fails(Code.InvalidArgument, events.getEvent({ key: { case: 'id', value: 'x' } }, { headers }));
    const [request] = invalid.findDetails(files.getMessage('google.rpc.BadRequest'));
    assert.ok(request.fieldViolations.length > 0);
  },
  async streams(transport) {
    const events = createClient(service('errata.v1.EventService'), transport);
    const stop = new AbortController();
    const seen = [];
    await fails(Code.Canceled, (async () => {
      for await (const { event } of events.watchEvents({ fromSeq: 1n }, { headers, signal: stop.signal })) {
        seen.push(event.seq);
        if (seen.length === 3) {
          stop.abort();
        }
      }
    })());
    assert.deepStrictEqual(seen.slice(0, 3), [1n, 2n, 3n]); // more may have arrived at once
    await fails(Code.Unauthenticated, all(events.watchEvents({})));
    await fails(Code.DeadlineExceeded, all(events.watchEvents({ fromSeq: 1n }, { headers, timeoutMs: 300 })));
  },
  async uploads(transport, { uploads }) {
    if (!uploads) {
      return;
    }
    const layouts = createClient(service('errata.v1.LayoutService'), transport);
    async function* pieces() {
      yield { documentId: 'a document' };
      for (let at = 0; at < pdf.length; at += 4096) {
        yield { content: pdf.subarray(at, at + 4096) };
      }
    }
    const reply = await whenThereIsTime(() => layouts.ingestDocumentStream(pieces(), { headers }));
    assert.ok(reply.document.pageCount > 0);
    await fails(Code.Unauthenticated, layouts.ingestDocumentStream(pieces()));
  },
  async both(transport, { both }) {
    if (!both) {
      return;
    }
    const reflection = createClient(service('grpc.reflection.v1.ServerReflection'), transport);
    async function* requests() {
      yield { messageRequest: { case: 'listServices', value: '' } };
      yield { messageRequest: { case: 'fileContainingSymbol', value: 'errata.v1.Event' } };
    }
    const replies = await all(reflection.serverReflectionInfo(requests()));
    assert.strictEqual(replies.length, 2);
  },
  async many(transport) {
    const health = createClient(service('grpc.health.v1.Health'), transport);
    const replies = await Promise.all(Array.from({ length: 50 }, () => health.check({})));
    assert.ok(replies.every((reply) => reply.status === 1));
  },
};

let failed = 0;
let passed = 0;
for (const [name, transport, options] of transports) {
  for (const [check, run] of Object.entries(checks)) {
    try {
      await run(transport, options);
      passed += 1;
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${name}: ${check}: ${error.stack}`);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
