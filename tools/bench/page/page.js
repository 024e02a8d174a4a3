"use strict";
// Draws the report that the page holds as JSON. Charts are SVG made for the width at hand.
const report = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const colours = ["--s0", "--s1", "--s2", "--s3", "--s4", "--s5", "--s6", "--s7"];
const colour = (index) => `var(${colours[index % colours.length]})`;
let shown = report.sweep && report.sweep.knee_run !== null ? report.sweep.knee_run : 0;

// --- texts ---

const escapes = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"};
const text = (value) => String(value).replace(/[&<>"]/g, (c) => escapes[c]);

// Three digits, as many as are measured.
function digits(number) {
  if (number === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number))));
  return number.toFixed(Math.min(places, 3));
}

function spanParts(us) {
  if (us < 999.5) return [digits(us), "us"];
  if (us < 999500) return [digits(us / 1e3), "ms"];
  return [digits(us / 1e6), "s"];
}

// The same of a round number on an axis.
function tick(us) {
  const [number, unit] = us < 1000 ? [us, "us"] : us < 1e6 ? [us / 1e3, "ms"] : [us / 1e6, "s"];
  return `${+number.toPrecision(3)} ${unit}`;
}

const span = (us) => (us === null ? "" : spanParts(us).join(" "));
const short = (number) => (number < 1000 ? `${+number.toPrecision(3)}` : `${+(number / 1000).toPrecision(3)}k`);
const grouped = (number) => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",");
const rate = (number) => (number < 99.95 ? number.toFixed(1) : grouped(number));
const bytes = (number) => (number < 9.95e6 ? (number / 1e6).toFixed(1) : grouped(number / 1e6)) + " MB";
const plural = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;

// --- scales ---

function linear(domain, range) {
  const scale = (v) => range[0] + (v - domain[0]) / (domain[1] - domain[0] || 1) * (range[1] - range[0]);
  scale.invert = (p) => domain[0] + (p - range[0]) / (range[1] - range[0]) * (domain[1] - domain[0]);
  return scale;
}

function logarithmic(domain, range) {
  const inner = linear(domain.map(Math.log10), range);
  const scale = (v) => inner(Math.log10(Math.max(v, domain[0] / 10)));
  scale.invert = (p) => 10 ** inner.invert(p);
  return scale;
}

// Round values of a linear axis, about `count` of them.
function linearTicks(max, count) {
  const raw = max / count;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = size * ([1, 2, 5, 10].find((m) => m * size >= raw) || 10);
  const ticks = [];
  for (let v = 0; v <= max * 1.0001; v += step) ticks.push(v);
  return ticks;
}

// Round values of a logarithmic axis: few of each decade where there are many, and evenly spaced ones
// where there is not even one.
function logTicks(low, high) {
  const decades = Math.log10(high / low);
  if (decades < 0.7) {
    const even = linearTicks(high - low, 5), first = Math.ceil(low / even[1]) * even[1];
    return even.map((v) => first + v).filter((v) => v <= high);
  }
  const factors = decades > 3.5 ? [1] : decades > 1.8 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let d = Math.floor(Math.log10(low)); d <= Math.ceil(Math.log10(high)); d++) {
    for (const f of factors) {
      const v = f * 10 ** d;
      if (v >= low * 0.999 && v <= high * 1.001) ticks.push(v);
    }
  }
  return ticks;
}

// A little room around what is to be seen.
function logDomain(values) {
  const seen = values.filter((v) => v > 0);
  if (seen.length === 0) return [1, 10];
  const low = Math.min(...seen), high = Math.max(...seen);
  const room = Math.max((high / low) ** 0.06, 1.15);
  return [low / room, high * room];
}

// --- a chart ---

