// The ladder: the ratings of the run's checkpoints with their 95 % band, built-in opponents as levels.
'use strict';

const LEVEL_COLOURS = ['ochre', 'teal', 'violet', 'green', 'red', 'grey'];
const ladderChoice = { form: DATA.ladder.length ? DATA.ladder[0].form : '' };

/** Draws the built-in opponents' ratings, from side to side. */
function ladderLevels(u, opponents) {
  const { ctx } = u;
  ctx.save();
  ctx.lineWidth = 1.25 * (devicePixelRatio || 1);
  ctx.setLineDash([5, 4]);
  opponents.forEach(([name, value], i) => {
    if (!u.series.find((series) => series.label === name).show) return;
    const y = u.valToPos(value, 'y', true);
    ctx.strokeStyle = ink(LEVEL_COLOURS[i % LEVEL_COLOURS.length]);
    ctx.beginPath();
    ctx.moveTo(u.bbox.left, y);
    ctx.lineTo(u.bbox.left + u.bbox.width, y);
    ctx.stroke();
  });
  ctx.restore();
}

/** Draws the interval of each point where they are few. */
function ladderWhiskers(u, points) {
  if (points.length > 30) return;
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = ink('blue');
  ctx.lineWidth = 1.25 * (devicePixelRatio || 1);
  ctx.beginPath();
  for (const point of points) {
    const x = u.valToPos(point[page.axis], 'x', true);
    ctx.moveTo(x, u.valToPos(point.low, 'y', true));
    ctx.lineTo(x, u.valToPos(point.high, 'y', true));
  }
  ctx.stroke();
  ctx.restore();
}

function drawLadder() {
  const { points, opponents } = DATA.ladder.find((curve) => curve.form === ladderChoice.form);
  const x = points.map((point) => point[page.axis]);
  const [elo, low, high] = ['elo', 'low', 'high'].map((name) => points.map((point) => point[name]));
  const whole = (value) => String(Math.round(value));
  const levels = opponents.map(([name, value], i) => ({
    label: name,
    stroke: ink(LEVEL_COLOURS[i % LEVEL_COLOURS.length]),
    width: 0,
    points: { show: false },
    value: () => whole(value),
  }));
  const bound = (label, values) => ({ label, stroke: 'transparent', width: 0, points: { show: false }, value: legend(values, whole) });
  const own = { label: 'Elo', stroke: ink('blue'), width: 2, points: { show: points.length < 60, size: 7, fill: ink('blue') }, value: legend(elo, whole) };
  const all = [...low, ...high, ...opponents.map(([, value]) => value)];
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const room = (most - least) * 0.06 || 50;
  const options = {
    scales: { x: { time: false, range: [0, (x[x.length - 1] || 1) * 1.04] }, y: { range: [least - room, most + room] } },
    axes: axes(AXIS_NAMES[page.axis]),
    series: [{ label: AXIS_NAMES[page.axis], value: legend(x, short) }, bound('upper', high), bound('lower', low), ...levels, own],
    bands: [{ series: [1, 2], fill: `${ink('blue')}33` }],
    cursor: { drag: { x: true, y: false }, points: { size: 9 } },
    hooks: { drawAxes: [(u) => ladderLevels(u, opponents)], draw: [(u) => ladderWhiskers(u, points)] },
  };
  const levelsOver = opponents.map(([, value]) => x.map(() => value));
  return plot(document.getElementById('ladder-plot'), 320, options, [x, high, low, ...levelsOver, elo]);
}

function setUpLadder() {
  if (DATA.ladder.length === 0) return;
  document.getElementById('ladder-figure').hidden = false;
  const forms = document.getElementById('ladder-form');
  for (const { form, label } of DATA.ladder) forms.add(new Option(`${label.english} ${label.chinese}`, form));
  forms.hidden = DATA.ladder.length < 2;
  keep(drawLadder);
  const again = page.redraw[page.redraw.length - 1];
  forms.addEventListener('change', () => {
    ladderChoice.form = forms.value;
    again();
  });
}

setUpLadder();
