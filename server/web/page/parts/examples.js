// Examples of a layout exactly as a prompt gets them, and the actions on its family.

import { h, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { href } from '../core/route.js';
import { read, write } from '../core/call.js';
import { hasRole } from '../core/session.js';
import { sayDone } from '../core/notes.js';
import { enumWords, prettyJson, when, signed, shortId } from '../core/format.js';
import { badge, empty, button, details } from './frame.js';
import { form, field } from './form.js';

function exampleCard(example, at) {
  return h('article', { class: 'card example' },
    h('div', { class: 'actions' }, h('h3', null, t('Example {n}', { n: at + 1 })), badge(enumWords(example.matchLevel, 'MATCH_LEVEL_')), example.partial && badge(t('partial')), example.reduced && badge(t('reduced')),
      h('span', { class: 'spring' }), h('a', { href: href('corrections', { open: example.id }) }, t('correction')), h('span', { class: 'muted' }, when(example.createdAt))),
    h('div', { class: 'pair' }, h('pre', { class: 'snippet', tabindex: '0' }, example.inputSnippet || t('(no text)')), h('pre', { class: 'snippet', tabindex: '0' }, prettyJson(example.output || ''))),
    example.confidenceImprovement !== undefined && h('p', { class: 'muted' }, t('Extractions with this example were {change} more confident than those without any.', { change: signed(example.confidenceImprovement) })));
}

// The examples of a request of GetExamples.
export async function examplesOf(request) {
  const reply = await read('PromptService/GetExamples', { ...request, maxExamples: 3, view: 'EXAMPLE_VIEW_BOTH' });
  const examples = reply.examples || [];
  if (reply.withheld === 'WITHHELD_SCAN') return empty(t('Examples are withheld.'), t('Documents of this layout are scans without text: their corrections would not fit each other.'));
  if (!examples.length) return empty(t('No examples yet.'), t('A prompt of this layout gets none. The next correction of one of its documents is the first.'));
  return h('div', { class: 'section' }, examples.map(exampleCard), reply.hintExamplesJson && details(t('The text of {{hint_examples}}'), h('pre', { class: 'code', tabindex: '0' }, reply.hintExamplesJson)),
    reply.exposureRef && h('p', null, h('a', { href: href('explain', { ref: reply.exposureRef }) }, t('Explain this answer'))));
}

// Merging a family into another one, and taking a merge back.
export function familyActions(family) {
  if (!hasRole('REVIEWER', 'ADMIN')) return null;
  const place = h('div', { class: 'actions' });
  const merge = () => show(place, form({
    submit: t('Merge'), cancel: reset,
    fields: [field({ name: 'into_layout_family_id', label: t('Merge into the family'), required: true, help: t('Its id. The merge can be taken back.') })],
    run: async (values) => {
      await write('LayoutService/MergeFamilies', { fromLayoutFamilyId: family.id, intoLayoutFamilyId: values.into_layout_family_id });
      sayDone(t('Merged.'), () => write('LayoutService/SplitFamily', { layoutFamilyId: family.id }));
      reset();
    },
  }));
  const reset = () => show(place, button(t('Merge into another family'), merge), (family.mergedFamilyIds || []).map((id) => button(t('Take back the merge of {id}', { id: shortId(id) }), async () => {
    await write('LayoutService/SplitFamily', { layoutFamilyId: id });
    sayDone(t('Taken back.'), () => write('LayoutService/MergeFamilies', { fromLayoutFamilyId: id, intoLayoutFamilyId: family.id }));
  })));
  reset();
  return place;
}

