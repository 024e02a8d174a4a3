// Every view of the page, as a route, with what must be seen in it. Tests and screenshots go through the same list.
import { HOSTILE, LAYOUT } from './seed.mjs';

const HOSTILE_LAYOUT = encodeURIComponent(HOSTILE);

// Views of a filled server: [name, route, text that is seen].
export function views(reference) {
  return [
    ['overview', '#/overview', 'What waits for a person'],
    ['corrections', '#/corrections', 'qty'],
    ['corrections-hostile', `#/corrections?document=${encodeURIComponent(HOSTILE)}`, HOSTILE],
    ['learning', '#/learning', 'Fields corrected most'],
    ['layouts', '#/learning/layouts', LAYOUT],
    ['layout', `#/learning/${LAYOUT}`, 'Examples, as a prompt gets them'],
    ['layout-hostile', `#/learning/${HOSTILE_LAYOUT}`, HOSTILE],
    ['families', '#/learning/families', 'Family'],
    ['mappings', '#/mappings', 'SKU-01'],
    ['verdicts', '#/verdicts', 'Indicators that are missed most'],
    ['verdict-form', '#/verdicts/submit', 'It really is'],
    ['rules', '#/verdicts/rules', 'font_mismatch'],
    ['weights', '#/verdicts/weights', 'Suggested'],
    ['found-rules', '#/verdicts/find', 'No search yet.'],
    ['queue', '#/reviews', 'run-10'],
    ['reviews', '#/reviews/all', 'run-0'],
    ['review-form', '#/reviews/new', 'Missing specifications'],
    ['agents', '#/reviews/agent', 'drills'],
    ['agent-card', '#/reviews/agent?subcategory=drills', 'of the last 5 reviews'],
    ['agent-card-hostile', `#/reviews/agent?subcategory=${HOSTILE_LAYOUT}`, HOSTILE],
    ['wording', '#/reviews/wording', 'draft'],
    ['proposals', '#/proposals', HOSTILE],
    ['guidelines', '#/proposals/guidelines', 'No guideline is in effect.'],
    ['effect', '#/proposals/effect', 'No guideline is in effect.'],
    ['agent-prompt', `#/proposals/prompt?agent=${HOSTILE_LAYOUT}`, '0 guidelines are in it.'],
    ['sessions', `#/sessions?session=${HOSTILE_LAYOUT}`, HOSTILE],
    ['satisfaction', '#/sessions/satisfaction', 'Turns by intent'],
    ['strategies', `#/sessions/strategies?q=${HOSTILE_LAYOUT}`, HOSTILE],
    ['detector', '#/sessions/detector', 'No turn was judged yet.'],
    ['explain', '#/explain', 'Paste a reference.'],
    ['explained', `#/explain?ref=${encodeURIComponent(reference)}`, 'artifacts were in it'],
    ['server', '#/administration', 'Calls by method'],
    ['organisations', '#/administration/organisations', 'default'],
    ['tokens', '#/administration/tokens', HOSTILE],
    ['settings', '#/administration/settings', 'Members that prompts never show'],
    ['retention', '#/administration/retention', 'Kept forever.'],
    ['quotas', '#/administration/quotas', 'the organisation'],
    ['audit', '#/administration/audit', 'token created'],
    ['dead-letters', '#/administration/dead-letters', 'No dead letters.'],
    ['log', '#/administration/log', 'correction or judgement'],
  ];
}

// Lists whose first row opens a panel.
export const PANELS = ['corrections', 'corrections-hostile', 'layouts', 'families', 'mappings', 'rules', 'weights', 'queue', 'reviews', 'wording', 'proposals', 'sessions', 'organisations', 'quotas', 'audit', 'log'];
