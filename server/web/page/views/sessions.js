// Conversations: turns with the feedback that the next message gave, the cue that was matched, corrections of the detector,
// satisfaction by day, and how often the detector is right; strategies in a file of their own.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href } from '../core/route.js';
import { read, readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { sayDone } from '../core/notes.js';
import { enumWords, when, timeText, idText, number, percent, count, turnKey, turnOfKey } from '../core/format.js';
import { heading, empty, badge, facts, section, button, tabs, fillFrom, figure, plainTable } from '../parts/frame.js';
import { linesByDay, intervals, bars } from '../parts/chart.js';
import { List } from '../parts/list.js';
import { openStrategies } from './strategies.js';

const STATUS = 'TURN_STATUS_';
const STATUSES = ['REJECTED', 'ACCEPTED', 'NEUTRAL'];
const KINDS = { REJECTED: 'wrong', ACCEPTED: 'right', NEUTRAL: '' };

function sessionTabs(current) {
  return tabs(t('Sessions'), [{ id: '', label: t('Turns'), address: href('sessions') }, { id: 'satisfaction', label: t('Satisfaction'), address: href('sessions/satisfaction') }, { id: 'strategies', label: t('Strategies'), address: href('sessions/strategies') }, { id: 'detector', label: t('Detector'), address: href('sessions/detector') }], current);
}

function statusOf(turn) {
  return ((turn.userFeedback || {}).status || `${STATUS}NEUTRAL`).slice(STATUS.length);
}

function statusBadge(turn) {
  const status = statusOf(turn);
  return badge(enumWords(STATUS + status, STATUS), KINDS[status]);
}

function keyOf(turn) {
  return turnKey(turn.sessionId, turn.turnId);
}

function cut(text) {
  return text.length > 90 ? `${text.slice(0, 89)}…` : text;
}

async function setFeedback(turn, status, list) {
  const before = statusOf(turn);
  const send = (to) => write('TurnService/SetFeedback', { sessionId: turn.sessionId, turnId: turn.turnId, status: STATUS + to });
  await send(status);
  sayDone(t('{turn} is {status} now.', { turn: turn.turnId, status: enumWords(STATUS + status, STATUS) }), async () => { await send(before); await list().refresh(); });
  await list().refresh();
}

// The detection that marked a turn, from the log.
async function detectionOf(turn) {
  const { rows } = await readPage('EventService/ListEvents', { subject: { kind: 'EVENT_SUBJECT_KIND_SESSION', id: turn.sessionId }, kind: 'EVENT_KIND_FEEDBACK_DETECTED', pageSize: 100 }, 'events');
  return rows.map((event) => event.feedbackDetected).find((one) => one && one.previousTurnId === turn.turnId);
}

function detectionFacts(found) {
  if (!found) return h('p', { class: 'muted' }, t('No later message of the session judged this turn.'));
  const evidence = found.evidence || {};
  return [facts([[t('The user said'), found.userSaid || found.message], [t('Rule'), enumWords(evidence.row, 'DETECTION_ROW_')], [t('Matched'), found.matched || evidence.cue], [t('Kind of cue'), evidence.cueClass], [t('Similarity'), evidence.similarity === undefined ? undefined : number(evidence.similarity, 2)],
    [t('Confidence'), percent(found.confidence || 0, 0)], [t('In turn'), found.turnId]]), evidence.unsure && h('p', { class: 'callout' }, t('The detector was unsure.')), found.contextSection && h('pre', { class: 'snippet', tabindex: '0' }, found.contextSection)];
}

function panelOf(turn, session, list) {
  const detection = h('div', { class: 'section' });
  fillFrom(detection, async () => detectionFacts(await detectionOf(turn)));
  const strategy = turn.strategy || {};
  return [h('h2', null, t('Turn {turn}', { turn: turn.turnId })), h('p', null, statusBadge(turn), (turn.userFeedback || {}).setBy && badge(t('set by {who}', { who: turn.userFeedback.setBy }))),
    hasRole('REVIEWER', 'ADMIN') && h('div', { class: 'actions' }, STATUSES.filter((one) => one !== statusOf(turn)).map((one) => button(t('It was {status}', { status: enumWords(STATUS + one, STATUS) }), () => setFeedback(turn, one, list), { key: { ACCEPTED: 'c', REJECTED: 'r', NEUTRAL: 'e' }[one] }))),
    section(t('The user asked'), h('p', { class: 'snippet', tabindex: '0' }, turn.query || '–')), turn.responseSummary && section(t('The answer'), h('p', { class: 'snippet', tabindex: '0' }, turn.responseSummary)),
    facts([[t('Session'), h('a', { href: href('sessions', { session: turn.sessionId }) }, turn.sessionId)], [t('When'), timeText(turn.createdAt)], [t('Intent'), turn.intent], [t('Strategy'), strategy.tool && `${strategy.tool}: ${strategy.text || ''}`], [t('Validation'), enumWords(turn.validationOutcome, 'VALIDATION_OUTCOME_')],
      [t('Quality'), number(turn.qualityScore || 0, 2)], [t('Satisfaction'), number(turn.satisfactionScore || 0, 2)], [t('Ranking'), number(turn.rankingScore || 0, 2)], [t('Id'), idText(turn.id)]]),
    section(t('What the detector matched'), detection),
    session && section(t('The session'), h('p', null, t('{n} turns: {accepted} accepted, {rejected} rejected, {neutral} neutral.', { n: session.turnCount || 0, accepted: session.acceptedCount || 0, rejected: session.rejectedCount || 0, neutral: session.neutralCount || 0 })),
      session.suggestClarify && h('p', { class: 'callout wrong' }, t('The last {n} answers were rejected: ask before answering again.', { n: session.consecutiveRejections || 0 })))];
}

function openTurns(root, route) {
  const place = h('div', null);
  let list = null;
  const mayCorrect = hasRole('REVIEWER', 'ADMIN');
  show(root, heading(t('Sessions'), t('What users’ next messages said about the answers before them. Correct the detector where it is wrong.')), sessionTabs(''), place);
  list = new List(place, route, {
    name: 'turns', caption: t('Turns'), panelLabel: t('Turn'), key: keyOf,
    filters: [{ name: 'session', label: t('Session') }, { name: 'status', label: t('Feedback'), kind: 'select', options: [['', t('any')], ...STATUSES.map((one) => [one, enumWords(STATUS + one, STATUS)])] }],
    columns: [{ head: t('The user asked'), cell: (turn) => cut(turn.query || turn.turnId), text: (turn) => turn.query || '' }, { head: t('Feedback'), cell: statusBadge, text: statusOf }, { head: t('Session'), cell: (turn) => turn.sessionId, text: (turn) => turn.sessionId },
      { head: t('Strategy'), kind: 'wide', cell: (turn) => cut((turn.strategy || {}).tool || '–'), text: (turn) => (turn.strategy || {}).tool || '' }, { head: t('Satisfaction'), kind: 'number wide', cell: (turn) => number(turn.satisfactionScore || 0, 2), text: (turn) => turn.satisfactionScore || 0 },
      { head: t('When'), cell: (turn) => when(turn.createdAt), text: (turn) => turn.createdAt }],
    load: ({ parameters, size, token, signal }) => readPage('TurnService/ListTurns', { sessionId: parameters.session, status: parameters.status ? STATUS + parameters.status : undefined, pageSize: size, pageToken: token }, 'turns', { signal }),
    open: async (key) => {
      const id = turnOfKey(key);
      const [{ turn }, { session }] = await Promise.all([read('TurnService/GetTurn', id), read('TurnService/GetSession', { sessionId: id.sessionId })]);
      return panelOf(turn, session, () => list);
    },
    actionKeys: mayCorrect && [['c', t('it was accepted')], ['r', t('it was rejected')], ['e', t('it was neutral')]],
    actions: (turn) => (mayCorrect ? [['c', 'ACCEPTED'], ['r', 'REJECTED'], ['e', 'NEUTRAL']].map(([key, status]) => ({ key, run: () => setFeedback(turn, status, () => list) })) : []),
    concerns: (event) => /TURN|FEEDBACK_DETECTED/.test(event.kind),
    empty: () => empty(t('No turns yet.'), t('An assistant records each turn with RecordTurn, and asks DetectFeedback about the user’s next message.')),
  });
  return list;
}

function openSatisfaction(root, route, signal) {
  const place = h('div', { class: 'section' });
  show(root, heading(t('Satisfaction'), t('From −1 to 1: what users’ next messages said, and what validation said before.')), sessionTabs('satisfaction'), place);
  fillFrom(place, async () => {
    const reply = await read('TurnService/GetSatisfaction', {}, { signal });
    const total = reply.total || {};
    const days = [...(reply.days || [])].sort((a, b) => a.day.localeCompare(b.day)); // the server has the newest first
    if (!count(total.turnCount)) return empty(t('No turns yet.'), t('Satisfaction is computed from recorded turns.'));
    return [h('h2', { class: 'visually-hidden' }, t('Results')), h('div', { class: 'figures' }, figure({ label: t('Mean'), value: number(total.mean || 0, 2), detail: tn(count(total.turnCount), '{n} turn', '{n} turns') }), figure({ label: t('Rejected'), value: percent(count(total.rejectedCount) / count(total.turnCount), 0) }),
      figure({ label: t('Accepted'), value: percent(count(total.acceptedCount) / count(total.turnCount), 0) })),
    linesByDay({ title: t('Satisfaction by day'), name: 'satisfaction', days: days.map((one) => one.day), low: -1, high: 1, text: (value) => number(value, 2), series: [{ name: t('Mean'), kind: 'right', values: days.map((one) => (count(one.turnCount) ? one.mean || 0 : null)) }],
      sentence: t('{mean} over all, from {n} turns.', { mean: number(total.mean || 0, 2), n: number(count(total.turnCount)) }) }),
    (reply.intents || []).length > 0 && bars({ title: t('Turns by intent'), name: 'intents', unit: t('Turns'), rows: reply.intents.map((one) => ({ label: one.intent || t('not given'), value: count(one.turnCount) })).sort((a, b) => b.value - a.value), sentence: tn(reply.intents.length, '{n} intent.', '{n} intents.') })];
  }, signal);
  return {};
}

function openDetector(root, route, signal) {
  const place = h('div', { class: 'section' });
  show(root, heading(t('Detector'), t('How often people agreed with it, by rule and by cue. Corrections of turns are what it is measured by.')), sessionTabs('detector'), place);
  fillFrom(place, async () => {
    const reply = await read('TurnService/GetDetectorReport', {}, { signal });
    if (!reply.judgedCount) return empty(t('No turn was judged yet.'), t('Set the feedback of some turns, right ones too.'), h('a', { class: 'button', href: href('sessions') }, t('To the turns')));
    const rowOf = (label, one) => ({ label, value: one.precision || 0, low: one.precisionLow || 0, high: one.precisionHigh || 0, detail: tn(one.judgedCount || 0, '{n} case', '{n} cases') });
    return [h('h2', { class: 'visually-hidden' }, t('Results')), intervals({ title: t('Precision by rule'), name: 'detector-rules', from: 0, to: 1, rows: (reply.rows || []).map((one) => rowOf(enumWords(one.row, 'DETECTION_ROW_'), one)), sentence: tn(reply.judgedCount, '{n} turn was judged by people.', '{n} turns were judged by people.') }),
      (reply.cues || []).length > 0 && intervals({ title: t('Precision by cue'), name: 'detector-cues', from: 0, to: 1, rows: reply.cues.map((one) => rowOf(`${one.cue}${one.removalProposed ? ` (${t('removal proposed')})` : ''}`, one)), sentence: t('Cues that are mostly wrong are proposed for removal.') }),
      section(t('Detected and judged'), plainTable(t('Detected and judged'), [{ head: t('Detected'), cell: (one) => enumWords(one.detected, STATUS) }, { head: t('People say'), cell: (one) => enumWords(one.judged, STATUS) }, { head: t('Turns'), number: true, cell: (one) => one.turnCount || 0 }], reply.confusion || []))];
  }, signal);
  return {};
}

export function open(root, route, signal) {
  if (route.part === 'strategies') return openStrategies(root, route, signal, sessionTabs('strategies'));
  return ({ satisfaction: openSatisfaction, detector: openDetector }[route.part] || openTurns)(root, route, signal);
}