// plot: {name, height, legend, x, y, draw(frame), tips: [{x, text}]}; x and y: {scale, domain, ticks, format}.
function chart(id, plot) {
  const box = byId(id);
  const width = Math.max(box.clientWidth - 20, 240);
  const height = width < 480 ? Math.round(plot.height * 0.85) : plot.height;
  const frame = {left: 58, right: width - 12, top: 10, bottom: height - 24, width, height};
  const x = plot.x.scale(plot.x.domain, [frame.left, frame.right]);
  const y = plot.y.scale(plot.y.domain, [frame.bottom, frame.top]);
  let svg = "";
  for (const v of plot.y.ticks) {
    svg += `<line class="grid" x1="${frame.left}" x2="${frame.right}" y1="${y(v)}" y2="${y(v)}"/>`;
    svg += `<text x="${frame.left - 8}" y="${y(v) + 4}" text-anchor="end">${plot.y.format(v)}</text>`;
  }
  let last = -Infinity;
  for (const v of plot.x.ticks) {
    const label = plot.x.format(v), at = x(v), half = label.length * 3.4;
    svg += `<line class="axis" x1="${at}" x2="${at}" y1="${frame.bottom}" y2="${frame.bottom + 4}"/>`;
    if (at - half < last + 6) continue;
    last = at + half;
    const anchor = at + half > width ? "end" : "middle";
    svg += `<text x="${anchor === "end" ? width : at}" y="${frame.bottom + 18}" text-anchor="${anchor}">${label}</text>`;
  }
  svg += `<line class="axis" x1="${frame.left}" x2="${frame.right}" y1="${frame.bottom}" y2="${frame.bottom}"/>`;
  svg += plot.draw(x, y, frame);
  svg += `<line class="cursor" y1="${frame.top}" y2="${frame.bottom}" visibility="hidden"/>`;
  const legend = plot.legend.map(([name, paint]) => `<span><i style="background:${paint}"></i>${text(name)}</span>`);
  box.innerHTML = `<div class="legend"><span class="name">${text(plot.name)}</span>${legend.join("")}</div>` +
    `<svg height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${text(plot.name)}">${svg}</svg>`;
  watch(box, plot, x);
}

function watch(box, plot, x) {
  const svg = box.querySelector("svg"), cursor = box.querySelector(".cursor"), tip = byId("tip");
  const hide = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };
  const move = (event) => {
    const area = svg.getBoundingClientRect();
    const at = event.clientX - area.left;
    let best = null;
    for (const t of plot.tips) {
      if (best === null || Math.abs(x(t.x) - at) < Math.abs(x(best.x) - at)) best = t;
    }
    if (best === null) return;
    const px = x(best.x);
    cursor.setAttribute("x1", px);
    cursor.setAttribute("x2", px);
    cursor.setAttribute("visibility", "visible");
    tip.innerHTML = best.text;
    tip.hidden = false;
    const left = area.left + px + (px > area.width / 2 ? -tip.offsetWidth - 12 : 12);
    tip.style.left = `${Math.max(4, left) + scrollX}px`;
    tip.style.top = `${area.top + 12 + scrollY}px`;
  };
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerdown", move);
  svg.addEventListener("pointerleave", hide);
}

function curve(points, paint, extra = "") {
  if (points.length === 0) return "";
  const path = points.map(([px, py], i) => `${i ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`).join("");
  return `<path class="curve" style="stroke:${paint}" ${extra} d="${path}"/>`;
}

const dot = (px, py, paint, hollow, attributes = "") =>
  `<circle cx="${px.toFixed(1)}" cy="${py.toFixed(1)}" r="4" ${attributes} style="fill:${hollow ? "var(--sheet)" : paint};` +
  `stroke:${paint};stroke-width:2"/>`;

const row = (paint, name, value) => `<div><i style="background:${paint}"></i>${text(name)} ${value}</div>`;

// --- the charts ---

// Percentiles lie by how many nines they have: 0.9, 0.99, 0.999 at equal distances.
function drawPercentiles(run) {
  const nines = (share, count) => -Math.log10(Math.max(1 - share, 1 / Math.max(count, 10)));
  const kinds = run.calls.length > 1 ? [...run.calls, {...run.total, name: "all"}] : run.calls;
  const most = Math.max(...kinds.map((k) => k.answered), 10);
  const ticks = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999].filter((s) => 1 - s >= 0.999 / most);
  const spans = kinds.flatMap((k) => k.percentiles.map((p) => p[1]));
  const domain = logDomain(spans);
  const tips = ticks.concat([1]).map((share) => ({
    x: nines(share, most),
    text: `<b>${share === 1 ? "slowest" : `p${+(share * 100).toFixed(4)}`}</b>` + kinds.map((k, i) => {
      const at = k.percentiles.find((p) => p[0] >= share - 1e-9);
      return at ? row(colour(i), k.name, span(at[1])) : "";
    }).join(""),
  }));
  chart("percentiles", {
    name: "Latency", height: 320, legend: kinds.map((k, i) => [k.name, colour(i)]),
    x: {scale: linear, domain: [0, Math.log10(most)], ticks: ticks.map((s) => nines(s, most)),
        format: (v) => (v === 0 ? "0" : `${+((1 - 10 ** -v) * 100).toFixed(4)}%`)},
    y: {scale: logarithmic, domain, ticks: logTicks(...domain), format: tick}, tips,
    draw: (x, y) => kinds.map((k, i) =>
      curve(k.percentiles.map(([share, us]) => [x(nines(share, k.answered)), y(us)]), colour(i))).join(""),
  });
}

