// Proposals of guidelines with their evidence, conflicts and votes; and the prompt of an agent with the origin of each line.
// The guidelines in effect are in guidelines.js.

import { h, show } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href, go, changed } from '../core/route.js';
import { read, readPage, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { say, sayDone } from '../core/notes.js';
import { enumWords, when, timeText, idText, shortId, percent } from '../core/format.js';
import { heading, empty, badge, facts, section, button, fillFrom, plainTable } from '../parts/frame.js';
import { form, field, listOf } from '../parts/form.js';
import { List } from '../parts/list.js';
import { TYPE, agents, proposalTabs, voters } from './proposal_parts.js';
import { openEffects, openGuidelines } from './guidelines.js';

const TYPES = ['CONSTRAINT', 'GUIDELINE', 'NEGATIVE_EXAMPLE', 'POSITIVE_EXAMPLE'];
const CONFLICT = 'RULE_CONFLICT_KIND_';

function votesText(proposal) {
  return t('{n} of {needed}', { n: (proposal.votes || []).length, needed: proposal.votesNeeded || 0 });
}

function contradictions(proposal) {
  return (proposal.conflicts || []).filter((one) => one.kind === `${CONFLICT}CONTRADICTION`);
}

function conflictRows(conflicts) {
  if (!conflicts.length) return h('p', { class: 'muted' }, t('It contradicts and repeats no rule of these agents.'));
  return plainTable(t('Conflicts'), [
    { head: t('Kind'), cell: (one) => badge(enumWords(one.kind, CONFLICT), one.kind === `${CONFLICT}CONTRADICTION` ? 'wrong' : '') }, { head: t('Rule'), cell: (one) => idText(one.guidelineId) },
    { head: t('Similarity'), number: true, cell: (one) => percent(one.score || 0, 0) }, { head: t('Why'), cell: (one) => one.reason || '–' }], conflicts);
}

async function approve(proposal, list) {
  const acknowledged = contradictions(proposal).map((one) => one.guidelineId);
  const { proposal: now } = await write('GuidelineService/ApproveProposal', { proposalId: proposal.id, acknowledgedGuidelineIds: acknowledged });
  const done = now.status === 'PROPOSAL_STATUS_APPROVED';
  sayDone(done ? t('Approved: the guideline is in effect.') : t('Your vote is stored: {votes}.', { votes: votesText(now) }), done ? null : async () => {
    await write('GuidelineService/RetractVote', { proposalId: proposal.id });
    await list().refresh();
  });
  await list().refresh();
}

function decisionOf(proposal, list) {
  const place = h('div', { class: 'section' });
  const problem = h('div', null);
  const contradicts = contradictions(proposal);
  const vote = () => {
    const boxes = [...place.querySelectorAll('input[type=checkbox]')];
    if (boxes.some((box) => !box.checked)) { show(problem, h('p', { class: 'callout wrong', role: 'alert' }, t('Acknowledge each contradiction before you approve.'))); return; }
    approve(proposal, list).catch((error) => show(problem, h('p', { class: 'callout wrong', role: 'alert' }, error.message)));
  };
  const reject = () => {
    const node = form({
      kind: 'danger', submit: t('Reject this proposal'), cancel: reset, fields: [field({ name: 'reason', label: t('Reason'), kind: 'area', rows: 2, required: true })],
      run: async ({ reason }) => {
        await write('GuidelineService/RejectProposal', { proposalId: proposal.id, reason });
        say(t('Rejected.'));
        await list().refresh();
      },
    });
    show(place, node);
    node.elements.reason.focus();
  };
  const reset = () => show(place, contradicts.map((one) => field({ name: `known_${one.guidelineId}`, label: t('I know that it contradicts {rule}: {reason}', { rule: shortId(one.guidelineId), reason: one.reason || '' }), kind: 'check' })), problem,
    h('div', { class: 'actions' }, button(t('Approve'), vote, { kind: 'primary', key: 'c' }), button(t('Reject'), reject, { kind: 'danger', key: 'r' }), button(t('Retract my vote'), async () => {
      await write('GuidelineService/RetractVote', { proposalId: proposal.id });
      say(t('Your vote is retracted.'));
      await list().refresh();
    }, { kind: 'quiet' })));
  reset();
  return { place, reject, vote };
}

function panelOf(proposal, list, openers) {
  const decision = proposal.status === 'PROPOSAL_STATUS_PENDING' && hasRole('REVIEWER', 'ADMIN') ? decisionOf(proposal, list) : null;
  openers.decision = decision;
  return [h('h2', null, proposal.ruleContent || t('Proposal')),
    facts([[t('Type'), enumWords(proposal.ruleType, TYPE)], [t('Agents'), agents(proposal)], [t('Place in the prompt'), proposal.insertionPoint], [t('Proposed by'), proposal.proposedBy], [t('Proposed'), timeText(proposal.createdAt)],
      [t('Status'), enumWords(proposal.status, 'PROPOSAL_STATUS_')], [t('Rejected by'), proposal.rejectedBy], [t('Reason'), proposal.rejectionReason], [t('Replaces'), (proposal.replacesGuidelineIds || []).map(idText)], [t('Id'), idText(proposal.id)]]),
    section(t('Evidence'), proposal.evidenceSummary ? h('p', null, proposal.evidenceSummary) : h('p', { class: 'muted' }, t('None was given.'))),
    section(t('Conflicts'), conflictRows(proposal.conflicts || [])), section(t('Votes'), voters(proposal)), decision && decision.place];
}

function proposeForm(done) {
  return form({
    submit: t('Propose'), cancel: done,
    fields: [field({ name: 'rule_content', label: t('Rule'), kind: 'area', rows: 3, required: true }), field({ name: 'affected_agents', label: t('Agents'), required: true, help: t('Separated by commas.') }),
      field({ name: 'rule_type', label: t('Type'), kind: 'select', value: 'GUIDELINE', options: TYPES.map((one) => [one, enumWords(TYPE + one, TYPE)]) }), field({ name: 'evidence_summary', label: t('Evidence'), kind: 'area', rows: 2 })],
    run: async (values) => {
      const { proposal } = await write('GuidelineService/ProposeGuideline', { proposal: { ruleType: TYPE + values.rule_type, ruleContent: values.rule_content, affectedAgents: listOf(values.affected_agents), evidenceSummary: values.evidence_summary } });
      say(t('Proposed. It has no effect until it is approved.'));
      done();
      go(changed({ open: proposal.id }));
    },
  });
}

function openPending(root, route) {
  const place = h('div', null);
  const adding = h('div', { class: 'card narrow', hidden: true });
  const openers = {};
  let list = null;
  const close = () => { adding.hidden = true; show(adding); list.refresh(); };
  const isOpen = (proposal) => list.openKey === proposal.id && openers.decision;
  const mayVote = hasRole('REVIEWER', 'ADMIN');
  show(root, heading(t('Proposals'), t('Rules for agents that wait for votes. Nothing reaches a prompt before enough people approved it.'), hasRole('OPERATOR', 'REVIEWER', 'SERVICE', 'ADMIN') && button(t('Propose'), () => { adding.hidden = false; show(adding, proposeForm(close)); adding.querySelector('textarea').focus(); })),
    proposalTabs(''), adding, place);
  list = new List(place, route, {
    name: 'proposals', caption: t('Pending proposals'), panelLabel: t('Proposal'), key: (one) => one.id, filters: [{ name: 'agent', label: t('Agent') }],
    columns: [
      { head: t('Rule'), cell: (one) => one.ruleContent || idText(one.id), text: (one) => one.ruleContent }, { head: t('Type'), kind: 'wide', cell: (one) => enumWords(one.ruleType, TYPE), text: (one) => one.ruleType },
      { head: t('Agents'), cell: agents, text: (one) => (one.affectedAgents || []).join(' ') }, { head: t('Votes'), cell: votesText, text: votesText },
      { head: t('Conflicts'), kind: 'wide', cell: (one) => ((one.conflicts || []).length ? badge(tn(one.conflicts.length, '{n} conflict', '{n} conflicts'), contradictions(one).length ? 'wrong' : '') : '–'), text: (one) => (one.conflicts || []).length },
      { head: t('Proposed'), cell: (one) => when(one.createdAt), text: (one) => one.createdAt }],
    load: ({ parameters, size, token, signal }) => readPage('GuidelineService/ListPendingProposals', { agentName: parameters.agent, pageSize: size, pageToken: token }, 'proposals', { signal }),
    open: async (id) => panelOf((await read('GuidelineService/GetProposal', { id })).proposal, () => list, openers),
    actionKeys: mayVote && [['c', t('approve the open proposal')], ['r', t('reject the open proposal')]],
    actions: (proposal) => (mayVote ? [
      { key: 'c', run: () => (isOpen(proposal) ? openers.decision.vote() : go(changed({ open: proposal.id }))) },
      { key: 'r', run: () => (isOpen(proposal) ? openers.decision.reject() : go(changed({ open: proposal.id }))) }] : []),
    concerns: (event) => /PROPOSAL|GUIDELINE/.test(event.kind),
    empty: () => empty(t('No proposal waits.'), t('A person or an agent proposes a rule here, or by ProposeGuideline.')),
  });
  return list;
}

// The lines of a prompt: those of guidelines with a link, others unchanged.
function promptLines(prompt, guidelines) {
  return h('ol', { class: 'prompt-lines' }, prompt.split('\n').map((line) => {
    const match = /^- \[([A-Z_]+)\] (.*)$/.exec(line);
    const origin = match && guidelines.find((one) => one.ruleType === TYPE + match[1] && (one.ruleContent || '').replace(/\s+/g, ' ').trim() === match[2].trim());
    return h('li', { class: origin ? 'is-learned' : '' }, h('span', { class: 'grow mono' }, line || ' '), origin && h('a', { href: href('proposals/guidelines', { open: origin.id }) }, (origin.votes || []).map((one) => one.approverId).join(', ') || t('guideline')));
  }));
}

function openPrompt(root, route, signal) {
  const answer = h('div', { class: 'section' });
  let base = '';
  const load = (agent) => {
    if (!agent) { show(answer, empty(t('Name an agent.'), t('You see its prompt as it gets it, with who approved each learned line.'))); return; }
    show(answer);
    fillFrom(answer, async () => {
      const [reply, guidelines] = await Promise.all([read('GuidelineService/BuildAgentPrompt', { agentName: agent, basePrompt: base }, { signal }), readPage('GuidelineService/ListActiveGuidelines', { agentName: agent, pageSize: 1000 }, 'guidelines', { signal })]);
      return [h('p', null, tn((reply.guidelineIds || []).length, '{n} guideline is in it.', '{n} guidelines are in it.')), promptLines(reply.prompt || '', guidelines.rows)];
    }, signal);
  };
  const node = form({
    submit: t('Show the prompt'), keep: true,
    fields: [field({ name: 'agent_name', label: t('Agent'), required: true, value: route.parameters.get('agent') || '' }), field({ name: 'base_prompt', label: t('Base prompt'), kind: 'area', rows: 4, help: t('A line {{RULES:learned_rules}} is where the rules go; without it they follow at the end.') })],
    run: async (values) => {
      base = values.base_prompt;
      const address = changed({ agent: values.agent_name });
      if (address === location.hash) load(values.agent_name);
      else go(address);
    },
  });
  show(root, heading(t('Prompt of an agent'), t('What an agent is given, line by line, and who approved it.')), proposalTabs('prompt'), h('div', { class: 'card narrow' }, node), answer);
  load(route.parameters.get('agent') || '');
  return { update: (next) => load(next.parameters.get('agent') || '') };
}

export function open(root, route, signal) {
  return ({ guidelines: openGuidelines, effect: openEffects, prompt: openPrompt }[route.part] || openPending)(root, route, signal);
}
