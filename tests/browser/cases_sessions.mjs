// Turns are displayed with the feedback of the next message, and the detector is corrected.
import { equal } from './check.mjs';

async function correct({ browser, Tab, server, tokens }) {
  const turn = (turnId, query) => server.call('TurnService/RecordTurn', { turn: { sessionId: 'chat-1', turnId, query, responseSummary: 'A list of novels.', validationOutcome: 'VALIDATION_OUTCOME_APPROVE', qualityScore: 0.7, strategy: { tool: 'search', text: 'novels' } } });
  await turn('turn-1', 'Which novels appeared in 2012?');
  await server.call('TurnService/DetectFeedback', { sessionId: 'chat-1', turnId: 'turn-2', message: 'No, that is wrong, I meant short stories.' });
  await turn('turn-2', 'Which short stories appeared in 2012?');
  const status = async () => (await server.call('TurnService/GetTurn', { sessionId: 'chat-1', turnId: 'turn-1' })).turn.userFeedback.status;
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
  await tab.go('#/sessions/satisfaction');
  await tab.sees('Satisfaction by day');
  equal(await tab.barriers(), [], 'barriers of satisfaction');
  await tab.go('#/sessions/detector');
  equal(await tab.barriers(), [], 'barriers of the detector');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

export const cases = [['feedback of turns is corrected', correct]];
