// Follows events that others write while the page is open: by a stream of WatchEvents or, if the
// server has no streams of this protocol, by reading the newest events every few seconds while the
// page is visible.

import { read, stream } from './call.js';
import { currentToken } from './session.js';
import { count } from './format.js';

const POLL_MS = 4000;
const POLL_EVENTS = 50;
const HIDDEN_MS = 3000;
const AGAIN_MS = [500, 1000, 2000, 5000, 10000];

const listeners = new Set();
const stateListeners = new Set();
let lastSeq = 0;
let running = null;
let state = 'off';

// Calls `listener` with each event that was recorded since the page was opened; returns a function that ends that.
export function onEvents(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Calls `listener` with on, off or waiting.
export function onLiveState(listener) {
  stateListeners.add(listener);
  listener(state);
}

function setState(next) {
  if (next === state) return;
  state = next;
  stateListeners.forEach((listener) => listener(state));
}

function take(event) {
  const seq = count(event.seq);
  if (seq <= lastSeq) return;
  lastSeq = seq;
  listeners.forEach((listener) => listener(event));
}

async function newest(pageSize, signal) {
  const reply = await read('EventService/ListEvents', { pageSize }, { signal, once: true });
  return (reply.events || []).reverse();
}

function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const wake = () => { clearTimeout(timer); resolve(); };
    signal.addEventListener('abort', wake, { once: true });
    document.addEventListener('visibilitychange', wake, { once: true });
  });
}

async function poll(signal) {
  while (!signal.aborted) {
    await pause(POLL_MS, signal);
    if (signal.aborted || document.hidden) continue;
    (await newest(POLL_EVENTS, signal)).forEach(take);
    setState('on');
  }
}

// Watches while the page is visible: over HTTP/1.1 a browser has six connections for all of its tabs, and a stream
// takes one of them. It continues after the last event that was received.
async function watch(signal) {
  while (document.hidden && !signal.aborted) await pause(HIDDEN_MS, signal);
  const hidden = new AbortController();
  let timer = 0;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => hidden.abort(), HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', look);
  try {
    await stream('EventService/WatchEvents', { fromSeq: String(lastSeq + 1) }, (message) => {
      if (message.event) take(message.event);
    }, AbortSignal.any([signal, hidden.signal]));
  } catch (error) {
    if (!hidden.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', look);
  }
}

async function run(signal) {
  let failures = 0;
  let streams = true;
  for (let first = null; !first && !signal.aborted;) {
    first = await newest(1, signal).catch(() => null);
    if (first) lastSeq = first.length ? count(first[0].seq) : 0;
    else await pause(POLL_MS, signal);
  }
  setState('on');
  while (!signal.aborted && currentToken()) {
    const began = Date.now();
    try {
      await (streams ? watch(signal) : poll(signal));
    } catch (error) {
      if (signal.aborted) return;
      if (error.code === 'unimplemented') {
        streams = false;
        continue;
      }
      if (error.code === 'unauthenticated') {
        setState('off');
        return;
      }
    }
    if (signal.aborted) return;
    if (document.hidden) continue;
    failures = Date.now() - began > 10000 ? 0 : failures + 1;
    setState('waiting');
    await pause(AGAIN_MS[Math.min(failures, AGAIN_MS.length) - 1] || 0, signal);
    setState('on');
  }
}

// A page in the browser's back-forward cache must not keep a connection.
window.addEventListener('pagehide', () => { if (running) running.abort(); });
window.addEventListener('pageshow', (event) => { if (event.persisted && running) startLive(); });

export function startLive() {
  stopLive();
  running = new AbortController();
  run(running.signal);
}

export function stopLive() {
  if (running) running.abort();
  running = null;
  setState('off');
}
