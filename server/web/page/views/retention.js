// Retention: for how long content is kept, by class, and what other times would remove. Tried times are in the address.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { go, changed } from '../core/route.js';
import { read, write, CallError } from '../core/call.js';
import { say, sayDone } from '../core/notes.js';
import { number, count, bytesText, dateText } from '../core/format.js';
import { heading, fillFrom } from '../parts/frame.js';
import { form, field } from '../parts/form.js';
import { adminTabs, orgLine, readOrganization } from './admin_tabs.js';

const TYPING_MS = 300;
const CLASSES = [
  { name: 'corrections_days', member: 'correctionsDays', kind: 'CORRECTIONS', label: () => t('Corrections, in days'), help: () => t('With judgements of mappings, documents, and the reasons of retractions.') },
  { name: 'verdicts_days', member: 'verdictsDays', kind: 'VERDICTS', label: () => t('Verdicts, in days'), help: () => t('Submitted verdicts.') },
  { name: 'reviews_days', member: 'reviewsDays', kind: 'REVIEWS', label: () => t('Reviews, in days'), help: () => t('Submitted reviews, and the items of runs.') },
];

function daysText(days) {
  return days ? String(days) : '';
}

// The typed days that differ from those that are stored, by member; an empty field is 0, forever. And the same the other way,
// for the undo.
function changesOf(values, stored) {
  const days = (one) => Number(values[one.name]) || 0;
  const differing = CLASSES.filter((one) => days(one) !== stored[one.member]);
  return { next: Object.fromEntries(differing.map((one) => [one.member, days(one)])), before: Object.fromEntries(differing.map((one) => [one.member, stored[one.member]])) };
}

function removedText(preview, least) {
  if (!preview || !preview.recordedUntil) return t('Kept forever.');
  const events = count(preview.eventCount);
  if (!events && least) return t('How much until {day} is unknown: the log is too long to count all of it.', { day: dateText(preview.recordedUntil) });
  if (!events) return t('Nothing is older than {day}.', { day: dateText(preview.recordedUntil) });
  return t('{least}{events} until {day} would lose {bytes} of content.', { least: least ? t('At least ') : '', events: tn(events, '{n} event', '{n} events'), day: dateText(preview.recordedUntil), bytes: bytesText(preview.contentBytes) });
}

// What is removed for good, which is unknown if not all events were examined; empty if nothing is.
function warningOf({ previews = [], partial }) {
  const removed = previews.reduce((sum, one) => sum + count(one.eventCount), 0);
  if (partial) return t('Content may be removed for good, within hours: the log is too long to count all of it.');
  if (!removed) return '';
  return tn(removed, 'The content of {n} event is removed for good, within hours.', 'The content of {n} events is removed for good, within hours.');
}

function retentionForm({ stored, organization, org, route, signal, timer, reload }) {
  const results = Object.fromEntries(CLASSES.map((one) => [one.kind, h('p', { class: 'help', 'aria-live': 'polite' })]));
  const confirm = h('div', null);
  const typed = () => Object.fromEntries(CLASSES.map((one) => [one.name, node.elements[one.name].value.trim()]));
  const ask = (times) => read('AdminService/PreviewRetention', { orgId: org || undefined, contentRetention: times }, { signal });
  const showConfirm = (text) => {
    if (!text) show(confirm);
    else if (!confirm.firstChild) show(confirm, h('p', { class: 'callout wrong' }, text), field({ name: 'confirm_name', label: t('Type the name of the organisation, {name}', { name: organization.name }), required: true }));
    else show(confirm.firstChild, text);
  };
  const showPreview = (reply) => {
    const found = (kind) => (reply.previews || []).find((one) => one.contentClass === `CONTENT_CLASS_${kind}`);
    CLASSES.forEach((one) => show(results[one.kind], removedText(found(one.kind), reply.partial)));
    showConfirm(warningOf(reply));
  };
  let newest = 0; // an older preview may be answered last
  const preview = async () => {
    newest += 1;
    const turn = newest;
    try {
      const reply = await ask(changesOf(typed(), stored).next);
      if (turn === newest) showPreview(reply);
    } catch (error) {
      if (turn !== newest || signal.aborted) return;
      CLASSES.forEach((one) => show(results[one.kind], (error.fields || []).filter(({ field: path }) => path.endsWith(one.name)).map(({ description }) => h('span', { class: 'field-error' }, description))));
      if (!(error.fields || []).length) show(results.CORRECTIONS, h('span', { class: 'field-error' }, error.message));
      showConfirm('');
    }
  };
  // Requires the name, unless a preview of exactly these times shows that nothing would be removed.
  const checkName = async (times, name) => {
    const reply = await ask(times);
    if (!warningOf(reply) || name === organization.name) return;
    newest += 1;
    showPreview(reply);
    throw new CallError('invalid_argument', t('Nothing was changed.'), [{ field: 'confirm_name', description: name ? t('not its name; expected {name}', { name: organization.name }) : t('missing; expected {name}', { name: organization.name }) }]);
  };
  const node = form({
    submit: t('Save'), keep: true,
    fields: [CLASSES.map((one) => {
      const place = field({ name: one.name, label: one.label(), kind: 'number', value: route.parameters.get(one.name) ?? daysText(stored[one.member]), help: one.help(), attributes: { min: 0, max: 36500, step: 1, placeholder: t('forever') } });
      place.append(results[one.kind]);
      return place;
    }), confirm],
    run: async (values) => {
      clearTimeout(timer.id);
      const { next, before } = changesOf(values, stored);
      if (!Object.keys(next).length) { say(t('Nothing was changed.')); return; }
      await checkName(next, values.confirm_name);
      await write('AdminService/UpdateSettings', { orgId: org || undefined, settings: { contentRetention: next } });
      sayDone(t('Retention saved.'), async () => { await write('AdminService/UpdateSettings', { orgId: org || undefined, settings: { contentRetention: before } }); reload(); });
      go(changed({ corrections_days: '', verdicts_days: '', reviews_days: '' }), { replace: true });
      reload();
    },
  });
  node.addEventListener('input', (event) => {
    if (event.target.name === 'confirm_name') return;
    clearTimeout(timer.id);
    timer.id = setTimeout(() => {
      const values = typed();
      const tried = CLASSES.map((one) => [one.name, values[one.name] === daysText(stored[one.member]) ? '' : values[one.name] || '0']);
      go(changed(Object.fromEntries(tried)), { replace: true });
      preview();
    }, TYPING_MS);
  });
  preview();
  return node;
}

export function open(root, route, signal) {
  const org = route.parameters.get('org') || '';
  const place = h('div', { class: 'card narrow' });
  const timer = { id: 0 }; // of the next preview
  const load = (now) => fillFrom(place, async () => {
    const [{ settings }, organization] = await Promise.all([read('AdminService/GetSettings', { orgId: org || undefined }, { signal }), readOrganization(org, signal)]);
    return retentionForm({ stored: { correctionsDays: 0, verdictsDays: 0, reviewsDays: 0, ...settings.contentRetention }, organization, org, route: now, signal, timer, reload: () => load({ parameters: new URLSearchParams() }) });
  }, signal);
  show(root, heading(t('Retention'), t('For how long the content of events is kept: values, snippets, notes. After that it is removed for good; facts, hashes and counts stay. Turns, decisions, rules and proposals are kept.')),
    adminTabs('retention', org), orgLine(org), place);
  load(route);
  return { update: () => {}, close: () => clearTimeout(timer.id) };
}
