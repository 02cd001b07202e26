// The page: what is shown, and what follows what.
'use strict';

const ANALYSIS = { visits: 200 };

class Page {
  constructor(link) {
    this.link = link;
    this.table = new Table(byId('board'), (moves, at, dropped) => this.chosen(moves, at, dropped));
    this.begin = new Begin((start) => this.start(start));
    this.shown = null; // the ply that is looked at; null: the present
    this.analysing = false;
    this.round = 0; // grows with every change, so that late answers are known as such
  }

  async open() {
    sayAll();
    this.listen();
    this.about = await this.link.about();
    const state = await this.link.resume();
    if (state) this.take(state);
    else {
      const form = (this.about.forms.find((it) => it.trained) || this.about.forms[0]).name;
      await this.start({ form, people: 'red' });
    }
  }

  listen() {
    const on = (id, act) => byId(id).addEventListener('click', () => act());
    on('new', () => this.begin.show(this.about, this.state.form, this.state.people, false));
    on('open', () => this.begin.show(this.about, this.state.form, this.state.people, true));
    on('undo', () => this.ask({ do: 'undo' }));
    on('resign', () => this.ask({ do: 'resign' }));
    on('flip', () => { this.turned = !this.turned; this.draw(); });
    on('analyse', () => { this.analysing = !this.analysing; this.draw(); this.analyse(); });
    on('rest-random', () => this.ask({ do: 'arrange', how: 'random' }));
    on('rest-home', () => this.ask({ do: 'arrange', how: 'home' }));
    on('to-start', () => this.go(0));
    on('back', () => this.walk(-1));
    on('forth', () => this.walk(1));
    on('to-end', () => this.go(Infinity));
    on('copy-fen', () => this.copy('copy-fen', async () => this.state.fen));
    on('copy-record', () => this.copy('copy-record', async () => (await this.link.ask({ do: 'record' })).record));
    on('language', () => { language = language === 'en' ? 'zh' : 'en'; localStorage.setItem('language', language); sayAll(); this.drawForm(); this.draw(); });
    byId('strength').addEventListener('change', () => { localStorage.setItem('strength', byId('strength').value); this.reply(); });
    document.addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('pointerdown', (event) => { if (!event.target.closest('#choice')) byId('choice').hidden = true; }, true);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, dialog')) return;
    const acts = { ArrowLeft: () => this.walk(-1), ArrowRight: () => this.walk(1), u: () => this.ask({ do: 'undo' }), f: () => byId('flip').click(), a: () => byId('analyse').click() };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  }

  /** Begins a game; what is wrong with it is the caller's to show. */
  async start(start) {
    const state = await this.link.begin(start);
    this.turned = false;
    this.take(state);
  }

  /** Takes up a state, and whatever follows from it. */
  take(state, animated = false) {
    const form = this.state?.form;
    this.round += 1;
    this.state = state;
    this.shown = null;
    this.found = null;
    if (form !== state.form || !byId('strength').value) this.drawForm();
    this.draw(animated);
    this.reply();
    this.analyse();
  }

  /** Asks for something that changes the game. */
  async ask(request) {
    if (this.asking) return;
    this.asking = true;
    try {
      const state = await this.link.ask(request);
      this.complain(null);
      this.asking = false;
      this.take(state, request.do === 'play');
    } catch (error) {
      this.complain(error);
      this.draw();
      await this.catchUp();
    } finally {
      this.asking = false;
    }
  }

  /** Takes up the game where it stands, if it is not where this page left it: another window may play it, too. */
  async catchUp() {
    const state = await this.link.ask({ do: 'state' }).catch(() => null);
    const { ply, decider } = this.state;
    if (!state || (state.ply === ply && state.decider === decider)) return;
    this.complain(null);
    this.take(state);
  }

  /** Lets the engine move as long as it is its turn. */
  async reply() {
    const { state, round } = this;
    if (this.thinking || state.over || state.mine) return;
    this.thinking = true;
    try {
      const next = await this.link.reply(strengthOf(byId('strength').value));
      this.complain(null);
      this.thinking = false;
      if (round === this.round) this.take(next, true);
      else await this.catchUp();
      this.reply();
    } catch (error) {
      this.thinking = false;
      if (round !== this.round) return void this.reply();
      this.complain(error);
      await this.catchUp();
    }
    return undefined;
  }

  async analyse() {
    const { state, round } = this;
    if (!this.analysing || !state.mine || this.shown !== null || this.found) return;
    try {
      const found = await this.link.analysis(ANALYSIS);
      if (round !== this.round) return;
      this.found = found;
      this.drawFound();
    } catch (error) {
      if (round === this.round) this.complain(error);
    }
  }

