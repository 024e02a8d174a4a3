// Every view and panel: what is seen, no barrier for anyone, and no text that runs.
import os from 'node:os';
import { equal, isTrue } from './check.mjs';
import { views, PANELS } from './views.mjs';

const IDLE_LOAD = 1.5; // on a busy machine a task's time is not a property of the page
const TASK_MS_MAX = 120;
const ROWS_NEAR = 400;
const FIRST_VIEW_MS_MAX = 2000;

async function isUnharmed(tab, name) {
  const harm = await tab.page.evaluate(() => ({ ran: window.pwned === 1, elements: document.querySelectorAll('img, iframe, object, script:not([src])').length }));
  equal(harm, { ran: false, elements: 0 }, `text of ${name} ran, or became an element`);
}

async function everyView({ browser, Tab, server, reference }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin);
  const found = [];
  for (const [name, route, text] of views(reference)) {
    await tab.go(route);
    await tab.sees(text);
    await isUnharmed(tab, name);
    if (PANELS.includes(name)) {
      await tab.page.$eval('.list tbody .row-link', (node) => node.click());
      await tab.until(`the panel of ${name}`, () => document.querySelector('.panel-content h2'));
      await tab.ready();
      await tab.page.$$eval('.panel details', (nodes) => nodes.forEach((node) => { node.open = true; }));
      await isUnharmed(tab, `the panel of ${name}`);
    }
    for (const theme of ['light', 'dark']) {
      await tab.theme(theme);
      const barriers = await tab.barriers(theme === 'dark' ? ['color-contrast'] : undefined);
      found.push(...barriers.map((one) => `${name}, ${theme}: ${one}`));
    }
    await tab.theme('light');
  }
  isTrue(found.length === 0, found.join('\n'));
  equal(tab.problems, [], 'problems');
  await tab.close();
}

async function everyWidth({ browser, Tab, server, reference }) {
  const tab = await (await Tab.open(browser, server.url, { width: 360, height: 740 })).signedIn(server.admin);
  const wide = [];
  for (const [name, route] of views(reference)) {
    await tab.go(route);
    const width = await tab.page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 360) wide.push(`${name} is ${width} px wide`);
  }
  equal(wide, [], 'views that are wider than a phone');
  await tab.close();
}

// A viewer sees no content, and every refusal in the server's words, without an error of the page.
async function viewer({ browser, Tab, server, tokens, reference }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(tokens.viewer);
  for (const [, route] of views(reference)) await tab.go(route);
  await tab.go('#/administration/settings');
  await tab.sees('the role VIEWER may not call errata.v1.AdminService/GetSettings');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// The addresses of a view's states: a reload and the way back show the same.
async function addresses({ browser, Tab, server }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, '#/corrections?field=qty&actor=ada');
  const rows = await tab.count('.list tbody tr');
  isTrue(rows > 0 && rows < 30, `${rows} rows of ada`);
  equal(await tab.page.$eval('[name=field]', (node) => node.value), 'qty', 'the filter of the address');
  await tab.page.$eval('.list tbody .row-link', (node) => node.click());
  await tab.until('the panel', () => location.hash.includes('open='));
  const address = await tab.hash();
  await tab.page.reload();
  await tab.ready();
  await tab.until('the panel after a reload', () => document.querySelector('.panel-content h2'));
  equal(await tab.hash(), address, 'the address');
  await tab.page.goBack();
  await tab.until('the list without a panel', () => !document.querySelector('.panel'));
  await tab.page.select('.list-foot select', '25');
  await tab.ready();
  await tab.fill('actor', '');
  await tab.until('25 rows', () => document.querySelectorAll('.list tbody tr').length === 25);
  await tab.press('Next page');
  await tab.until('the next page', () => location.hash.includes('page=') && document.querySelectorAll('.list tbody tr').length < 25);
  await tab.page.goBack();
  await tab.until('the first page', () => document.querySelectorAll('.list tbody tr').length === 25);
  await tab.fill('field', 'no such field');
  await tab.sees('Nothing matches these filters.');
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// Charts have a table with the same numbers, and a sentence.
async function charts({ browser, Tab, server }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin, '#/learning');
  const named = await tab.page.$$eval('figure.chart', (nodes) => nodes.map((node) => [node.querySelector('h3').innerText, node.querySelector('figcaption').innerText.length > 10]));
  equal(named.map(([name]) => name), ['Events by day', 'Fields corrected most', 'Confidence and correction rate', 'Do examples help?'], 'charts');
  isTrue(named.every(([, has]) => has), 'a chart has no sentence');
  const report = await server.call('AnalyticsService/GetLearningAnalytics', {});
  await tab.press('Table', 'figure.chart');
  const total = await tab.page.$$eval('figure.chart table tbody tr', (rows) => rows.reduce((sum, row) => sum + Number(row.children[1].innerText), 0));
  equal(total, report.correctionsByDay.reduce((sum, day) => sum + Number(day.count || 0), 0), 'corrections in the table');
  const file = await tab.page.evaluate(async () => {
    const before = URL.createObjectURL;
    let kept = null;
    URL.createObjectURL = (blob) => { kept = blob; return before.call(URL, blob); };
    [...document.querySelectorAll('figure.chart button')].find((node) => node.innerText.includes('CSV')).click();
    URL.createObjectURL = before;
    return kept.text();
  });
  equal(file.split('\r\n').length, report.eventsByDay.length + 1, 'lines of the CSV');
  await tab.close();
}

