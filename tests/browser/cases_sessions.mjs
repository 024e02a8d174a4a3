// Turns are displayed with the feedback of the next message, and the detector is corrected.
import { equal, isTrue } from './check.mjs';

async function correct({ browser, Tab, server, tokens }) {
  const turn = (turnId, query, daysAgo = 0) => server.call('TurnService/RecordTurn', { turn: { createdAt: daysAgo ? new Date(Date.now() - daysAgo * 86400000).toISOString() : undefined, sessionId: 'chat 1', turnId, query, responseSummary: 'A list of novels.', validationOutcome: 'VALIDATION_OUTCOME_APPROVE', qualityScore: 0.7, strategy: { tool: 'search', text: 'novels' } } });
  await turn('turn-0', 'Which plays appeared in 2011?', 3);
  await turn('turn-1', 'Which novels appeared in 2012?');
  await server.call('TurnService/DetectFeedback', { sessionId: 'chat 1', turnId: 'turn-2', message: 'No, that is wrong, I meant short stories.' });
  await turn('turn-2', 'Which short stories appeared in 2012?');
  const status = async () => (await server.call('TurnService/GetTurn', { sessionId: 'chat 1', turnId: 'turn-1' })).turn.userFeedback.status;
  equal(await status(), 'TURN_STATUS_REJECTED', 'the detected feedback');
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.reviewer, '#/sessions?status=REJECTED');
  await tab.page.$eval('.list tbody .row-link', (node) => node.click());
  await tab.until('the panel', () => document.querySelector('.panel-content h2'));
  await tab.sees('No, that is wrong');
  equal(await tab.barriers(), [], 'barriers of a turn');
  await tab.press('It was accepted');
  await tab.sees('turn-1 is accepted now.');
  equal(await status(), 'TURN_STATUS_ACCEPTED', 'the corrected feedback');
  await tab.key('u');
  for (let tries = 0; tries < 100 && (await status()) !== 'TURN_STATUS_REJECTED'; tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  equal(await status(), 'TURN_STATUS_REJECTED', 'the feedback after the undo');
  await tab.go('#/sessions');
  isTrue((await tab.page.$$eval('.list td.number', (cells) => cells.map((cell) => cell.innerText))).includes('−1.00'), 'the satisfaction of a rejected turn, with a minus sign');
  await tab.go('#/sessions/satisfaction');
  await tab.sees('Satisfaction by day');
  await tab.press('Table', 'figure.chart');
  const days = await tab.page.$$eval('figure.chart table tbody th', (cells) => cells.map((cell) => cell.innerText));
  equal(days, [...days].sort(), 'days, the oldest first');
  equal(days.length, 2, 'days with turns');
  equal(await tab.barriers(), [], 'barriers of satisfaction');
  await server.call('TurnService/SetFeedback', { sessionId: 'chat 1', turnId: 'turn-2', status: 'TURN_STATUS_ACCEPTED' }, tokens.reviewer);
  await tab.go('#/sessions/strategies');
  await tab.sees('Ask like a user.');
  await tab.fill('query', 'Which short stories appeared in 2012?');
  await tab.press('Search', 'main');
  await tab.sees('In this order');
  isTrue((await tab.hash()).includes('q=Which'), 'the question is in the address');
  equal(await tab.page.$eval('.plain tbody tr', (row) => [row.children[0].innerText, row.children[1].innerText]), ['search: novels', 'accepted'], 'the first strategy');
  equal(await tab.barriers(), [], 'barriers of strategies');
  await tab.press('turn-2', '.plain');
  await tab.until('the turn', () => document.querySelector('.panel-content h2')?.innerText === 'Turn turn-2');
  await tab.go('#/sessions/detector');
  equal(await tab.barriers(), [], 'barriers of the detector');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

export const cases = [['feedback of turns is corrected', correct]];
