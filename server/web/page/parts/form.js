// Forms: labelled fields, errors beside them, a button that shows progress. Input is kept until it was stored.

import { h, newId, show } from '../core/dom.js';
import { t } from '../core/words.js';
import { errorBox } from './frame.js';

function labelled(label, control, help) {
  const id = newId('f');
  const helpId = help ? `${id}h` : '';
  control.id = id;
  if (help) control.setAttribute('aria-describedby', helpId);
  return h('div', { class: 'field' }, h('label', { for: id }, label), control, help && h('p', { class: 'help', id: helpId }, help));
}

// A field: {name, label, kind, value, help, required, options, rows, ...attributes}.
export function field(spec) {
  const { name, label, kind = 'text', value = '', help, required, options, rows, attributes } = spec;
  const common = { name, required, autocomplete: 'off', spellcheck: kind === 'area' ? 'true' : 'false', ...attributes };
  if (kind === 'area') return labelled(label, h('textarea', { ...common, rows: rows || 3, value }), help);
  if (kind === 'select') {
    return labelled(label, h('select', { name, required, ...attributes }, options.map(([key, text]) =>
      h('option', { value: key, selected: key === value }, text))), help);
  }
  if (kind === 'check') {
    const id = newId('f');
    return h('div', { class: 'field check' }, h('input', { type: 'checkbox', id, name, checked: value === true, ...attributes }), h('label', { for: id }, label),
      help && h('p', { class: 'help' }, help));
  }
  if (kind === 'choice') return choice(spec);
  return labelled(label, h('input', { ...common, type: kind, value }), help);
}

// One of a few values, as buttons in a row.
function choice({ name, label, value = '', help, options, required }) {
  return h('fieldset', { class: 'field choice' }, h('legend', null, label),
    h('div', { class: 'choices' }, options.map(([key, text]) => {
      const id = newId('f');
      return [h('input', { type: 'radio', id, name, value: key, checked: key === value, required }), h('label', { for: id }, text)];
    })), help && h('p', { class: 'help' }, help));
}

// The values of a form by name: text, or true and false of a check box.
export function valuesOf(form) {
  const values = {};
  for (const control of form.elements) {
    if (!control.name) continue;
    if (control.type === 'checkbox') values[control.name] = control.checked;
    else if (control.type === 'radio') { if (control.checked) values[control.name] = control.value; }
    else values[control.name] = control.value.trim();
  }
  return values;
}

// The control of a path: the one that is named as its innermost part that has one.
function controlOf(form, path) {
  const names = path.replace(/\[\d+\]/g, '').split('.').reverse();
  return names.map((name) => form.elements[name]).find((one) => one && one.closest);
}

// Shows the server's errors beside their fields; true if every error has a field.
function markFields(form, error) {
  form.querySelectorAll('.field-error').forEach((one) => one.remove());
  form.querySelectorAll('[aria-invalid]').forEach((one) => one.removeAttribute('aria-invalid'));
  let all = (error.fields || []).length > 0;
  for (const { field: path, description } of error.fields || []) {
    const control = controlOf(form, path);
    if (!control) { all = false; continue; }
    control.setAttribute('aria-invalid', 'true');
    control.closest('.field').append(h('p', { class: 'field-error' }, description));
  }
  return all;
}

// A form that calls `run` with its values. `run` may throw: the error is shown in the form.
export function form({ fields, submit, run, kind = '', cancel, keep = false, extra }) {
  const problem = h('div', { class: 'form-problem' });
  const send = h('button', { class: `button primary ${kind}`, type: 'submit' }, submit);
  const node = h('form', { class: 'form', novalidate: false }, fields, problem,
    h('div', { class: 'actions' }, send, extra, cancel && h('button', { class: 'button', type: 'button', on: { click: cancel } }, t('Cancel'))));
  let busy = false;
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    send.setAttribute('aria-busy', 'true');
    show(problem);
    markFields(node, {});
    try {
      await run(valuesOf(node), node);
      if (!keep) node.reset();
    } catch (error) {
      markFields(node, error);
      show(problem, errorBox(error));
      const bad = node.querySelector('[aria-invalid]');
      if (bad) bad.focus();
    } finally {
      busy = false;
      send.removeAttribute('aria-busy');
    }
  });
  node.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) node.requestSubmit();
    if (event.key === 'Escape' && cancel) { event.stopPropagation(); cancel(); }
  });
  return node;
}

// Lines or comma-separated words as a list.
export function listOf(text) {
  return text.split(/[\n,]/).map((one) => one.trim()).filter(Boolean);
}
