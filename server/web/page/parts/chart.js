// Charts as SVG, each with a sentence that describes it, its table, and its CSV. Scales begin at
// zero unless a chart states otherwise; intervals are drawn if they are known.

import { h, svg, show, newId } from '../core/dom.js';
import { t } from '../core/words.js';
import { number, percent, dateText } from '../core/format.js';
import { button, csvText, saveFile, plainTable } from './frame.js';

const WIDTH_MIN = 260;
const LEFT = 44;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;

// The frame of every chart: heading, sentence, drawing, and the table that replaces it on demand.
export function chartFrame({ title, sentence, drawing, columns, rows, name, legend }) {
  const place = h('div', { class: 'chart-place' }, drawing);
  let asTable = false;
  const toggle = button(t('Table'), () => {
    asTable = !asTable;
    toggle.setAttribute('aria-pressed', String(asTable));
    show(place, asTable ? plainTable(title, columns, rows) : drawing);
  }, { kind: 'quiet small', symbol: 'table', pressed: false });
  const save = button('CSV', () => saveFile(`${name}.csv`, csvText(columns.map((one) => one.head), rows.map((row) => columns.map((one) => (one.text || one.cell)(row))))),
    { kind: 'quiet small', symbol: 'download' });
  return h('figure', { class: 'chart' }, h('div', { class: 'chart-head' }, h('h3', null, title), h('div', { class: 'chart-tools' }, toggle, save)),
    h('figcaption', null, sentence), legend && h('div', { class: 'legend', 'aria-hidden': 'true' }, legend.map(([kind, text]) => h('span', { class: `key ${kind}` }, text))), place);
}

// A round number at or above `value` for the top of a scale.
export function roundUp(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= value);
  return step * power;
}

// Draws for the available width, and again when it changes, so that text keeps its size.
function drawnToFit(label, height, draw) {
  const place = h('div', { class: 'drawing-place' });
  let before = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.max(WIDTH_MIN, Math.floor(place.clientWidth));
    if (width === before || place.clientWidth === 0) return;
    before = width;
    show(place, svg('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'drawing', role: 'img', 'aria-label': label }, draw(width)));
  });
  observer.observe(place);
  return place;
}

function levels({ low, high, height, width, text }) {
  const area = height - TOP - BOTTOM;
  return [0, 0.5, 1].map((part) => {
    const y = TOP + area * (1 - part);
    return svg('g', null, svg('line', { x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: part ? 'grid' : 'axis' }),
      svg('text', { x: LEFT - 6, y: y + 4, class: 'tick', 'text-anchor': 'end' }, text(low + (high - low) * part)));
  });
}

function dayLabels(days, x, height, width) {
  const every = Math.max(1, Math.ceil(days.length / (width / 110)));
  return days.map((day, at) => (at % every === 0 ? svg('text', { x: x(at), y: height - 6, class: 'tick', 'text-anchor': at === 0 ? 'start' : 'middle' }, dateText(day).replace(/[ ,]*\d{4}$/, '')) : null));
}

// Stacked columns by day. `series`: [{name, kind, values}].
export function columnsByDay({ title, name, days, series, sentence }) {
  const height = 190;
  const totals = days.map((_, at) => series.reduce((sum, one) => sum + one.values[at], 0));
  const high = roundUp(Math.max(1, ...totals));
  const area = height - TOP - BOTTOM;
  const column = (at, step) => {
    let base = TOP + area;
    const parts = series.map((one) => {
      const size = area * one.values[at] / high;
      base -= size;
      return size > 0 ? svg('rect', { x: LEFT + at * step + step * 0.12, y: base, width: step * 0.76, height: size, class: one.kind, rx: Math.min(2, step / 6) }) : null;
    });
    return svg('g', { class: 'column' }, svg('rect', { x: LEFT + at * step, y: TOP, width: step, height: area, class: 'hover' }), parts,
      svg('title', null, `${dateText(days[at])}: ${series.map((one) => `${one.name} ${number(one.values[at])}`).join(', ')}`));
  };
  const draw = (width) => {
    const step = (width - LEFT - RIGHT) / days.length;
    const x = (at) => LEFT + (at + 0.5) * step - (at === 0 ? step / 2 : 0);
    return [levels({ low: 0, high, height, width, text: (value) => number(value, high < 2 ? 1 : 0) }), days.map((_, at) => column(at, step)), dayLabels(days, x, height, width)];
  };
  const rows = days.map((day, at) => ({ day, at }));
  return chartFrame({
    title, name, sentence, legend: series.length > 1 && series.map((one) => [one.kind, one.name]), rows,
    drawing: drawnToFit(`${title}. ${sentence}`, height, draw),
    columns: [{ head: t('Day'), cell: (row) => row.day }, ...series.map((one) => ({ head: one.name, number: true, cell: (row) => one.values[row.at] }))],
  });
}

