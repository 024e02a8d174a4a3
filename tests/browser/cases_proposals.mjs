// Proposals are voted on, guidelines retired, and the prompt of an agent shows where its lines come from.
import { equal } from './check.mjs';

async function vote({ browser, Tab, server, tokens }) {
  const second = await server.token('REVIEWER', 'ruben');
  const propose = (ruleContent) => server.call('GuidelineService/ProposeGuideline', { proposal: { ruleType: 'RULE_TYPE_CONSTRAINT', ruleContent, affectedAgents: ['writer'], evidenceSummary: 'seen three times' } }, tokens.operator);
  const { proposal } = await propose('Always validate input before use.');
  const status = async () => (await server.call('GuidelineService/GetProposal', { id: proposal.id })).proposal;
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.reviewer, '#/proposals');
  await tab.sees('Always validate input before use.');
  await tab.go(`#/proposals?open=${proposal.id}`);
  await tab.until('the panel', () => document.querySelector('.panel-content h2'));
  await tab.sees('seen three times');
  equal(await tab.barriers(), [], 'barriers of a proposal');
  await tab.key('c');
  await tab.sees('Your vote is stored: 1 of 2.');
  await tab.key('u');
  for (let tries = 0; tries < 100 && (await status()).votes; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  equal((await status()).votes, undefined, 'votes after the undo');
  await tab.key('c');
  await tab.sees('1 more approval is needed');
  const other = await (await Tab.open(browser, server.url)).signedIn(second, `#/proposals?open=${proposal.id}`);
  await other.until('the panel', () => document.querySelector('.panel-content h2'));
  await other.press('Approve', '.panel');
  await other.sees('Approved: the guideline is in effect.');
  equal((await status()).status, 'PROPOSAL_STATUS_APPROVED', 'the proposal');
  const { proposal: bad } = await propose('Use tabs in every file.');
  await other.go(`#/proposals?agent=writer&open=${bad.id}`);
  await other.sees('1 row');
  await other.until('the panel', () => document.querySelector('.panel-content h2').innerText.includes('tabs'));
  await other.key('r');
  await other.until('the reason', () => document.activeElement.name === 'reason');
  await other.page.keyboard.type('a matter of taste');
  await other.press('Reject this proposal');
  await other.sees('Rejected.');
  equal((await server.call('GuidelineService/GetProposal', { id: bad.id })).proposal.rejectionReason, 'a matter of taste', 'the reason');
  await other.go('#/proposals/prompt?agent=writer');
  await other.sees('Always validate input before use.');
  equal(await other.text('.prompt-lines .is-learned a'), 'rita, ruben', 'who approved the line');
  equal(await other.barriers(), [], 'barriers of a prompt');
  await other.go('#/proposals/guidelines');
  equal(await other.barriers(), [], 'barriers of guidelines');
  await other.page.$eval('.list tbody .row-link', (node) => node.click());
  await other.until('the panel', () => document.querySelector('.panel-content h2'));
  await other.press('Retire', '.panel');
  await other.fill('reason', 'done by the linter now');
  await other.press('Retire this guideline');
  await other.sees('No guideline is in effect.');
  equal([...tab.problems, ...other.problems], [], 'problems');
  await tab.close();
  await other.close();
}

export const cases = [['proposals are voted on, guidelines retired', vote]];