// A thousand rows are drawn in pieces, those far from the view have no boxes, and an event draws only its row again.
async function thousandRows({ browser, Tab, server }) {
  const judgements = Array.from({ length: 1000 }, (_, at) => ({ suggest: { customerId: 'C-bulk', customerSku: `BULK-${at}`, internalSku: `INT-${at}`, confidence: 0.5 } }));
  await server.call('MappingService/BatchJudgeMappings', { judgements });
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin);
  await tab.page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.longest = Math.max(window.longest, entry.duration); })).observe({ type: 'longtask' });
  });
  const began = Date.now();
  await tab.go('#/mappings?customer=C-bulk&size=1000');
  await tab.sees('1,000 rows');
  isTrue((await tab.count('.list tbody tr')) <= 100, 'only the first rows are drawn at once');
  await tab.until('all rows, as one scrolls', () => { window.scrollTo(0, document.body.scrollHeight); return document.querySelectorAll('.list tbody tr').length === 1000; });
  const longest = await tab.page.evaluate(() => window.longest);
  console.log(`    a list of 1,000 rows after ${Date.now() - began} ms; its longest task takes ${Math.round(longest)} ms`);
  if (os.loadavg()[0] < IDLE_LOAD) isTrue(longest < TASK_MS_MAX, `a task of ${longest} ms blocks the page`);
  await tab.page.evaluate(() => window.scrollTo(0, 0));
  await tab.until('rows far from the view, without boxes', (most) => [...document.querySelectorAll('.list tbody tr')].filter((row) => row.checkVisibility({ contentVisibilityAuto: true })).length <= most, ROWS_NEAR);
  const edges = await tab.page.evaluate(() => ['.list thead tr', '.list tbody tr'].map((row) => [...document.querySelector(row).children].map((cell) => Math.round(cell.getBoundingClientRect().left))));
  equal(edges[0], edges[1], 'where the columns of the head and of a row begin');
  await tab.page.evaluate(() => document.querySelectorAll('.list tbody tr').forEach((row) => { row.dataset.old = ''; }));
  await server.call('MappingService/BatchJudgeMappings', { judgements: [{ confirm: { customerId: 'C-bulk', customerSku: 'BULK-500', internalSku: 'INT-500' } }] });
  await tab.until('one new row among the others', () => document.querySelectorAll('.list tbody tr').length === 1000 && document.querySelectorAll('.list tbody tr:not([data-old])').length === 1);
  await tab.close();
}

// In a language whose texts are in marks, every text of the page has them: none is missing from the table.
async function otherLanguage({ browser, Tab, server }) {
  const tab = await (await Tab.open(browser, server.url)).signedIn(server.admin);
  await tab.page.evaluate(async () => {
    const script = document.querySelector('script[src$="app.js"]').getAttribute('src');
    const words = await import(script.replace('app.js', 'core/words.js'));
    words.addLanguage('qq', new Proxy({}, { get: (target, text) => `«${String(text)}»` }));
    words.chooseLanguage(['qq', 'en']);
  });
  for (const route of ['#/corrections', '#/learning', '#/mappings', '#/verdicts', '#/verdicts/submit', '#/verdicts/rules', '#/reviews', '#/reviews/new', '#/explain', '#/administration', '#/administration/organisations', '#/administration/tokens', '#/administration/settings', '#/administration/retention', '#/administration/quotas', '#/administration/audit', '#/administration/dead-letters', '#/proposals/effect']) {
    await tab.go(route);
    const plain = await tab.page.$$eval('main h1, main h2, main h3, main label, main legend, main th[scope=col], main button, main .lead, main figcaption, main .tabs a, main dt', (nodes) =>
      nodes.map((node) => node.innerText.trim()).filter((text) => text !== '' && !text.includes('«') && !/^(CSV|\d+)$/.test(text)));
    equal(plain, [], `texts of ${route} that are not in the table`);
  }
  equal(tab.problems, [], 'problems');
  await tab.close();
}

// The first view of a browser that has no file of the page.
async function firstView({ browser, Tab, server }) {
  const tab = await Tab.open(browser, server.url);
  await tab.page.goto(`${server.url}healthz`);
  await tab.page.evaluate((text) => sessionStorage.setItem('errata.token', text), server.admin);
  const began = Date.now();
  await tab.page.goto(server.url);
  await tab.until('the figures', () => document.querySelectorAll('.figure-value').length >= 4 && document.querySelector('.waits'));
  const took = Date.now() - began;
  const files = await tab.page.evaluate(() => performance.getEntriesByType('resource').filter((one) => one.name.includes('/assets/')).map((one) => one.transferSize));
  console.log(`    the first view after ${took} ms, with ${files.length} files of ${files.reduce((sum, one) => sum + one, 0)} bytes`);
  if (os.loadavg()[0] < IDLE_LOAD) isTrue(took < FIRST_VIEW_MS_MAX, `the first view takes ${took} ms`);
  await tab.page.reload();
  await tab.ready();
  const again = await tab.page.evaluate(() => performance.getEntriesByType('resource').filter((one) => one.name.includes('/assets/')).reduce((sum, one) => sum + one.transferSize, 0));
  equal(again, 0, 'bytes of files that are loaded again');
  await tab.close();
}

export const cases = [
  ['the first view is fast, and its files are kept', firstView],
  ['every view is seen, without barriers, and no text runs', everyView], ['every view fits a phone', everyWidth], ['a viewer gets refusals in words', viewer],
  ['addresses keep the state of a list', addresses], ['charts have tables, CSV and sentences', charts], ['a thousand rows do not block', thousandRows], ['every text passes through the table of texts', otherLanguage],
];
