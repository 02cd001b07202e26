// Games to look at: a list, a board, the moves, what each player knows.
'use strict';

const WINNER = { red: ['Red wins', '红胜'], black: ['Black wins', '黑胜'], draw: ['drawn', '和棋'] };
const VIEWS = { truth: 'the truth 全知', both: 'what the players know 双方所知', red: 'what Red knows 红方所知', black: 'what Black knows 黑方所知' };
const KINDS = 'kabnrcp';
const byId = (id) => document.getElementById(id);
const FORM_NAMES = new Map(DATA.forms);

/** An element with a class, a text and children. */
function part(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Boards of a game behind each ply: the start, then what each ply changed. */
function boards(game) {
  const changed = (board, texts) => {
    const next = board.slice();
    for (const text of texts.split(' ').filter(Boolean)) {
      const [square, cell] = text.split(':');
      next[Number(square)] = cell;
    }
    return next;
  };
  const all = [changed(Array(90).fill(''), game.start)];
  for (const ply of game.plies) all.push(changed(all[all.length - 1], ply.c));
  return all;
}

/** A small round piece. */
function coin(color, kind, down) {
  return part('span', { class: `coin ${color}${down ? ' down' : ''}` }, kind ? NAMES[color][kind] : '?');
}

class Replay {
  constructor() {
    this.board = new Board(byId('board'), (text) => { byId('said').textContent = text; });
    this.shown = [];
    this.timer = null;
    this.view = 'truth';
    this.setUpFilters();
    this.setUpControls();
    this.fill();
    this.open(this.shown[0]);
  }

  setUpFilters() {
    const [forms, endings] = [byId('filter-form'), byId('filter-ending')];
    const used = [...new Set(DATA.games.map((game) => game.form))];
    forms.add(new Option('all forms', ''));
    for (const form of used) forms.add(new Option(`${FORM_NAMES.get(form).english} ${FORM_NAMES.get(form).chinese}`, form));
    forms.hidden = used.length < 2;
    endings.add(new Option('every ending', ''));
    const names = new Map(DATA.games.map((game) => [`${game.reason.english}/${game.result}`, `${game.reason.english} ${game.reason.chinese}, ${WINNER[game.result][0]}`]));
    for (const [value, name] of [...names].sort()) endings.add(new Option(name, value));
    for (const select of [forms, endings, byId('order')]) {
      select.addEventListener('change', () => {
        this.fill();
        this.open(this.shown[0]);
      });
    }
  }

  setUpControls() {
    const go = (id, action) => byId(id).addEventListener('click', action);
    go('to-start', () => this.go(0));
    go('back', () => this.go(this.ply - 1));
    go('forth', () => this.go(this.ply + 1));
    go('to-end', () => this.go(Infinity));
    go('play', () => this.play());
    go('flip', () => this.flip());
    byId('ply').addEventListener('input', (event) => this.go(Number(event.target.value)));
    byId('view').addEventListener('change', (event) => {
      this.view = event.target.value;
      this.draw();
    });
    document.addEventListener('keydown', (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('select, input[type=radio], input[type=range]')) return;
    const inside = event.target.closest('#replay');
    const inList = event.target.closest('#list');
    const actions = {
      ArrowLeft: () => this.go(this.ply - 1),
      ArrowRight: () => this.go(this.ply + 1),
      p: () => this.play(),
      f: () => this.flip(),
      v: () => this.nextView(),
      ...(inside && { Home: () => this.go(0), End: () => this.go(Infinity) }),
      ...(inList && { ArrowUp: () => this.neighbour(-1), ArrowDown: () => this.neighbour(1) }),
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  /** Fills the list with the games that the filters leave. */
  fill() {
    const [form, ending, order] = ['filter-form', 'filter-ending', 'order'].map((id) => byId(id).value);
    this.shown = DATA.games.filter((game) => (!form || game.form === form) && (!ending || `${game.reason.english}/${game.result}` === ending));
    if (order !== 'new') this.shown.sort((a, b) => (order === 'long' ? 1 : -1) * (b.plies.length - a.plies.length));
    const several = FORM_NAMES.size > 1;
    byId('list').replaceChildren(...this.shown.map((game) => {
      const about = [several && FORM_NAMES.get(game.form).english, game.reason.english, game.reason.chinese].filter(Boolean).join(' · ');
      const button = part('button', { type: 'button', 'data-game': game.id },
        part('span', { class: `won ${game.result}` }), part('span', {}, `game ${game.id}`), part('span', { class: 'muted' }, `${game.plies.length} plies`),
        part('span', { class: 'about' }, `${about} · step ${short(game.steps[1])}`));
      button.addEventListener('click', () => this.open(game));
      return part('li', {}, button);
    }));
  }

  open(game) {
    if (!game) return;
    this.stop();
    this.game = game;
    this.boards = boards(game);
    byId('ply').max = game.plies.length;
    for (const button of byId('list').querySelectorAll('button')) {
      if (Number(button.dataset.game) === game.id) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    }
    this.fillTitle();
    this.fillMoves();
    this.fillViews();
    this.go(game.first);
  }

  neighbour(step) {
    const next = this.shown[this.shown.indexOf(this.game) + step];
    if (!next) return;
    this.open(next);
    byId('list').querySelector('[aria-current]').focus();
  }

  fillTitle() {
    const { game } = this;
    const form = FORM_NAMES.get(game.form);
    const [english, chinese] = WINNER[game.result];
    const lines = [`game ${game.id}`, `${game.plies.length} plies`, `networks of steps ${game.steps[0]}–${game.steps[1]}`];
    if (game.would_resign) lines.push(`${game.would_resign[0] === 'red' ? 'Red' : 'Black'} would have resigned before ply ${game.would_resign[1] + 1}`);
    if (game.fault) lines.push(`damaged: ${game.fault}`);
    byId('game-title').replaceChildren(`${form.english} ${form.chinese}: ${english} ${chinese}, ${game.reason.english} ${game.reason.chinese}`, part('small', {}, lines.join(' · ')));
  }

  moveButton(ply, i) {
    const button = part('button', { type: 'button', 'data-ply': i + 1 }, ply.n + (ply.k ? ' 将' : ''));
    if (ply.n !== ply.t) button.append(part('small', {}, ply.t));
    button.addEventListener('click', () => this.go(i + 1));
    return button;
  }

  fillMoves() {
    const rows = [];
    const { plies, first } = this.game;
    if (first > 0) rows.push(part('li', { class: 'part' }, 'Arrangement 布阵'));
    let row = null;
    plies.forEach((ply, i) => {
      if (i === first && first > 0) rows.push(part('li', { class: 'part' }, 'Moves 着法'));
      const number = Math.floor((i < first ? i : i - first) / 2) + 1;
      const begins = i < first ? i % 2 === 0 : i === first || ply.s === 0;
      if (begins) {
        row = part('li', {}, part('span', {}, `${number}`));
        if (i >= first && ply.s === 1) row.append(part('i'));
        rows.push(row);
      }
      row.append(this.moveButton(ply, i));
    });
    byId('moves').replaceChildren(...rows);
  }

  /** The views that tell something else of this game. */
  fillViews() {
    const { game } = this;
    const views = game.shared ? ['truth', 'both'] : ['truth', 'red', 'black'];
    byId('knowledge').hidden = !game.hides;
    if (!views.includes(this.view)) this.view = 'truth';
    const choices = views.map((view) => {
      const input = part('input', { type: 'radio', name: 'view', value: view });
      input.checked = view === this.view;
      return part('label', {}, input, part('span', { title: VIEWS[view] }, { truth: '全知 truth', both: '双方 players', red: '红方 Red', black: '黑方 Black' }[view]));
    });
    byId('view').replaceChildren(part('legend', {}, 'See'), ...choices);
  }

  nextView() {
    const inputs = [...byId('view').querySelectorAll('input')];
    if (!this.game.hides || inputs.length === 0) return;
    const next = inputs[(inputs.findIndex((input) => input.checked) + 1) % inputs.length];
    next.checked = true;
    this.view = next.value;
    this.draw();
  }

  go(ply) {
    this.ply = Math.max(0, Math.min(ply, this.game.plies.length));
    if (this.ply === this.game.plies.length) this.stop();
    this.draw();
  }

  flip() {
    this.board.flipped = !this.board.flipped;
    this.draw();
  }

  play() {
    if (this.timer) return this.stop();
    if (this.ply === this.game.plies.length) this.go(0);
    this.timer = setInterval(() => this.go(this.ply + 1), 900);
    byId('play').textContent = 'pause';
    return undefined;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    byId('play').textContent = 'play';
  }

  draw() {
    const { game, ply } = this;
    const last = game.plies[ply - 1];
    this.board.show(this.boards[ply], this.view, last);
    byId('ply').value = ply;
    byId('back').disabled = byId('to-start').disabled = ply === 0;
    byId('forth').disabled = byId('to-end').disabled = ply === game.plies.length;
    byId('said').textContent = last ? `${ply} of ${game.plies.length}: ${last.n}  ${last.n === last.t ? '' : last.t}${last.k ? ' – check 将军' : ''}` : `start · ${game.plies.length} plies`;
    this.drawUnseen();
    this.drawTaken();
    const list = byId('moves');
    list.querySelector('[aria-current]')?.removeAttribute('aria-current');
    const current = list.querySelector(`[data-ply="${ply}"]`);
    if (current) {
      current.setAttribute('aria-current', 'true');
      list.scrollTop = current.offsetTop - list.clientHeight / 2;
    } else list.scrollTop = 0;
  }

  /** What each player has never seen, of either side. */
  drawUnseen() {
    const { game, ply } = this;
    if (!game.hides) return;
    let digits = game.unseen;
    for (const { u } of game.plies.slice(0, ply)) digits = u || digits;
    const coins = (from, color) => {
      const found = [...KINDS].flatMap((kind, i) => {
        const count = Number(digits[from + i]);
        return count ? [coin(color, kind), part('sub', {}, `×${count}`)] : [];
      });
      return part('span', { class: 'coins' }, ...(found.length ? found : ['–']));
    };
    const viewers = game.shared ? [['not seen yet', '未见', 0]] : [['Red has not seen', '红方未见', 0], ['Black has not seen', '黑方未见', 14]];
    byId('unseen').replaceChildren(...viewers.map(([name, chinese, from]) => part('div', { class: 'row' },
      part('span', {}, name, part('span', { lang: 'zh-Hans' }, chinese)), part('span', {}, coins(from, 'red'), coins(from + 7, 'black')))));
  }

  /** The pieces taken so far. */
  drawTaken() {
    const taken = this.game.plies.slice(0, this.ply).filter((ply) => ply.x).map((ply) => piece(ply.x));
    const names = { red: ['Red has lost', '红方失子'], black: ['Black has lost', '黑方失子'] };
    const rows = Object.entries(names).map(([color, [name, chinese]]) => {
      const coins = taken.filter((it) => it.color === color).map((it) => {
        const made = coin(color, seen(it, this.view), it.down);
        made.title = describe(it, this.view);
        return made;
      });
      return part('div', { class: 'row' },
        part('span', {}, name, part('span', { lang: 'zh-Hans' }, chinese)), part('span', { class: 'coins' }, ...(coins.length ? coins : ['–'])));
    });
    byId('taken').replaceChildren(...rows);
  }
}

if (DATA.games.length > 0) new Replay();
