// Structured reviews: a queue of runs that wait for one, all reviews, the card of an agent (a subcategory), and the
// wording of guidance.

import { h, show, breathe } from '../core/dom.js';
import { t } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { read, readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say, sayDone } from '../core/notes.js';
import { enumWords, when, timeText, idText } from '../core/format.js';
import { heading, empty, badge, facts, section, button, tabs, plainTable } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { List } from '../parts/list.js';
import { jsonBlock } from '../parts/diff.js';
import { reviewForm } from './review_form.js';

const DECISION = 'REVIEW_DECISION_';
const DECISIONS = ['REVIEWED', 'CHANGES_REQUESTED', 'REJECTED'];
const DECISION_KINDS = { REVIEWED: 'right', REJECTED: 'wrong', CHANGES_REQUESTED: 'wrong' };
const FLAGS = [['badFormat', 'bad format'], ['wrongInformation', 'wrong information'], ['wrongPhysicalDimensions', 'wrong dimensions']];
const AT_ONCE = 6;

export function reviewTabs(current) {
  return tabs(t('Reviews'), [
    { id: '', label: t('Queue'), address: href('reviews') }, { id: 'all', label: t('All reviews'), address: href('reviews/all') },
    { id: 'agent', label: t('Agent card'), address: href('reviews/agent') }, { id: 'wording', label: t('Wording'), address: href('reviews/wording') }], current);
}

function decisionBadge(decision) {
  return badge(enumWords(decision, DECISION), DECISION_KINDS[decision.slice(DECISION.length)]);
}

function findings(review) {
  return [FLAGS.filter(([member]) => review[member] === true).map(([, name]) => badge(t(name), 'wrong')), review.informationPresent === false && badge(t('no information'), 'wrong'),
    (review.missingSpec || []).map((one) => badge(one)), review.notes && h('span', { class: 'muted' }, review.notes.length > 60 ? `${review.notes.slice(0, 59)}…` : review.notes)];
}

// --- the queue ---

async function runOf(runId, signal) {
  try {
    return (await read('ReviewService/GetRun', { runId }, { signal })).run;
  } catch (error) {
    if (error.code === 'not_found') return null;
    throw error;
  }
}

// The subcategory of a run: of its newest review, else as its item names it.
function subcategoryOf({ item, run }) {
  if (run) return run.newestReview.subcategory;
  try {
    const named = JSON.parse(item.itemJson).subcategory;
    return typeof named === 'string' ? named : '';
  } catch {
    return '';
  }
}

// Items whose run has too few answers, newest first.
async function loadQueue({ parameters, size, token, signal }) {
  const { rows, next } = await readPage('EventService/ListEvents', { kind: 'EVENT_KIND_RUN_ITEM_PUT', pageSize: size, pageToken: token }, 'events', { signal });
  const items = new Map();
  rows.forEach((event) => { if (!items.has(event.runItem.runId)) items.set(event.runItem.runId, event.runItem); });
  const all = [...items.values()];
  const found = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const part = await Promise.all(all.slice(at, at + AT_ONCE).map(async (item) => ({ item, run: await runOf(item.runId, signal) })));
    found.push(...part);
    await breathe();
  }
  return { rows: found.filter(({ run }) => parameters.done === 'yes' || !run || (run.answers || []).length < (run.reviewsNeeded || 1)), next };
}

function queuePanel({ item, run }, list) {
  return [h('h2', null, t('Run {run}', { run: item.runId })),
    jsonBlock(t('The item'), item.itemJson), run && answers(run),
    hasRole('OPERATOR', 'REVIEWER', 'SERVICE', 'INTEGRATOR', 'ADMIN') && reviewForm({ runId: item.runId, itemId: item.itemId, subcategory: subcategoryOf({ item, run }), done: () => { list().refresh(); list().move(1); } })];
}

function answers(run) {
  return section(t('Answers'), h('p', null, t('{n} of {needed} reviewers that are needed say reviewed.', { n: run.reviewedCount || 0, needed: run.reviewsNeeded || 1 })),
    plainTable(t('Answers'), [{ head: t('Reviewer'), cell: (one) => one.reviewedBy || '–' }, { head: t('Decision'), cell: (one) => decisionBadge(one.decision) }, { head: t('When'), cell: (one) => when(one.createdAt) }, { head: t('Findings'), cell: findings }], run.answers || []),
    (run.agreement || []).length > 0 && h('p', { class: 'muted' }, run.agreement.map((one) => t('{field}: {n} of {all} agree', { field: enumWords(one.field, 'REVIEW_FIELD_'), n: one.agreeingCount || 0, all: one.answerCount || 0 })).join(' · ')));
}

