// speed.mjs BIN DATA: how fast the page is on the store in DATA, by the administrator of its largest organisation: the first view
// with no file of the page in the browser, the learning of 90 days, and lists of 1,000 rows with their longest tasks.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server } from './server.mjs';
import { Tab } from './page.mjs';
import { launch } from './browser.mjs';

const ROUNDS = 5;
const LISTS = [['corrections', '#/corrections?size=1000'], ['event log', '#/administration/log?size=1000']];

function middle(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

// The token of an administrator of the organisation whose newest event has the highest number, and that number.
async function largest(server) {
  const { organizations } = await server.call('AdminService/ListOrganizations', { pageSize: 1000 });
  const found = [];
  for (const { id } of organizations) {
    const { secret } = await server.call('AdminService/CreateToken', { orgId: id, token: { role: 'ROLE_ADMIN' } });
    const { events } = await server.call('EventService/ListEvents', { pageSize: 1 }, secret);
    found.push({ secret, count: Number(events[0].seq) });
  }
  return found.sort((a, b) => b.count - a.count)[0];
}

// Milliseconds until all figures of a view are drawn, in a browser context that is new.
async function firstView(browser, server, token, route, condition) {
  const tab = await Tab.open(browser, server.url);
  await tab.page.goto(`${server.url}healthz`);
  await tab.page.evaluate((text) => sessionStorage.setItem('errata.token', text), token);
  const began = performance.now();
  await tab.page.goto(server.url + route);
  await tab.until('the view', condition);
  const took = performance.now() - began;
  await tab.close();
  return took;
}

// Draws a list down to its last row; returns the rows and the longest task in ms, 0 if none takes more than 50 ms.
async function longestTask(browser, server, token, route) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(token);
  await tab.page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.longest = Math.max(window.longest, entry.duration); })).observe({ type: 'longtask' });
  });
  await tab.go(route);
  await tab.until('every row', () => {
    window.scrollTo(0, document.body.scrollHeight);
    const shown = /^([\d,]+) rows/.exec(document.querySelector('.list-foot')?.innerText || '');
    return shown && document.querySelectorAll('.list tbody tr').length === Number(shown[1].replace(',', ''));
  });
  const found = await tab.page.evaluate(() => ({ rows: document.querySelectorAll('.list tbody tr').length, task: Math.round(window.longest) }));
  await tab.close();
  return found;
}

async function main([bin, data]) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'errata-chromium-'));
  const server = await new Server(bin, data).start();
  const browser = await launch(profile);
  try {
    const { secret, count } = await largest(server);
    const overview = [];
    const learning = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      overview.push(await firstView(browser, server, secret, '#/overview', () => document.querySelectorAll('.figure-value').length >= 4 && !document.querySelector('.loading')));
      learning.push(await firstView(browser, server, secret, '#/learning?days=90', () => document.querySelectorAll('figure.chart').length >= 3 && !document.querySelector('.loading')));
    }
    console.log(`an organisation of ${count.toLocaleString('en')} events; load ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} processors`);
    for (const [name, values] of [['first view', overview], ['90 days of learning, as the first view', learning]]) {
      console.log(`${name}: ${Math.round(middle(values))} ms (${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))}, ${ROUNDS} times)`);
    }
    for (const [name, route] of LISTS) {
      const { rows, task } = await longestTask(browser, server, secret, route);
      console.log(`${name}, ${rows.toLocaleString('en')} rows: ${task ? `longest task ${task} ms` : 'no task over 50 ms'}`);
    }
  } finally {
    await browser.close();
    fs.rmSync(profile, { recursive: true, force: true });
    await server.stop();
  }
}

await main(process.argv.slice(2));
