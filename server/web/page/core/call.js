// Unary calls by Connect JSON, and server streams if the server has them. A call is repeated if the
// server cannot be reached: a read unchanged, a write with its idempotency key, so that it has only
// one effect. If a token is refused, the user enters another one, and the call continues with it.

import { currentToken, renewToken } from './session.js';
import { t } from './words.js';

const PACKAGE = '/errata.v1.'; // of methods that are not named by their whole path
const WAITS_MS = [250, 500, 1000, 2000, 3000, 4000, 5000, 5000, 5000, 5000];
const READ_TIMEOUT_MS = 30000;
const FILL_MS = 2000;

export class CallError extends Error {
  constructor(code, message, fields = []) {
    super(message || code);
    this.code = code;
    this.fields = fields; // [{field, description}] of an invalid request
  }
}

const listeners = new Set();
let unreachable = 0;

// Calls `listener` with whether the server is reachable, on every change.
export function onReachable(listener) {
  listeners.add(listener);
}

function note(change) {
  const before = unreachable > 0;
  unreachable += change;
  if (before !== unreachable > 0) listeners.forEach((listener) => listener(unreachable === 0));
}

function varint(bytes, at) {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at.next];
    at.next += 1;
    value += (byte & 127) * 2 ** shift;
    if (!(byte & 128)) break;
  }
  return value;
}

// The texts and messages of a message by field number; other types end the reading.
function lengthFields(bytes) {
  const at = { next: 0 };
  const found = [];
  while (at.next < bytes.length) {
    const tag = varint(bytes, at);
    if ((tag & 7) !== 2) break;
    const size = varint(bytes, at);
    found.push([tag >> 3, bytes.subarray(at.next, at.next + size)]);
    at.next += size;
  }
  return found;
}

function badFields(details) {
  const bad = (details || []).find((detail) => detail.type === 'google.rpc.BadRequest');
  if (!bad) return [];
  const bytes = Uint8Array.from(atob(bad.value), (char) => char.charCodeAt(0));
  const text = new TextDecoder();
  return lengthFields(bytes).filter(([number]) => number === 1).map(([, violation]) => {
    const parts = Object.fromEntries(lengthFields(violation).map(([number, value]) => [number, text.decode(value)]));
    return { field: parts[1] || '', description: parts[2] || '' };
  });
}

function errorOf(status, body) {
  if (body && body.code) return new CallError(body.code, body.message, badFields(body.details));
  return new CallError(status === 404 ? 'unimplemented' : 'unknown', t('The server answered {status} without a reason.', { status }));
}

function pathOf(method) {
  return method.startsWith('/') ? method : PACKAGE + method;
}

async function post(method, request, { key, signal, isWrite }) {
  const headers = { 'content-type': 'application/json', 'connect-protocol-version': '1', authorization: `Bearer ${currentToken()}` };
  if (key) headers['idempotency-key'] = key;
  const timeout = AbortSignal.timeout(READ_TIMEOUT_MS);
  const response = await fetch(pathOf(method), {
    method: 'POST', headers, body: JSON.stringify(request), cache: 'no-store', credentials: 'omit', redirect: 'error',
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout, keepalive: isWrite && JSON.stringify(request).length < 60000,
  });
  let body = null;
  try {
    body = await response.json();
  } catch (error) {
    if (response.ok) throw error;
  }
  if (!response.ok) throw errorOf(response.status, body);
  return body;
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    if (signal) signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

// Returns whether the same call may succeed a moment later.
function isPassing(error) {
  return error.code === 'unavailable' || error instanceof TypeError || error.name === 'TimeoutError';
}

async function callWithRetries(method, request, options) {
  let away = false;
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await post(method, request, options);
      } catch (error) {
        if (options.signal && options.signal.aborted) throw error;
        if (error.code === 'unauthenticated') {
          await renewToken();
        } else if (isPassing(error) && attempt < WAITS_MS.length && !options.once) {
          if (!away) { away = true; note(1); }
          await sleep(WAITS_MS[attempt], options.signal);
        } else if (error instanceof CallError) {
          throw error;
        } else {
          throw new CallError('unavailable', t('The server can’t be reached. Nothing that you typed is lost; try again in a moment.'));
        }
      }
    }
  } finally {
    if (away) note(-1);
  }
}

// Calls a method without effects.
export function read(method, request = {}, options = {}) {
  return callWithRetries(method, request, options);
}

// Calls a method with an effect, which occurs once regardless of how often the call is sent.
export function write(method, request, options = {}) {
  return callWithRetries(method, request, { key: `page-${crypto.randomUUID()}`, isWrite: true, ...options });
}

// Pages with large rows exceed the limit of the server's JSON conversion; they are requested in smaller pages. A page that ends
// early, since the server examines only so many rows for a filter, is filled up for a while; what is left follows by `next`.
export async function readPage(method, request, member, options = {}) {
  const wanted = request.pageSize || 50;
  let size = wanted;
  const rows = [];
  const end = Date.now() + FILL_MS;
  let token = request.pageToken || '';
  do {
    let reply = null;
    try {
      reply = await read(method, { ...request, pageSize: Math.min(size, wanted - rows.length), pageToken: token }, options);
    } catch (error) {
      if (error.code !== 'resource_exhausted' || size <= 1) throw error;
      size = Math.max(1, Math.floor(size / 4));
      continue;
    }
    rows.push(...(reply[member] || []));
    token = reply.nextPageToken || '';
  } while (token && rows.length < wanted && Date.now() < end);
  return { rows, next: token };
}

// Reads a server stream: calls `take` with each message until the stream ends, or rejects with its error.
// the error is `unimplemented` if the server has no streams of this protocol.
export async function stream(method, request, take, signal) {
  const body = new TextEncoder().encode(JSON.stringify(request));
  const envelope = new Uint8Array(5 + body.length);
  new DataView(envelope.buffer).setUint32(1, body.length);
  envelope.set(body, 5);
  const response = await fetch(pathOf(method), {
    method: 'POST', body: envelope, signal, cache: 'no-store', credentials: 'omit', redirect: 'error',
    headers: { 'content-type': 'application/connect+json', 'connect-protocol-version': '1', authorization: `Bearer ${currentToken()}` },
  });
  const type = response.headers.get('content-type') || '';
  if (!response.ok || !type.startsWith('application/connect+json')) {
    throw new CallError(response.status === 401 ? 'unauthenticated' : 'unimplemented', '');
  }
  await readEnvelopes(response.body.getReader(), take);
}

async function readEnvelopes(reader, take) {
  let kept = new Uint8Array(0);
  const text = new TextDecoder();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const joined = new Uint8Array(kept.length + value.length);
    joined.set(kept);
    joined.set(value, kept.length);
    kept = joined;
    while (kept.length >= 5) {
      const size = new DataView(kept.buffer, kept.byteOffset).getUint32(1);
      if (kept.length < 5 + size) break;
      const message = JSON.parse(text.decode(kept.subarray(5, 5 + size)) || '{}');
      const isEnd = (kept[0] & 2) !== 0;
      kept = kept.subarray(5 + size);
      if (isEnd && message.error) throw new CallError(message.error.code, message.error.message);
      if (isEnd) return;
      take(message);
    }
  }
}