// Lines by day; a value of null is a gap. `low` and `high` bound the scale. `series`: [{name, kind, values, text}].
export function linesByDay({ title, name, days, series, sentence, low = 0, high = 1, text = (value) => percent(value, 0) }) {
  const height = 190;
  const area = height - TOP - BOTTOM;
  const y = (value) => TOP + area * (1 - (value - low) / (high - low || 1));
  const line = (one, x) => {
    let path = '';
    one.values.forEach((value, at) => {
      if (value === null) return;
      path += `${at > 0 && one.values[at - 1] !== null ? 'L' : 'M'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    const dots = one.values.map((value, at) => (value === null ? null : svg('circle', { cx: x(at), cy: y(value), r: days.length > 60 ? 1.5 : 2.6, class: `dot ${one.kind}` },
      svg('title', null, `${dateText(days[at])}: ${one.name} ${text(value)}`))));
    return svg('g', null, svg('path', { d: path, class: `line ${one.kind}` }), dots);
  };
  const draw = (width) => {
    const step = (width - LEFT - RIGHT) / Math.max(1, days.length - 1);
    const x = (at) => LEFT + at * step;
    return [levels({ low, high, height, width, text }), series.map((one) => line(one, x)), dayLabels(days, x, height, width)];
  };
  const rows = days.map((day, at) => ({ day, at }));
  return chartFrame({
    title, name, sentence, rows, legend: series.length > 1 && series.map((one) => [one.kind, one.name]),
    drawing: drawnToFit(`${title}. ${sentence}`, height, draw),
    columns: [{ head: t('Day'), cell: (row) => row.day }, ...series.map((one) => ({
      head: one.name, number: true, cell: (row) => (one.values[row.at] === null ? '–' : text(one.values[row.at])), text: (row) => (one.values[row.at] === null ? '' : one.values[row.at]),
    }))],
  });
}

// Horizontal bars, largest first: {label, value, address}. Text is HTML, so that it wraps and is readable on a phone.
export function bars({ title, name, rows, sentence, unit, kind = 'right', text = number, high = Math.max(1, ...rows.map((row) => row.value)) }) {
  const drawing = h('ul', { class: 'bars' }, rows.map((row) => h('li', null,
    h('span', { class: 'bar-label' }, row.address ? h('a', { href: row.address }, row.label) : row.label),
    svg('svg', { class: 'bar-line', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, svg('rect', { x: 0, y: 0, width: 100 * row.value / high, height: 8, class: kind })),
    h('span', { class: 'bar-value' }, text(row.value)))));
  return chartFrame({
    title, name, sentence, drawing, rows,
    columns: [{ head: t('Name'), cell: (row) => row.label }, { head: unit, number: true, cell: (row) => text(row.value), text: (row) => row.value },
      ...(rows.some((row) => row.detail) ? [{ head: t('Of'), cell: (row) => row.detail || '' }] : [])],
  });
}

// Estimates with their 95% intervals, one per row, on a common scale: {label, value, low, high, detail, address}.
export function intervals({ title, name, rows, sentence, text = (value) => percent(value, 0), zero = 0, from, to }) {
  const known = rows.filter((row) => row.value !== undefined);
  const low = from ?? Math.min(zero, ...known.map((row) => row.low ?? row.value));
  const high = to ?? Math.max(zero, ...known.map((row) => row.high ?? row.value));
  const span = high - low || 1;
  const x = (value) => 100 * Math.max(0, Math.min(1, (value - low) / span));
  const isBeyond = (row) => row.value !== undefined && (row.value < low || row.value > high);
  // The estimate as a bar, or as an arrow at the edge that it is beyond.
  const mark = (row) => {
    if (!isBeyond(row)) return svg('rect', { x: x(row.value) - 0.6, y: 2, width: 1.2, height: 10, class: `point ${kindOf(row)}` });
    return svg('polygon', { points: row.value > high ? '97.6,2 100,7 97.6,12' : '2.4,2 0,7 2.4,12', class: `point ${kindOf(row)}` });
  };
  const kindOf = (row) => (row.low !== undefined && row.low > zero ? 'right' : row.high !== undefined && row.high < zero ? 'wrong' : 'even');
  const drawing = h('ul', { class: 'intervals' }, rows.map((row) => h('li', null,
    h('span', { class: 'bar-label' }, row.address ? h('a', { href: row.address }, row.label) : row.label),
    svg('svg', { class: 'interval', viewBox: '0 0 100 14', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      svg('line', { x1: x(zero), x2: x(zero), y1: 0, y2: 14, class: 'zero' }),
      row.low !== undefined && svg('rect', { x: x(row.low), y: 5.5, width: Math.max(0.4, x(row.high) - x(row.low)), height: 3, class: `range ${kindOf(row)}` }),
      row.value !== undefined && mark(row)),
    h('span', { class: 'bar-value' }, row.value === undefined ? t('too few') : text(row.value)), h('span', { class: 'bar-value muted' }, row.low !== undefined && `${text(row.low)} … ${text(row.high)}`))));
  const cell = (value) => (value === undefined ? '–' : text(value));
  return chartFrame({
    title, name, sentence: rows.some(isBeyond) ? `${sentence} ${t('An arrow is beyond the scale.')}` : sentence, drawing, rows,
    columns: [{ head: t('Name'), cell: (row) => row.label }, { head: t('Estimate'), number: true, cell: (row) => cell(row.value), text: (row) => row.value },
      { head: t('Low (95%)'), number: true, cell: (row) => cell(row.low), text: (row) => row.low }, { head: t('High (95%)'), number: true, cell: (row) => cell(row.high), text: (row) => row.high },
      ...(rows.some((row) => row.detail) ? [{ head: t('Of'), cell: (row) => row.detail || '' }] : [])],
  });
}

// A small line without axes, beside a number.
export function spark(values, label) {
  const high = Math.max(1, ...values);
  const points = values.map((value, at) => `${(at * 100 / Math.max(1, values.length - 1)).toFixed(1)},${(22 - 20 * value / high).toFixed(1)}`).join(' ');
  return svg('svg', { class: 'spark', viewBox: '0 0 100 24', preserveAspectRatio: 'none', role: 'img', 'aria-label': label, id: newId('s') }, svg('polyline', { points, class: 'line right' }));
}