function drawSeries(run) {
  const series = run.series, end = Math.max(run.seconds, 0.001);
  const step = series.length > 1 ? series[1].at_seconds : end;
  const middle = (s) => Math.min(s.at_seconds + step / 2, end);
  const most = Math.max(...series.map((s) => s.rate), 1) * 1.1;
  const x = {scale: linear, domain: [0, end], ticks: linearTicks(end, 6), format: (v) => `${+v.toFixed(2)} s`};
  chart("series-rate", {
    name: "Calls answered a second", height: 150, legend: run.offered_rate === null ? [] : [["answered", colour(0)], ["offered", "var(--soft)"]],
    x, y: {scale: linear, domain: [0, most], ticks: linearTicks(most, 3), format: (v) => grouped(v)},
    tips: series.map((s) => ({x: middle(s), text: `<b>${span(s.at_seconds * 1e6)}</b>${rate(s.rate)} calls/s`})),
    draw: (sx, sy, frame) => {
      const points = series.map((s) => [sx(middle(s)), sy(s.rate)]);
      const area = points.length < 2 ? "" : `<path style="fill:${colour(0)};opacity:.12" d="M${points[0][0]} ${frame.bottom}` +
        points.map((p) => `L${p[0]} ${p[1]}`).join("") + `L${points[points.length - 1][0]} ${frame.bottom}Z"/>`;
      const offered = run.offered_rate === null || run.offered_rate > most ? "" :
        `<line class="mark" x1="${frame.left}" x2="${frame.right}" y1="${sy(run.offered_rate)}" y2="${sy(run.offered_rate)}"/>`;
      return area + offered + curve(points, colour(0)) + (points.length < 3 ? points.map((p) => dot(...p, colour(0))).join("") : "");
    },
  });
  const lines = [["max", "max_us"], ["p99", "p99_us"], ["p50", "p50_us"]];
  const full = series.filter((s) => s.rate > 0);
  const domain = logDomain(full.flatMap((s) => [s.p50_us, s.p99_us, s.max_us]));
  chart("series-latency", {
    name: "Latency", height: 220, legend: lines.map(([name], i) => [name, colour([4, 1, 0][i])]), x,
    y: {scale: logarithmic, domain, ticks: logTicks(...domain), format: tick},
    tips: full.map((s) => ({x: middle(s), text: `<b>${span(s.at_seconds * 1e6)}</b>` +
      lines.map(([name, key], i) => row(colour([4, 1, 0][i]), name, span(s[key]))).join("")})),
    draw: (sx, sy) => lines.map(([, key], i) => {
      const points = full.map((s) => [sx(middle(s)), sy(s[key])]);
      return curve(points, colour([4, 1, 0][i])) + (points.length < 3 ? points.map((p) => dot(...p, colour([4, 1, 0][i]))).join("") : "");
    }).join(""),
  });
}

function drawHistogram(run) {
  const total = run.histogram.reduce((sum, b) => sum + b[2], 0) || 1;
  const domain = logDomain(run.histogram.flatMap((b) => [b[0], b[1]]));
  // Buckets are of different widths: what is drawn is the share of calls by decade of time.
  const height = (b) => b[2] / total / Math.log10(b[1] / Math.max(b[0], 1e-3));
  const most = Math.max(...run.histogram.map(height), 1e-9) * 1.08;
  const latency = run.total.latency_us;
  let below = 0;
  chart("histogram", {
    name: "Share of calls by how long they took", height: 220, legend: [],
    x: {scale: logarithmic, domain, ticks: logTicks(...domain), format: tick},
    y: {scale: linear, domain: [0, most], ticks: [], format: () => ""},
    tips: run.histogram.map((b) => {
      below += b[2];
      return {x: Math.sqrt(Math.max(b[0], 1e-3) * b[1]), text: `<b>${span(b[0])} to ${span(b[1])}</b>${plural(b[2], "call")}<br>` +
        `${+(below / total * 100).toFixed(3)}% are not slower`};
    }),
    draw: (x, y, frame) => run.histogram.map((b) => {
      const left = x(b[0]), right = x(b[1]);
      return `<rect class="bar" style="fill:${colour(0)}" x="${left.toFixed(1)}" width="${Math.max(right - left - 0.5, 0.8).toFixed(1)}"` +
        ` y="${y(height(b)).toFixed(1)}" height="${Math.max(frame.bottom - y(height(b)), 0.6).toFixed(1)}"/>`;
    }).join("") + [["p50", latency.p50], ["p99", latency.p99], ["p99.9", latency.p99_9]].map(([name, us], i) =>
      `<line class="mark" x1="${x(us)}" x2="${x(us)}" y1="${frame.top + 4 + 14 * i}" y2="${frame.bottom}"/>` +
      `<text class="mark-text" x="${x(us) + (x(us) > frame.right - 50 ? -5 : 5)}" y="${frame.top + 14 + 14 * i}"` +
      ` text-anchor="${x(us) > frame.right - 50 ? "end" : "start"}">${name}</text>`).join(""),
  });
}

