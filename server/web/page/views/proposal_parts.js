// What the views of proposals and of guidelines share.

import { h } from '../core/dom.js';
import { t, tn } from '../core/words.js';
import { href } from '../core/route.js';
import { when } from '../core/format.js';
import { plainTable, tabs } from '../parts/frame.js';

export const TYPE = 'RULE_TYPE_';

export function proposalTabs(current) {
  return tabs(t('Proposals'), [{ id: '', label: t('Pending'), address: href('proposals') }, { id: 'guidelines', label: t('Guidelines'), address: href('proposals/guidelines') },
    { id: 'effect', label: t('Effect'), address: href('proposals/effect') },
    { id: 'prompt', label: t('Prompt of an agent'), address: href('proposals/prompt') }], current);
}

export function agents(one) {
  return (one.affectedAgents || []).map((name) => h('a', { class: 'badge', href: href('proposals/prompt', { agent: name }) }, name));
}

// Who approved a proposal or a guideline, and who still may.
export function voters(proposal) {
  const votes = proposal.votes || [];
  const missing = (proposal.votesNeeded || 0) - votes.length;
  return [votes.length > 0 && plainTable(t('Votes'), [{ head: t('Approver'), cell: (one) => one.approverId }, { head: t('When'), cell: (one) => when(one.votedAt) }], votes),
    proposal.status === 'PROPOSAL_STATUS_PENDING' && h('p', null, tn(missing, '{n} more approval is needed.', '{n} more approvals are needed.'), ' ',
      proposal.proposedBy ? t('Each reviewer votes once, and {who}, who proposed it, does not.', { who: proposal.proposedBy }) : t('Each reviewer votes once.'))];
}
