// The strength curve: one line an opponent, each match with its 95 % interval.
'use strict';

const STRENGTH_COLOURS = ['blue', 'red', 'ochre', 'teal', 'violet', 'green'];
const strengthChoice = { form: DATA.strength.length ? DATA.strength[0].form : '', unit: 'score' };

/** A match in the chosen unit: the value, the ends of its interval, and whether the value itself is infinite. */
function measured(point) {
  if (strengthChoice.unit === 'score') return { value: point.score, low: point.low, high: point.high };
  const ends = [point.elo_low, point.elo_high];
  const value = point.elo ?? ends.find((end) => end !== null) ?? null;
  return { value, low: ends[0], high: ends[1], endless: point.elo === null && value !== null };
}

/** Draws the intervals, and an arrow where one has no end. */
function whiskers(u, curves) {
  const { ctx } = u;
  const scale = devicePixelRatio || 1;
  const { top, height } = u.bbox;
  const y = (value) => u.valToPos(value, 'y', true);
  ctx.save();
  ctx.lineWidth = 1.5 * scale;
  curves.forEach((curve, i) => {
    if (!u.series[i + 1].show) return;
    ctx.strokeStyle = ink(STRENGTH_COLOURS[i % STRENGTH_COLOURS.length]);
    for (const point of curve.points) {
      const m = measured(point);
      if (m.value === null || (m.low === null && m.high === null)) continue;
      const x = u.valToPos(point[page.axis], 'x', true) + (i - (curves.length - 1) / 2) * 3 * scale;
      const ends = [m.low === null ? top + height : y(m.low), m.high === null ? top : y(m.high)];
      ctx.beginPath();
      ctx.moveTo(x, ends[0]);
      ctx.lineTo(x, ends[1]);
      for (const end of ends) {
        ctx.moveTo(x - 4 * scale, end);
        ctx.lineTo(x + 4 * scale, end);
      }
      ctx.stroke();
    }
  });
  ctx.restore();
}

/** The even score. */
function evenLine(u) {
  const even = strengthChoice.unit === 'score' ? 50 : 0;
  const y = u.valToPos(even, 'y', true);
  u.ctx.save();
  u.ctx.strokeStyle = tone('muted');
  u.ctx.setLineDash([4, 4]);
  u.ctx.beginPath();
  u.ctx.moveTo(u.bbox.left, y);
  u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
  u.ctx.stroke();
  u.ctx.restore();
}

function strengthRange(curves) {
  if (strengthChoice.unit === 'score') return [0, 100];
  const all = curves.flatMap((curve) => curve.points.map(measured)).flatMap((m) => [m.value, m.low, m.high]).filter((x) => x !== null && x !== undefined);
  const [low, high] = [Math.min(0, ...all), Math.max(0, ...all)];
  const room = (high - low) * 0.08 || 50;
  return [low - room, high + room];
}

function drawStrength() {
  const curves = DATA.strength.filter((curve) => curve.form === strengthChoice.form);
  const x = [...new Set(curves.flatMap((curve) => curve.points.map((point) => point[page.axis])))].sort((a, b) => a - b);
  const values = curves.map((curve) => {
    const at = new Map(curve.points.map((point) => [point[page.axis], measured(point).value]));
    return x.map((place) => at.get(place) ?? null);
  });
  const unit = strengthChoice.unit === 'score' ? ' %' : '';
  const series = curves.map((curve, i) => ({
    label: curve.opponent,
    stroke: ink(STRENGTH_COLOURS[i % STRENGTH_COLOURS.length]),
    width: 1.75,
    spanGaps: true,
    points: { show: true, size: 8, fill: ink(STRENGTH_COLOURS[i % STRENGTH_COLOURS.length]) },
    value: legend(values[i], (value) => `${short(value)}${unit}`),
  }));
  const last = x[x.length - 1] || 1;
  const options = {
    scales: { x: { time: false, range: [0, last * 1.04] }, y: { range: strengthRange(curves) } },
    axes: axes(AXIS_NAMES[page.axis]),
    series: [{ label: AXIS_NAMES[page.axis], value: legend(x, short) }, ...series],
    cursor: { drag: { x: true, y: false }, points: { size: 9 } },
    hooks: { drawAxes: [evenLine], draw: [(u) => whiskers(u, curves)] },
  };
  document.getElementById('strength-y').textContent = strengthChoice.unit === 'score' ? 'score, % of the points' : 'Elo difference to the opponent';
  return plot(document.getElementById('strength-plot'), 320, options, [x, ...values]);
}

function setUpStrength() {
  if (DATA.strength.length === 0) return;
  document.getElementById('strength-figure').hidden = false;
  const forms = document.getElementById('strength-form');
  const names = new Map(DATA.strength.map((curve) => [curve.form, `${curve.label.english} ${curve.label.chinese}`]));
  for (const [form, name] of names) forms.add(new Option(name, form));
  forms.hidden = names.size < 2;
  keep(drawStrength);
  const again = page.redraw[page.redraw.length - 1];
  forms.addEventListener('change', () => {
    strengthChoice.form = forms.value;
    again();
  });
  document.getElementById('strength-unit').addEventListener('change', (event) => {
    strengthChoice.unit = event.target.value;
    again();
  });
}

setUpStrength();
