// The structured form of a review: each finding is yes, no or not judged.

import { t } from '../core/words.js';
import { h } from '../core/dom.js';
import { write } from '../core/call.js';
import { sayDone } from '../core/notes.js';
import { enumWords } from '../core/format.js';
import { form, field, listOf } from '../parts/form.js';

const DECISIONS = ['REVIEWED', 'CHANGES_REQUESTED', 'REJECTED'];

function flag(name, label) {
  return field({ name, label, kind: 'choice', options: [['yes', t('yes')], ['no', t('no')], ['', t('not judged')]], value: '' });
}

function answer(value) {
  return value === 'yes' ? true : value === 'no' ? false : undefined;
}

// `free`: run and subcategory can be typed.
export function reviewForm({ runId, itemId, subcategory, done, free }) {
  const node = form({
    submit: t('Submit review'), keep: !free,
    fields: [
      h('div', { class: 'field-row' }, field({ name: 'run_id', label: t('Run'), value: runId, required: true, attributes: { readonly: !free && runId !== '' } }),
        field({ name: 'subcategory', label: t('Subcategory'), value: subcategory, required: true }), field({ name: 'item_id', label: t('Item'), value: itemId || '' })),
      field({ name: 'decision', label: t('Decision'), kind: 'choice', required: true, options: DECISIONS.map((one) => [one, enumWords(`REVIEW_DECISION_${one}`, 'REVIEW_DECISION_')]) }),
      h('div', { class: 'field-row' }, flag('information_present', t('Information present')), flag('bad_format', t('Bad format')), flag('wrong_information', t('Wrong information')), flag('wrong_physical_dimensions', t('Wrong physical dimensions'))),
      field({ name: 'missing_spec', label: t('Missing specifications'), kind: 'area', rows: 2, help: t('One a line, or separated by commas.') }),
      field({ name: 'notes', label: t('Notes'), kind: 'area', rows: 2, help: t('At most 500 characters go into a prompt.') })],
    run: async (values) => {
      const { review } = await write('ReviewService/SubmitReview', { review: {
        runId: values.run_id, itemId: values.item_id || undefined, subcategory: values.subcategory, decision: `REVIEW_DECISION_${values.decision}`, informationPresent: answer(values.information_present), badFormat: answer(values.bad_format),
        wrongInformation: answer(values.wrong_information), wrongPhysicalDimensions: answer(values.wrong_physical_dimensions), missingSpec: listOf(values.missing_spec), notes: values.notes,
      } });
      sayDone(t('Review of {run} submitted.', { run: review.runId }), () => write('EventService/RetractEvent', { eventId: review.id, reason: t('undone on the page') }));
      done(review);
    },
  });
  return node;
}
