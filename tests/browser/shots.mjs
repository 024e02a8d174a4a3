// shots.mjs BIN DATA OUT [NAME]: pictures of every view of the server on DATA, light and dark, at three widths.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server } from './server.mjs';
import { Tab } from './page.mjs';
import { launch } from './browser.mjs';

const WIDTHS = [360, 768, 1440];
const THEMES = ['light', 'dark'];

// Views of what tools/demo-all makes: [name, route, selector of what is pressed first].
async function views(server) {
  const layouts = (await server.call('AnalyticsService/ListLayoutCoverage', { order: 'LAYOUT_COVERAGE_ORDER_MOST_SEEN', pageSize: 200 })).layoutStats;
  const layout = layouts.sort((a, b) => Number(b.exampleCount || 0) - Number(a.exampleCount || 0))[0].layoutFingerprint;
  const { exposureRef } = await server.call('PromptService/GetExamples', { layoutFingerprint: layout, maxExamples: 2 });
  const { turns: [turn] } = await server.call('TurnService/ListTurns', { status: 'TURN_STATUS_ACCEPTED', pageSize: 1 });
  const row = '.list tbody .row-link';
  return [
    ['overview', '#/overview'], ['corrections', '#/corrections'], ['correction', '#/corrections', row], ['learning', '#/learning?days=90'], ['layouts', '#/learning/layouts'], ['layout', `#/learning/${layout}`],
    ['families', '#/learning/families'], ['mappings', '#/mappings'], ['mapping', '#/mappings?status=SUGGESTED', row], ['verdicts', '#/verdicts?days=90'], ['verdict-form', '#/verdicts/submit'], ['rules', '#/verdicts/rules'],
    ['rule', '#/verdicts/rules', row], ['weights', '#/verdicts/weights'], ['weight', '#/verdicts/weights', row], ['found-rules', '#/verdicts/find'], ['queue', '#/reviews'], ['run', '#/reviews', row], ['reviews', '#/reviews/all'], ['review', '#/reviews/all', row],
    ['review-form', '#/reviews/new'], ['agents', '#/reviews/agent'], ['agent-card', '#/reviews/agent?subcategory=drills'], ['wording', '#/reviews/wording'], ['draft', '#/reviews/wording?open=2'], ['proposals', '#/proposals'], ['proposal', '#/proposals', row], ['guidelines', '#/proposals/guidelines'], ['effect', '#/proposals/effect'], ['guideline', '#/proposals/effect', row], ['agent-prompt', '#/proposals/prompt'], ['sessions', '#/sessions'], ['turn', '#/sessions?status=REJECTED', row], ['satisfaction', '#/sessions/satisfaction'], ['strategies', `#/sessions/strategies?q=${encodeURIComponent(turn.query)}`], ['detector', '#/sessions/detector'], ['explain', '#/explain'],
    ['explained', `#/explain?ref=${encodeURIComponent(exposureRef)}`], ['server', '#/administration'], ['organisations', '#/administration/organisations'], ['organisation', '#/administration/organisations', row], ['tokens', '#/administration/tokens'], ['settings', '#/administration/settings'], ['retention', '#/administration/retention'],
    ['quotas', '#/administration/quotas'], ['quota', '#/administration/quotas', row], ['audit', '#/administration/audit'], ['change', '#/administration/audit', row], ['dead-letters', '#/administration/dead-letters'],
    ['log', '#/administration/log'], ['event', '#/administration/log', row],
  ];
}

async function shoot(tab, [name, route, press], folder, width, theme) {
  await tab.go('#/none');
  await tab.go(route);
  if (press) {
    await tab.page.$eval(press, (node) => node.click());
    await tab.until('the panel', () => document.querySelector('.panel-content h2'));
    await tab.ready();
  }
  await new Promise((resolve) => setTimeout(resolve, 60));
  await tab.page.screenshot({ path: path.join(folder, `${name}-${width}-${theme}.png`), fullPage: !press });
}

async function main([bin, data, folder, only = '']) {
  fs.mkdirSync(folder, { recursive: true });
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'errata-chromium-'));
  const server = await new Server(bin, data).start();
  const browser = await launch(profile);
  try {
    const all = (await views(server)).filter(([name]) => name.includes(only));
    for (const width of WIDTHS) {
      const tab = await Tab.open(browser, server.url, { width, height: width < 500 ? 740 : 900 });
      for (const theme of THEMES) {
        await tab.theme(theme);
        if (!only) {
          await tab.page.goto(server.url);
          await tab.ready();
          await tab.page.screenshot({ path: path.join(folder, `sign-in-${width}-${theme}.png`) });
        }
        await tab.signedIn(server.admin);
        for (const view of all) await shoot(tab, view, folder, width, theme);
        await tab.page.evaluate(() => sessionStorage.clear());
      }
      await tab.close();
    }
    console.log(`${all.length + (only ? 0 : 1)} views in ${folder}`);
  } finally {
    await browser.close();
    fs.rmSync(profile, { recursive: true, force: true });
    await server.stop();
  }
}

await main(process.argv.slice(2));
