// Draws the charts that the page's data describe. Everything they show is computed before; here is only ink.
'use strict';

const DATA = JSON.parse(document.getElementById('data').textContent);
const AXIS_NAMES = { step: 'training steps', minutes: 'minutes', games: 'self-play games' };
const page = { axis: 'step', redraw: [] };

/** A colour of the page's style, as it is now. */
function ink(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name === 'ink' ? 'series-ink' : name}`).trim();
}

/** The page's own text colours. */
function tone(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A number in few characters. */
function short(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  const size = Math.abs(x);
  if (size >= 1e6) return `${+(x / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(x / 1e3).toPrecision(3)}k`;
  if (size > 0 && size < 1e-3) return x.toExponential(1).replace('e-', 'e−');
  return String(+x.toPrecision(4));
}

/** How many values there are. */
function known(values) {
  return values.filter((value) => value !== null).length;
}

/** A value for the legend: where the pointer is, else the newest. */
function legend(values, text) {
  return (u, _, __, at) => {
    const found = u.cursor.idx === null || u.cursor.idx === undefined ? values.findLast((value) => value !== null) : values[at];
    return found === null || found === undefined ? '–' : text(found);
  };
}

/** Axes of a plot: what is common to all. */
function axes(xLabel) {
  const common = { stroke: tone('muted'), font: '12px system-ui, sans-serif', ticks: { stroke: tone('line'), width: 1, size: 4 }, grid: { stroke: tone('grid'), width: 1 } };
  return [
    { ...common, label: xLabel, labelFont: '12px system-ui, sans-serif', labelSize: 20, labelGap: 0, size: 30, space: 56, values: (_, ticks) => ticks.map(short) },
    { ...common, size: 46, gap: 4, values: (_, ticks) => ticks.map(short) },
  ];
}

/** The range of values: from zero, unless that would flatten the curve. */
function range(_, low, high) {
  if (low === null || high === null || low === undefined) return [0, 1];
  if (low >= 0 && low <= 0.6 * high) return [0, high * 1.06 || 1];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** Makes a plot in an element and keeps it as wide as that. */
function plot(element, height, options, data) {
  const width = () => Math.max(200, element.clientWidth);
  const made = new uPlot({ width: width(), height, ...options }, data, element);
  const watch = new ResizeObserver(() => {
    if (made.width !== width()) made.setSize({ width: width(), height });
  });
  watch.observe(element);
  return () => {
    watch.disconnect();
    made.destroy();
  };
}

/** Draws anew when the axis or the light changes. */
function keep(draw) {
  let drop = draw();
  page.redraw.push(() => {
    if (drop) drop();
    drop = draw();
  });
}

const CURSOR = { sync: { key: 'run' }, drag: { x: true, y: false }, points: { size: 7 } };

function lines(element, chart) {
  const x = DATA.axes[page.axis];
  const series = chart.lines.map((line) => ({
    label: line.label,
    stroke: ink(line.colour),
    width: line.dashed ? 1.25 : 1.75,
    dash: line.dashed ? [5, 4] : undefined,
    points: { show: known(line.values) < 12, size: 5 },
    spanGaps: true,
    value: legend(line.values, short),
  }));
  const options = {
    scales: { x: { time: false }, y: { range } },
    axes: axes(AXIS_NAMES[page.axis]),
    series: [{ label: AXIS_NAMES[page.axis], value: legend(x, short) }, ...series],
    cursor: CURSOR,
  };
  return plot(element, 210, options, [x, ...chart.lines.map((line) => line.values)]);
}

/** Layers upon each other: the topmost is drawn first and the others over it. */
function shares(element, chart) {
  const x = DATA.axes[page.axis];
  const sums = x.map(() => 0);
  const stacked = chart.lines.map((line) => line.values.map((value, i) => (value === null ? null : (sums[i] += value))));
  const order = chart.lines.map((_, i) => i).reverse();
  const series = order.map((i) => ({
    label: chart.lines[i].label,
    stroke: ink(chart.lines[i].colour),
    fill: ink(chart.lines[i].colour),
    width: 0,
    points: { show: known(chart.lines[i].values) < 3, size: 8 },
    spanGaps: true,
    value: legend(chart.lines[i].values, (value) => `${short(value)} %`),
  }));
  const options = {
    scales: { x: { time: false }, y: { range: [0, 100] } },
    axes: axes(AXIS_NAMES[page.axis]),
    series: [{ label: AXIS_NAMES[page.axis], value: legend(x, short) }, ...series],
    cursor: CURSOR,
  };
  return plot(element, 210, options, [x, ...order.map((i) => stacked[i])]);
}

function bars(element, chart) {
  const x = chart.lines[0].values.map((_, i) => (i + 0.5) * chart.width);
  const sums = x.map(() => 0);
  const stacked = chart.lines.map((line) => line.values.map((value, i) => (sums[i] += value)));
  const order = chart.lines.map((_, i) => i).reverse();
  const series = order.map((i) => ({
    label: chart.lines[i].label,
    fill: ink(chart.lines[i].colour),
    width: 0,
    points: { show: false },
    paths: uPlot.paths.bars({ size: [0.86, 60] }),
    value: (_, __, ___, at) => (at === null || at === undefined ? '–' : short(chart.lines[i].values[at])),
  }));
  const upTo = (value) => (value === null || value === undefined ? '–' : `${value - chart.width / 2}–${value + chart.width / 2 - 1}`);
  const options = {
    scales: { x: { time: false, range: [0, x.length * chart.width] }, y: { range: (_, __, high) => [0, high * 1.06 || 1] } },
    axes: axes('plies'),
    series: [{ label: 'plies', value: (_, value) => upTo(value) }, ...series],
    cursor: { ...CURSOR, sync: undefined, drag: { x: false, y: false } },
  };
  return plot(element, 210, options, [x, ...order.map((i) => stacked[i])]);
}

const STYLES = { lines, shares, bars };

function drawAll() {
  for (const chart of DATA.charts) {
    const element = document.querySelector(`[data-chart="${chart.id}"]`);
    if (element && (chart.style === 'bars' || DATA.axes.step.length > 0)) keep(() => STYLES[chart.style](element, chart));
  }
}

function redrawAll() {
  for (const draw of page.redraw) draw();
}

drawAll();
document.getElementById('axis').addEventListener('change', (event) => {
  page.axis = event.target.value;
  redrawAll();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
const written = document.getElementById('written');
written.textContent = new Date(1000 * Number(written.dataset.seconds)).toLocaleString();
