// The board as a picture. It lays out what the data say stands where; it knows no rule of the game.
'use strict';

const UNIT = 100;
const MARGIN = 84;
const SVG = 'http://www.w3.org/2000/svg';
const NAMES = {
  red: { k: '帅', a: '仕', b: '相', n: '马', r: '车', c: '炮', p: '兵' },
  black: { k: '将', a: '士', b: '象', n: '马', r: '车', c: '炮', p: '卒' },
};
const ENGLISH = { k: 'general', a: 'advisor', b: 'elephant', n: 'horse', r: 'chariot', c: 'cannon', p: 'soldier' };

function shape(name, attributes, parent, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

/** A square's text, taken apart: colour, what it plays as, whether it is down, what it truly is, who knows. */
function piece(text) {
  const role = text[0];
  const color = role === role.toUpperCase() ? 'red' : 'black';
  const down = text.length > 1;
  const truth = down ? (text[1] === '?' ? null : text[1].toLowerCase()) : role.toLowerCase();
  const known = down ? Number(text[2]) : 3;
  return { color, role: role.toLowerCase(), down, truth, knownTo: { red: (known & 1) > 0, black: (known & 2) > 0 } };
}

/** What a view sees of a piece: its true kind, or null. Views: truth, both (what both know), red, black. */
function seen(it, view) {
  if (view === 'truth' || !it.down) return it.truth;
  if (view === 'both') return it.knownTo.red && it.knownTo.black ? it.truth : null;
  return it.knownTo[view] ? it.truth : null;
}

/** A piece in words. */
function describe(it, view) {
  const side = it.color === 'red' ? 'Red' : 'Black';
  const name = (kind) => `${ENGLISH[kind]} ${NAMES[it.color][kind]}`;
  if (!it.down) return `${side}: ${name(it.truth)}`;
  const truth = seen(it, view);
  const who = [it.knownTo.red && 'Red', it.knownTo.black && 'Black'].filter(Boolean);
  const known = truth === null ? 'unknown in this view' : `truly ${name(truth)}`;
  return `${side}, face down 暗子: plays as ${name(it.role)}; ${known}; known to ${who.length === 2 ? 'both' : who[0] || 'nobody'}`;
}

class Board {
  constructor(svg, told) {
    this.svg = svg;
    this.told = told;
    this.flipped = false;
    const [width, height] = [8 * UNIT + 2 * MARGIN, 9 * UNIT + 2 * MARGIN];
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.defs(shape('defs', {}, svg));
    shape('rect', { class: 'wood', width, height }, svg);
    this.drawLines(shape('g', { class: 'lines' }, svg));
    this.labels = shape('g', {}, svg);
    this.marks = shape('g', {}, svg);
    this.pieces = shape('g', {}, svg);
  }

  defs(defs) {
    const gradient = (id, stops, attributes) => {
      const made = shape(attributes ? 'linearGradient' : 'radialGradient', { id, ...(attributes || { cx: '.38', cy: '.32', r: '.8' }) }, defs);
      stops.forEach(([offset, color]) => shape('stop', { offset, 'stop-color': color }, made));
    };
    gradient('grain', [[0, 'var(--wood)'], [0.45, 'var(--wood-2)'], [1, 'var(--wood)']], { x1: 0, y1: 0, x2: 1, y2: 0.25 });
    gradient('ivory', [[0, '#fffaf0'], [0.75, '#f5e4c2'], [1, '#e3c896']]);
    gradient('lacquer-red', [[0, '#a8392c'], [1, '#701a12']]);
    gradient('lacquer-black', [[0, '#4a545f'], [1, '#1d2227']]);
  }

  /** Where a square's middle lies: [x, y]. */
  at(square) {
    const [file, rank] = [square % 9, Math.floor(square / 9)];
    return [MARGIN + UNIT * (this.flipped ? 8 - file : file), MARGIN + UNIT * (this.flipped ? rank : 9 - rank)];
  }

  drawLines(group) {
    const [x, y] = [(i) => MARGIN + UNIT * i, (i) => MARGIN + UNIT * i];
    const line = (x1, y1, x2, y2) => shape('line', { x1: x(x1), y1: y(y1), x2: x(x2), y2: y(y2) }, group);
    for (let rank = 0; rank < 10; rank++) line(0, rank, 8, rank);
    for (let file = 0; file < 9; file++) {
      line(file, 0, file, 4);
      line(file, 5, file, 9);
    }
    for (const rank of [0, 7]) {
      line(3, rank, 5, rank + 2);
      line(5, rank, 3, rank + 2);
    }
    shape('rect', { x: x(0), y: y(0), width: 8 * UNIT, height: 9 * UNIT }, group);
    shape('rect', { class: 'edge', x: x(0) - 11, y: y(0) - 11, width: 8 * UNIT + 22, height: 9 * UNIT + 22 }, group);
    const stars = [[1, 2], [7, 2], [1, 7], [7, 7], ...[0, 2, 4, 6, 8].flatMap((file) => [[file, 3], [file, 6]])];
    for (const [file, rank] of stars) this.star(group, x(file), y(rank), file);
    for (const [text, file] of [['楚', 1.5], ['河', 2.7], ['汉', 5.3], ['界', 6.5]]) {
      shape('text', { class: 'river', x: x(file), y: y(4.5) + 20, 'text-anchor': 'middle', stroke: 'none' }, this.svg, text);
    }
  }

  /** The small corners around the home points of cannons and soldiers. */
  star(group, x, y, file) {
    for (const [sx, sy] of [[-1, -1], [1, -1], [-1, 1], [1, 1]]) {
      if ((file === 0 && sx < 0) || (file === 8 && sx > 0)) continue;
      shape('path', { d: `M${x + sx * 8} ${y + sy * 22}v${-sy * 14}h${sx * 14}` }, group);
    }
  }

  drawLabels() {
    this.labels.replaceChildren();
    for (let file = 0; file < 9; file++) {
      const [x] = this.at(file);
      shape('text', { class: 'coord', x, y: 9 * UNIT + 2 * MARGIN - 16, 'text-anchor': 'middle' }, this.labels, 'abcdefghi'[file]);
    }
    for (let rank = 0; rank < 10; rank++) {
      const [, y] = this.at(rank * 9);
      shape('text', { class: 'coord', x: 22, y: y + 8, 'text-anchor': 'middle' }, this.labels, String(rank));
    }
  }

  /** Shows squares (a text each), the ply that led there, and a check. */
  show(squares, view, ply) {
    this.drawLabels();
    this.marks.replaceChildren();
    this.pieces.replaceChildren();
    if (ply) this.drawPly(ply);
    squares.forEach((text, square) => {
      if (text) this.drawPiece(piece(text), square, view);
    });
    if (ply && ply.k) {
      const king = squares.findIndex((text) => text === (ply.s === 0 ? 'k' : 'K'));
      if (king >= 0) {
        const [cx, cy] = this.at(king);
        shape('circle', { class: 'check', cx, cy, r: 48 }, this.pieces);
      }
    }
  }

  drawPly(ply) {
    const [from, to] = [this.at(ply.f), this.at(ply.o)];
    if (ply.f !== ply.o) shape('line', { class: 'arrow', x1: from[0], y1: from[1], x2: to[0], y2: to[1] }, this.marks);
    for (const [x, y] of [from, to]) {
      for (const [sx, sy] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
        shape('path', { class: 'mark', d: `M${x + sx * 48} ${y + sy * 32}V${y + sy * 48}H${x + sx * 32}` }, this.marks);
      }
    }
  }

  drawPiece(it, square, view) {
    const [x, y] = this.at(square);
    const group = shape('g', { class: `piece ${it.color} ${it.down ? 'down' : 'up'}`, transform: `translate(${x} ${y})`, 'data-square': square }, this.pieces);
    shape('circle', { class: 'shadow', r: 43, cx: 2, cy: 5 }, group);
    shape('circle', { class: 'disc', r: 43 }, group);
    shape('circle', { class: 'ring', r: 36 }, group);
    if (it.down) this.drawBack(it, view, group);
    else shape('text', { class: 'face', y: 20 }, group, NAMES[it.color][it.truth]);
    group.addEventListener('click', () => this.told(describe(it, view)));
  }

  drawBack(it, view, group) {
    const truth = seen(it, view);
    if (truth) {
      shape('text', { class: 'role', y: -14 }, group, NAMES[it.color][it.role]);
      shape('text', { class: 'face', y: 24 }, group, NAMES[it.color][truth]);
    } else shape('text', { class: 'hollow', y: 15 }, group, NAMES[it.color][it.role]);
    const knowers = ['red', 'black'].filter((side) => it.knownTo[side]);
    knowers.forEach((side, i) => shape('circle', { class: `knower ${side}`, r: 5.5, cx: (i - (knowers.length - 1) / 2) * 14, cy: 33 }, group));
  }
}