// --- the sweep ---

// Runs by rate; of a rate that was tried twice, the run that decided is on the line.
function sweepPoints() {
  const points = report.runs.map((run, i) => ({run, index: i, sustained: report.sweep.sustained[i] === true}))
    .filter((p) => p.run.answered > 0);
  const best = new Map();
  for (const p of points) {
    const other = best.get(p.run.offered_rate);
    if (!other || p.sustained || !other.sustained) best.set(p.run.offered_rate, p);
  }
  return {points, line: [...best.values()].sort((a, b) => a.run.offered_rate - b.run.offered_rate)};
}

function tipOf(p) {
  const latency = p.run.total.latency_us;
  return `<b>${rate(p.run.offered_rate)} calls/s offered</b>${rate(p.run.rate)} answered, ` +
    (p.sustained ? "sustained" : p.run.valid ? "not sustained" : "invalid") +
    row(colour(0), "p50", span(latency.p50)) + row(colour(1), "p99", span(latency.p99)) +
    row(colour(4), "p99.9", span(latency.p99_9)) +
    (p.run.server ? `<div>${span(p.run.server.cpu_us_per_call)} of server CPU a call</div>` : "");
}

function drawSweep() {
  const sweep = report.sweep, {points, line} = sweepPoints();
  if (points.length === 0) return;
  const lines = [["p50", "p50", 0], ["p99", "p99", 1], ["p99.9", "p99_9", 4]];
  const spans = points.flatMap((p) => lines.map(([, key]) => p.run.total.latency_us[key]));
  const domain = logDomain(sweep.p99_limit_us === null ? spans : [...spans, sweep.p99_limit_us]);
  const rates = logDomain(points.map((p) => p.run.offered_rate));
  const x = {scale: logarithmic, domain: rates, ticks: logTicks(...rates), format: (v) => `${short(v)}/s`};
  const tips = line.map((p) => ({x: p.run.offered_rate, text: tipOf(p)}));
  const knee = (sx, frame, label) => {
    if (sweep.knee_rate === null) return "";
    const at = sx(sweep.knee_rate), end = at > frame.left + 130; // the space after it is crowded
    return `<line class="mark" x1="${at}" x2="${at}" y1="${frame.top}" y2="${frame.bottom}"/>` + (!label ? "" :
      `<text class="mark-text" x="${at + (end ? -6 : 6)}" y="${frame.top + 10}" text-anchor="${end ? "end" : "start"}">knee ${rate(sweep.knee_rate)}/s</text>`);
  };
  chart("sweep-latency", {
    name: "Latency by offered rate", height: 300, legend: lines.map(([name, , i]) => [name, colour(i)]), x, tips,
    y: {scale: logarithmic, domain, ticks: logTicks(...domain), format: tick},
    draw: (sx, sy, frame) => (sweep.p99_limit_us === null ? "" :
      `<line class="limit" x1="${frame.left}" x2="${frame.right}" y1="${sy(sweep.p99_limit_us)}" y2="${sy(sweep.p99_limit_us)}"/>` +
      `<text class="limit-text" x="${frame.left + 6}" y="${sy(sweep.p99_limit_us) - 5}">p99 limit ${span(sweep.p99_limit_us)}</text>`) +
      knee(sx, frame, true) + lines.map(([, key, i]) =>
        curve(line.map((p) => [sx(p.run.offered_rate), sy(p.run.total.latency_us[key])]), colour(i)) +
        points.map((p) => dot(sx(p.run.offered_rate), sy(p.run.total.latency_us[key]), colour(i), !p.sustained,
                              `class="dot" data-run="${p.index}"`)).join("")).join(""),
  });
  const most = Math.max(...points.map((p) => Math.max(p.run.rate, p.run.offered_rate)));
  const answered = logDomain(points.map((p) => p.run.rate).concat([most]));
  chart("sweep-rate", {
    name: "Calls answered a second", height: 180, legend: [["answered", colour(0)], ["offered", "var(--soft)"]], x, tips,
    y: {scale: logarithmic, domain: answered, ticks: logTicks(...answered), format: short},
    draw: (sx, sy, frame) => knee(sx, frame, false) +
      curve(line.map((p) => [sx(p.run.offered_rate), sy(p.run.offered_rate)]), "var(--soft)", 'stroke-dasharray="3 4"') +
      curve(line.map((p) => [sx(p.run.offered_rate), sy(p.run.rate)]), colour(0)) +
      points.map((p) => dot(sx(p.run.offered_rate), sy(p.run.rate), colour(0), !p.sustained, `class="dot" data-run="${p.index}"`)).join(""),
  });
  for (const point of document.querySelectorAll(".dot")) {
    point.addEventListener("click", () => { shown = Number(point.dataset.run); draw(); });
  }
}