function openQueue(root, route) {
  const place = h('div', null);
  let list = null;
  const quick = async (row) => {
    if (!subcategoryOf(row)) { go(changed({ open: row.item.runId })); return; }
    const { review } = await write('ReviewService/SubmitReview', { review: { runId: row.item.runId, itemId: row.item.itemId, subcategory: subcategoryOf(row), decision: `${DECISION}REVIEWED` } });
    sayDone(t('{run} is reviewed.', { run: row.item.runId }), async () => { await write('EventService/RetractEvent', { eventId: review.id, reason: t('undone on the page') }); await list.refresh(); });
    list.move(1);
    await list.refresh();
  };
  show(root, heading(t('Reviews'), t('Runs whose item waits for a person. What reviewers find goes into the prompts of the next run of that subcategory.'),
    h('a', { class: 'button', href: href('reviews/new') }, t('New review'))), reviewTabs(''), place);
  list = new List(place, route, {
    name: 'queue', caption: t('Runs that wait for a review'), panelLabel: t('Run'), key: (row) => row.item.runId, load: loadQueue,
    filters: [{ name: 'done', label: t('Show'), kind: 'select', options: [['', t('waiting')], ['yes', t('also answered ones')]] }],
    columns: [
      { head: t('Run'), cell: (row) => row.item.runId, text: (row) => row.item.runId },
      { head: t('Item'), cell: (row) => row.item.itemId || '–', text: (row) => row.item.itemId || '' },
      { head: t('Subcategory'), cell: (row) => subcategoryOf(row) || '–', text: subcategoryOf },
      { head: t('Answers'), cell: (row) => (row.run ? t('{n} of {needed}', { n: (row.run.answers || []).length, needed: row.run.reviewsNeeded || 1 }) : t('none')), text: (row) => (row.run ? (row.run.answers || []).length : 0) },
      { head: t('Newest'), kind: 'wide', cell: (row) => (row.run ? decisionBadge(row.run.newestReview.decision) : '–'), text: (row) => (row.run ? row.run.newestReview.decision : '') },
      { head: t('Since'), cell: (row) => when(row.item.createdAt), text: (row) => row.item.createdAt }],
    open: async (runId, row) => {
      if (!row) throw new Error(t('This run is not on this page of the queue.'));
      return queuePanel(row, () => list);
    },
    actionKeys: [['c', t('reviewed, without findings')], ['r', t('open the form')]],
    actions: (row) => [{ key: 'c', run: () => quick(row) }, { key: 'r', run: () => go(changed({ open: row.item.runId })) }],
    concerns: (event) => ['EVENT_KIND_RUN_ITEM_PUT', 'EVENT_KIND_REVIEW_SUBMITTED'].includes(event.kind),
    empty: () => empty(t('No run waits for a review.'), t('A pipeline puts the item of each run with PutItem; it appears here until enough reviewers have answered.'), h('a', { class: 'button', href: href('reviews/new') }, t('Review a run by its name'))),
  });
  return list;
}

// --- all reviews ---

function reviewPanel(review, run, list, openers) {
  const openForm = () => show(retract, form({
    kind: 'danger', submit: t('Retract this review'), cancel: reset, fields: [field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true })],
    run: async ({ reason }) => {
      await write('EventService/RetractEvent', { eventId: review.id, reason });
      say(t('Retracted.'));
      await list().refresh();
    },
  }));
  const retract = h('div', null);
  openers.retract = !review.retractedAt && hasRole('OPERATOR', 'REVIEWER', 'ADMIN') ? () => { openForm(); retract.querySelector('textarea').focus(); } : null;
  const reset = () => show(retract, openers.retract && button(t('Retract'), openers.retract, { kind: 'danger', key: 'r' }));
  reset();
  return [h('h2', null, t('Review of {run}', { run: review.runId })), h('p', null, decisionBadge(review.decision), findings({ ...review, notes: '' })),
    review.retractedAt && h('p', { class: 'callout wrong' }, t('Retracted {time} by {who}: {reason}', { time: timeText(review.retractedAt), who: review.retractedBy || '–', reason: review.retractionReason || '' })),
    facts([[t('Reviewer'), review.reviewedBy], [t('When'), timeText(review.createdAt)], [t('Subcategory'), h('a', { href: href('reviews/agent', { subcategory: review.subcategory }) }, review.subcategory)], [t('Item'), review.itemId], [t('State'), review.state],
      [t('Information present'), review.informationPresent === undefined ? t('not given') : review.informationPresent ? t('yes') : t('no')], [t('Id'), idText(review.id)]]),
    review.notes && section(t('Notes'), h('p', { class: 'snippet', tabindex: '0' }, review.notes)), jsonBlock(t('The item as it was reviewed'), review.itemSnapshotJson), run && answers(run), retract];
}