  /** Plays the one move chosen, or offers the two there are. */
  chosen(moves, [x, y], dropped) {
    if (moves.length === 1) return void this.ask({ do: 'play', move: moves[0].move });
    const box = byId('choice');
    const buttons = moves.map((move) => {
      const button = part('button', { type: 'button', 'data-move': move.move }, part('b', {}, move.chinese), part('small', {}, say(move.down ? 'down' : 'up')));
      button.addEventListener('click', () => { box.hidden = true; this.ask({ do: 'play', move: move.move }); });
      return button;
    });
    box.replaceChildren(...buttons);
    const [width, height] = [8 * UNIT + 2 * MARGIN, 9 * UNIT + 2 * MARGIN];
    box.style.left = `${Math.min(Math.max((100 * x) / width, 22), 78)}%`;
    box.style.top = `${(100 * y) / height}%`;
    box.classList.toggle('below', y < height / 4);
    box.hidden = false;
    if (dropped) this.table.hint();
    return undefined;
  }

  walk(step) {
    const plies = [0, ...this.state.moves.map((move) => move.ply)];
    const here = plies.indexOf(this.shown ?? plies[plies.length - 1]);
    this.go(plies[Math.max(0, here + step)] ?? Infinity);
  }

  /** Shows the board behind a ply; behind the last one the game goes on. */
  async go(ply) {
    const { round, state } = this;
    const last = state.moves.length ? state.moves[state.moves.length - 1].ply : 0;
    if (ply >= last) {
      this.shown = null;
      this.draw();
      this.analyse();
      return;
    }
    try {
      const board = await this.link.ask({ do: 'look', ply });
      if (round !== this.round) return;
      this.shown = ply;
      this.past = board;
      this.draw();
    } catch (error) {
      this.complain(error);
    }
  }

  complain(error) {
    byId('complaint').hidden = !error;
    byId('complaint').textContent = error ? error.message : '';
  }

  async copy(id, text) {
    try {
      const value = await text();
      byId('text').value = value;
      await navigator.clipboard.writeText(value);
      byId(id).textContent = say('copied');
      setTimeout(() => { byId(id).textContent = say(byId(id).dataset.say); }, 1200);
    } catch (error) {
      this.complain(error);
    }
  }

  drawForm() {
    const form = this.about.forms.find((it) => it.name === this.state.form);
    byId('form-name').textContent = form ? called(form.label) : this.state.form;
    byId('net-name').textContent = say('network', this.about.name, this.about.step);
    drawStrengths(this.about, this.state.form, byId('strength').value || localStorage.getItem('strength'));
  }

  status() {
    const { state } = this;
    if (this.shown !== null) return say('look', this.shown, state.ply);
    if (state.over) {
      const { result, label } = state.over;
      return `${result === 'draw' ? say('draw') : say('wins', say(result))} · ${called(label)}`;
    }
    if (!state.mine) return say(state.arranging ? 'arranges' : 'thinking');
    if (state.arranging) return say('yourArrangement');
    const check = state.board.last?.check ? say('check') : '';
    return check + (state.people === 'both' ? say('turnOf', say(state.decider)) : say('yourMove'));
  }

  /** Shows what was found. It may come at any moment, so the board, and what a person is doing there, stay as they are. */
  drawFound() {
    const best = this.shown === null && this.analysing && this.found?.moves[0];
    const point = (move) => { this.table.arrow = move ? [move.from, move.to] : null; this.table.hint(); };
    drawAnalysis(this.found, this.analysing, (move) => point(move || best));
    point(best);
  }

  draw(animated = false) {
    const { state, table } = this;
    const live = this.shown === null;
    const board = live ? state.board : this.past;
    const near = (state.viewer === 'black' && state.people !== 'both') !== Boolean(this.turned) ? 'black' : 'red';
    table.flipped = near === 'black';
    table.marked = live && state.placing ? state.placing.square : null;
    byId('choice').hidden = true;
    table.present(board, live && state.mine ? state.legal : [], state.decider, animated && live);
    byId('bar').classList.toggle('flipped', near === 'black');
    drawSides(state, board, near);
    drawUnseen(state, board);
    drawPlacing(live ? state : { placing: null }, (text) => this.ask({ do: 'play', move: text }));
    drawMoves(state, live ? state.moves[state.moves.length - 1]?.ply : this.shown, (ply) => this.go(ply));
    this.drawFound();
    byId('status').textContent = this.status();
    byId('status').classList.toggle('over', Boolean(state.over));
    byId('undo').disabled = !state.may_undo;
    byId('resign').disabled = Boolean(state.over);
    byId('analyse').setAttribute('aria-pressed', String(this.analysing));
    byId('fen').value = state.fen;
    document.body.dataset.ply = state.ply;
    document.body.dataset.turn = state.over ? 'over' : state.mine ? 'mine' : 'engine';
  }
}

const page = new Page(connect());
page.open().catch((error) => page.complain(error));