// --- tables and texts ---

function fillHead() {
  const s = report.settings, sweep = report.sweep;
  const mix = s.mix.map((m) => m.name).join(", ");
  byId("title").textContent = report.title || (sweep ? `${mix}: where it ends` : mix);
  document.title = `${byId("title").textContent} - errata-bench`;
  byId("verdict").textContent = report.valid ? "valid" : "INVALID";
  byId("verdict").className = report.valid ? "valid" : "invalid";
  const load = sweep ? `open loop from ${rate(sweep.from)} to ${rate(sweep.to)} calls/s` :
    s.loop === "open" ? `open loop, ${rate(s.rate)} calls/s` : `closed loop, ${plural(s.in_flight, "call")} in flight on each`;
  byId("lead").textContent = `${plural(s.connections, "connection")} to ${s.server}, ${load}. ${report.started_at.replace("T", " ").replace("Z", " UTC")}`;
  byId("sentences").innerHTML = report.problems.map((p) => `<li class="problem">${text(p)}</li>`).join("") +
    report.notes.map((n) => `<li class="note">${text(n)}</li>`).join("");
}

function figure(name, value, unit) {
  return `<div class="figure"><em>${text(name)}</em><b>${text(value)}<span>${text(unit)}</span></b></div>`;
}

function fillFigures(run) {
  const latency = run.total.latency_us;
  const figures = [figure(report.sweep ? (shown === report.sweep.knee_run ? "knee" : "this run") : "answered", rate(report.sweep ? run.offered_rate : run.rate), "calls/s")];
  for (const [name, key] of [["p50", "p50"], ["p99", "p99"], ["p99.9", "p99_9"], ["slowest", "max"]]) {
    figures.push(figure(name, ...spanParts(latency[key])));
  }
  if (run.server) figures.push(figure("server CPU a call", ...spanParts(run.server.cpu_us_per_call)));
  byId("figures").innerHTML = figures.join("");
}

