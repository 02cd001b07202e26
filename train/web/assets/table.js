// The board that is played on: tapping, dragging, the squares that a move may reach. It offers what the data say is
// legal and tells which of it was chosen.
'use strict';

const DRAGGED = 14; // units that a piece is moved before it counts as dragged

class Table extends Board {
  /** `chosen` is told the text of a move. */
  constructor(svg, chosen) {
    super(svg, () => {});
    this.chosen = chosen;
    this.legal = [];
    this.selected = null;
    this.hints = shape('g', { class: 'hints' }, svg);
    svg.addEventListener('pointerdown', (event) => this.down(event));
    svg.addEventListener('pointermove', (event) => this.move(event));
    svg.addEventListener('pointerup', (event) => this.up(event));
    svg.addEventListener('pointercancel', () => this.release());
    // A finger on a piece drags the piece, elsewhere the page. Of a `touch-action` of parts of a picture browsers take no notice.
    svg.addEventListener('touchstart', (event) => { if (this.drag) event.preventDefault(); }, { passive: false });
  }

  /** Shows a board of the data, with the legal moves that may be made on it. */
  present(board, legal, side, animated) {
    this.legal = legal;
    this.selected = null;
    this.board = board;
    this.side = side;
    const { last } = board;
    this.show(board.squares, 'truth', last && { f: last.from, o: last.to, k: last.check, s: last.side === 'black' ? 1 : 0 });
    for (const { from } of legal) this.group(from)?.classList.add('movable');
    if (animated && last && last.from !== last.to) this.slide(last);
    this.hint();
  }

  group(square) {
    return this.pieces.querySelector(`[data-square="${square}"]`);
  }

  slide({ from, to }) {
    const place = (square) => { const [x, y] = this.at(square); return { transform: `translate(${x}px, ${y}px)` }; };
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.group(to)?.animate([place(from), place(to)], { duration: 190, easing: 'ease-out' });
  }

  /** Where a pointer is, in the board's units. */
  point(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [at.x, at.y];
  }

  /** The square nearest to a point, if the point lies on it. */
  squareAt([x, y]) {
    const near = (value) => Math.round((value - MARGIN) / UNIT);
    const [column, row] = [near(x), near(y)];
    if (column < 0 || column > 8 || row < 0 || row > 9) return null;
    return this.flipped ? row * 9 + 8 - column : (9 - row) * 9 + column;
  }

  down(event) {
    if (event.button !== 0) return;
    const square = this.squareAt(this.point(event));
    if (square === null) return;
    if (this.selected !== null && this.reaches(square)) {
      this.choose(this.selected, square);
      return;
    }
    const movable = this.legal.some((move) => move.from === square);
    const again = this.selected === square;
    this.selected = movable ? square : null;
    if (movable) {
      this.drag = { square, start: this.point(event), moved: false, again };
      this.svg.setPointerCapture(event.pointerId);
    }
    this.hint();
  }

  move(event) {
    if (!this.drag) return;
    const [x, y] = this.point(event);
    const [dx, dy] = [x - this.drag.start[0], y - this.drag.start[1]];
    if (!this.drag.moved && Math.hypot(dx, dy) < DRAGGED) return;
    const group = this.group(this.drag.square);
    if (!this.drag.moved) this.pieces.append(group);
    this.drag.moved = true;
    group.classList.add('dragged');
    group.setAttribute('transform', `translate(${x} ${y})`);
    this.hint(this.squareAt([x, y]));
  }

  up(event) {
    const { drag } = this;
    if (!drag) return;
    this.release();
    if (!drag.moved) {
      if (drag.again) this.selected = null;
      this.hint();
      return;
    }
    const square = this.squareAt(this.point(event));
    if (square !== null && square !== drag.square && this.reaches(square)) this.choose(drag.square, square, true);
    else this.hint();
  }

  release() {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    const group = this.group(drag.square);
    group?.classList.remove('dragged');
    group?.setAttribute('transform', `translate(${this.at(drag.square).join(' ')})`);
  }

  reaches(square) {
    return this.legal.some((move) => move.from === this.selected && move.to === square);
  }

  /** Tells the moves between two squares: one, or two where the piece may be laid face down. */
  choose(from, to, dropped = false) {
    const moves = this.legal.filter((move) => move.from === from && move.to === to);
    this.selected = null;
    this.hint();
    this.chosen(moves, this.at(to), dropped);
  }

  /** Marks the selected piece and the squares that it reaches; `over`: the one that a dragged piece is above. */
  hint(over = null) {
    this.hints.replaceChildren();
    if (this.marked !== undefined && this.marked !== null) this.ring(this.marked, 'place');
    if (this.arrow) this.point2point(this.arrow);
    if (this.selected === null) return;
    this.ring(this.selected, 'selected');
    const targets = new Set(this.legal.filter((move) => move.from === this.selected).map((move) => move.to));
    for (const square of targets) {
      const [cx, cy] = this.at(square);
      if (square === over) this.ring(square, 'over');
      else if (this.board.squares[square]) this.ring(square, 'target');
      else shape('circle', { class: 'target dot', cx, cy, r: 15 }, this.hints);
    }
  }

  ring(square, kind) {
    const [cx, cy] = this.at(square);
    shape('circle', { class: kind, cx, cy, r: 47 }, this.hints);
  }

  point2point([from, to]) {
    const [x1, y1] = this.at(from);
    const [x2, y2] = this.at(to);
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length === 0) return this.ring(from, 'advice');
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [tx, ty] = [x2 - ux * 26, y2 - uy * 26];
    shape('line', { class: 'advice', x1: x1 + ux * 30, y1: y1 + uy * 30, x2: tx, y2: ty }, this.hints);
    const head = `M${x2} ${y2}L${tx - uy * 17} ${ty + ux * 17}L${tx + uy * 17} ${ty - ux * 17}Z`;
    return shape('path', { class: 'advice head', d: head }, this.hints);
  }
}