function openAll(root, route) {
  const place = h('div', null);
  const openers = {};
  let list = null;
  show(root, heading(t('Reviews'), t('Every answer of every reviewer, newest first.'), h('a', { class: 'button', href: href('reviews/new') }, t('New review'))), reviewTabs('all'), place);
  list = new List(place, route, {
    name: 'reviews', caption: t('Reviews'), panelLabel: t('Review'), key: (one) => one.id, rowKind: (one) => (one.retractedAt ? 'is-retracted' : ''),
    filters: [{ name: 'run', label: t('Run') }, { name: 'subcategory', label: t('Subcategory') }, { name: 'decision', label: t('Decision'), kind: 'select', options: [['', t('any')], ...DECISIONS.map((one) => [one, enumWords(DECISION + one, DECISION)])] },
      { name: 'reviewer', label: t('Reviewer') }, { more: true, name: 'from', label: t('From'), kind: 'date' }, { more: true, name: 'to', label: t('To'), kind: 'date' }],
    columns: [
      { head: t('Run'), cell: (one) => one.runId, text: (one) => one.runId }, { head: t('Decision'), cell: (one) => [decisionBadge(one.decision), one.retractedAt && badge(t('retracted'), 'wrong')], text: (one) => one.decision },
      { head: t('Findings'), kind: 'wide', cell: findings, text: (one) => (one.missingSpec || []).join('; ') }, { head: t('Subcategory'), cell: (one) => one.subcategory, text: (one) => one.subcategory },
      { head: t('Reviewer'), cell: (one) => one.reviewedBy || '–', text: (one) => one.reviewedBy || '' }, { head: t('When'), cell: (one) => when(one.createdAt), text: (one) => one.createdAt }],
    load: ({ parameters, size, token, signal }) => readPage('ReviewService/ListReviews', {
      runId: parameters.run, subcategory: parameters.subcategory, decision: parameters.decision ? DECISION + parameters.decision : undefined, reviewedBy: parameters.reviewer,
      startTime: parameters.from ? `${parameters.from}T00:00:00Z` : undefined, endTime: parameters.to ? `${parameters.to}T23:59:59.999999Z` : undefined, pageSize: size, pageToken: token,
    }, 'reviews', { signal }),
    open: async (id) => {
      const { review } = await read('ReviewService/GetReview', { id });
      return reviewPanel(review, await runOf(review.runId), () => list, openers);
    },
    actionKeys: [['r', t('retract the open review')]],
    actions: (review) => [{ key: 'r', run: () => {
      if (list.openKey !== review.id) go(changed({ open: review.id }));
      else if (openers.retract) openers.retract();
    } }],
    concerns: (event) => ['EVENT_KIND_REVIEW_SUBMITTED', 'EVENT_KIND_RETRACTED'].includes(event.kind),
    empty: () => empty(t('No reviews yet.'), t('Submit one here, or from your application by SubmitReview.'), h('a', { class: 'button', href: href('reviews/new') }, t('New review'))),
  });
  return list;
}

function openNew(root, route) {
  const node = reviewForm({ runId: route.parameters.get('run') || '', itemId: '', subcategory: route.parameters.get('subcategory') || '', free: true, done: () => {} });
  show(root, heading(t('New review'), t('What a reviewer finds in the item of a run.')), reviewTabs(''), h('div', { class: 'card narrow' }, node));
  return {};
}

export async function open(root, route, signal) {
  if (route.part === 'agent') return (await import('./agent_card.js')).open(root, route, signal);
  if (route.part === 'wording') return (await import('./wording.js')).open(root, route, signal);
  if (route.part === 'new') return openNew(root, route);
  return route.part === 'all' || route.parameters.get('run') ? openAll(root, route) : openQueue(root, route);
}