function fillCalls(run) {
  const head = ["call", "calls", "calls/s", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max", "bytes", "wrong"];
  const kinds = run.calls.length > 1 ? [...run.calls, {...run.total, name: "all", isTotal: true}] : run.calls;
  byId("calls").innerHTML = `<thead><tr>${head.map((h) => `<th>${h}</th>`).join("")}</tr></thead><tbody>` + kinds.map((k, i) => {
    const l = k.latency_us, wrong = k.started - k.right;
    const cells = [grouped(k.answered), rate(k.rate), ...[l.mean, l.p50, l.p90, l.p99, l.p99_9, l.p99_99, l.max].map(span), grouped(k.reply_bytes)];
    return `<tr${k.isTotal ? ' class="total"' : ""}><td><i style="background:${colour(i)}"></i>${text(k.name)}</td>` +
      cells.map((c) => `<td>${c}</td>`).join("") + `<td${wrong > 0 ? ' class="wrong"' : ""}>${grouped(wrong)}</td></tr>`;
  }).join("") + "</tbody>";
}

function fillCosts(run) {
  const sides = [["server", run.server], ["client", run.client]].filter(([, u]) => u !== null);
  const share = (u, key) => u.user_us_per_call + u.system_us_per_call === 0 ? "" :
    `${Math.round(u[key] / (u.user_us_per_call + u.system_us_per_call) * 100)}%`;
  const memory = (u, key) => (u[key] === undefined ? "" : bytes(u[key]));
  const rows = [
    ["CPU a call", (u) => span(u.cpu_us_per_call)], ["in user mode", (u) => share(u, "user_us_per_call")],
    ["in the kernel", (u) => share(u, "system_us_per_call")], ["of one core", (u) => `${Math.round(u.cpu_percent)}%`],
    ["context switches a call", (u) => digits(u.context_switches_per_call)],
    ["memory of its own", (u) => memory(u, "rss_anon_bytes")], ["memory of files", (u) => memory(u, "rss_file_bytes")],
    ["most memory", (u) => memory(u, "rss_peak_bytes")],
  ];
  byId("costs").innerHTML = `<thead><tr><th></th>${sides.map(([name]) => `<th>${name}</th>`).join("")}</tr></thead><tbody>` +
    rows.map(([name, value]) => `<tr><td>${name}</td>${sides.map(([, u]) => `<td>${value(u)}</td>`).join("")}</tr>`).join("") +
    (run.offered_rate === null ? "" : `<tr><td>late by, p99</td>${sides.map(([name]) => `<td>${name === "server" ? "" : span(run.lag_us.p99)}</td>`).join("")}</tr>`) +
    "</tbody>";
}

function facts(id, rows) {
  byId(id).innerHTML = rows.filter(([, v]) => v !== null && v !== undefined && v !== "").map(([k, v]) => `<tr><td>${k}</td><td>${text(v)}</td></tr>`).join("");
}

function fillFacts() {
  const s = report.settings, e = report.environment;
  facts("settings", [
    ["server", s.server], ["protocol", s.tls ? "TLS" : "cleartext"], ["loop", s.loop], ["rate", s.rate === null ? null : `${rate(s.rate)} calls/s`],
    ["arrival", s.loop === "open" ? s.arrival : null], ["in flight", s.in_flight === null ? null : `${s.in_flight} on each connection`],
    ["connections", grouped(s.connections)], ["tokens", grouped(s.tokens)],
    ["duration", s.duration_seconds === null ? null : `${s.duration_seconds} s${report.sweep ? " a run" : ""}`],
    ["calls", s.calls_limit === null ? null : grouped(s.calls_limit)], ["warm-up", `${s.warm_up_seconds} s`], ["seed", s.seed],
    ["header fields", s.headers], ["pinned to core", s.cpu],
    ["knee", report.sweep ? `the highest rate of which 99% was answered, with p99 at most ${report.sweep.p99_limit_us === null ? "ten times that of the lowest rate" : span(report.sweep.p99_limit_us)}` : null],
  ]);
  facts("environment", [
    ["CPU", e.cpu], ["cores", e.cores], ["memory", e.memory_bytes ? `${(e.memory_bytes / 2 ** 30).toFixed(1)} GiB` : null],
    ["kernel", e.kernel], ["system", e.system], ["errata-bench", report.version], ["started", report.started_at],
  ]);
  byId("mix").innerHTML = s.mix.map((m) => {
    const sum = s.mix.reduce((all, other) => all + other.weight, 0);
    const head = `${text(m.name)} <span>${text(m.method)}, ${+(m.weight / sum * 100).toFixed(1)}%</span>`;
    return m.template === null ? `<details><summary>${head}</summary><pre>bodies made beforehand</pre></details>` :
      `<details${s.mix.length === 1 ? " open" : ""}><summary>${head}</summary><pre>${text(m.template)}</pre></details>`;
  }).join("");
  byId("method").textContent = s.loop === "open"
    ? "Open loop: calls start by a schedule, and their time counts from when they were due, so that a stall of the server is not hidden. Every answer was checked."
    : "Closed loop: each answer starts the next call, so a slow server is asked less often. Every answer was checked.";
}

function draw() {
  const run = report.runs[shown];
  if (!run) return;
  fillFigures(run);
  if (report.sweep) {
    byId("sweep-section").hidden = false;
    byId("sweep-hint").textContent = "Each point is a run; filled ones were sustained. Choose a point to see its run below.";
    byId("run-name").textContent = `at ${rate(run.offered_rate)} calls/s`;
    drawSweep();
  }
  drawPercentiles(run);
  fillCalls(run);
  drawSeries(run);
  drawHistogram(run);
  fillCosts(run);
}

fillHead();
fillFacts();
draw();
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
