// Rules that the server finds as common features of false negatives or false positives; a person proposes them.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href } from '../core/route.js';
import { write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say } from '../core/notes.js';
import { enumWords, number, signed, count } from '../core/format.js';
import { heading, empty, button, fillFrom, plainTable } from '../parts/frame.js';
import { verdictTabs } from './verdicts.js';

function table(rules) {
  return plainTable(t('Found rules'), [
    { head: t('Pattern'), cell: (one) => (one.rule.id ? h('a', { class: 'mono', href: href('verdicts/rules', { open: one.rule.id }) }, one.rule.pattern) : h('span', { class: 'mono' }, one.rule.pattern)) },
    { head: t('Type'), cell: (one) => enumWords(one.rule.ruleType, 'LEARNED_RULE_TYPE_') }, { head: t('Adds'), number: true, cell: (one) => signed(one.rule.confidenceAdjustment || 0) },
    { head: t('Hits'), number: true, cell: (one) => t('{targets} of {hits}', { targets: count(one.finding.targetCount), hits: count(one.finding.hitCount) }) },
    { head: t('Lift (95%)'), number: true, cell: (one) => `${number(one.finding.lift || 0, 1)} (${number(one.finding.liftLow || 0, 1)} … ${number(one.finding.liftHigh || 0, 1)})` },
    { head: t('Backtest: right, wrong flips'), number: true, cell: (one) => `+${count(one.finding.rightFlipCount)} −${count(one.finding.wrongFlipCount)}` },
    { head: t('False alarms'), number: true, cell: (one) => count(one.finding.falseAlarmCount) }], rules);
}

export function open(root, route, signal) {
  const place = h('div', { class: 'section' });
  const propose = async () => {
    const reply = await write('VerdictService/ProposeRules', {});
    const rules = reply.rules || [];
    say(tn(rules.length, '{n} rule proposed.', '{n} rules proposed.'));
    return [table(rules), h('p', null, h('a', { href: href('verdicts/rules', { state: 'PROPOSED' }) }, t('To the proposed rules')))];
  };
  const search = async () => {
    const reply = await write('VerdictService/ProposeRules', { dryRun: true });
    const rules = reply.rules || [];
    if (!rules.length) return empty(t('Nothing found.'), t('A rule must hold on the newer half of the verdicts: at least 5 hits, and twice as many misses as elsewhere.'));
    return [h('p', null, t('Found on the older half of the verdicts, and kept because they hold on the newer half. Proposed rules have no effect until a person activates them.')), table(rules),
      h('div', { class: 'actions' }, button(tn(rules.length, 'Propose this rule', 'Propose these {n} rules'), () => { show(place); fillFrom(place, propose, signal); }, { kind: 'primary' }))];
  };
  show(root, heading(t('Find rules'), t('The server looks for what wrong verdicts have in common: features, numbers, indicators and phrases. It takes up to half a minute.')), verdictTabs('find'),
    hasRole('REVIEWER', 'INTEGRATOR', 'ADMIN') && h('div', { class: 'actions' }, button(t('Search'), () => { show(place); fillFrom(place, search, signal); }, { kind: 'primary' })), place);
  show(place, empty(t('No search yet.'), t('A search stores nothing; proposing what it finds does.')));
  return {};
}
