// What stands around the board: moves, pieces taken and unseen, analysis, strengths, the dialog of a new game.
'use strict';

const KINDS = 'kabnrcp';

/** A small round piece, of a square's text. */
function coin(text) {
  const it = piece(text);
  const made = part('span', { class: `coin ${it.color}${it.down ? ' down' : ''}` }, it.truth ? NAMES[it.color][it.truth] : '?');
  made.title = it.down ? `${NAMES[it.color][it.role]} → ${it.truth ? NAMES[it.color][it.truth] : '?'}` : NAMES[it.color][it.role];
  return made;
}

/** Coins of the kinds of a side, with how many there are of each. */
function counted(color, counts) {
  const cased = (kind) => (color === 'red' ? kind.toUpperCase() : kind);
  const all = [...KINDS].flatMap((kind, i) => (counts[i] ? [coin(cased(kind)), part('sub', {}, `×${counts[i]}`)] : []));
  return all.length ? all : ['–'];
}

const percent = (share) => Math.round(100 * share);

/** The list of moves; `go` shows the board behind one. */
function drawMoves(state, shown, go) {
  const rows = [];
  let row = null;
  let number = 0;
  let part_ = null;
  for (const move of state.moves) {
    const arrangement = move.placement;
    if (arrangement && part_ !== 'arrangement') rows.push(part('li', { class: 'part' }, say('arrangement')));
    if (!arrangement && part_ === 'arrangement') rows.push(part('li', { class: 'part' }, say('moves')));
    const changed = arrangement !== (part_ === 'arrangement');
    if (changed) number = 0;
    part_ = arrangement ? 'arrangement' : 'moves';
    const begins = arrangement ? !row || changed || row.children.length > 2 : move.side === 'red' || !row || changed;
    if (begins) {
      number += 1;
      row = part('li', {}, part('span', {}, String(number)));
      if (!arrangement && move.side === 'black') row.append(part('i', {}, '…'));
      rows.push(row);
    }
    const button = part('button', { type: 'button', 'data-ply': move.ply }, move.chinese + (move.check ? ' 将' : ''));
    if (move.chinese !== move.text) button.append(part('small', {}, move.text));
    if (move.ply === shown) button.setAttribute('aria-current', 'true');
    button.addEventListener('click', () => go(move.ply));
    row.append(button);
  }
  const list = byId('moves');
  list.replaceChildren(...rows);
  const current = list.querySelector('[aria-current]');
  list.scrollTop = current ? current.offsetTop - list.clientHeight / 2 : list.scrollHeight;
}

/** The pieces each side has lost, beside the side that took them; the names of the players. */
function drawSides(state, board, near) {
  const far = near === 'red' ? 'black' : 'red';
  for (const [place, color] of [['near', near], ['far', far]]) {
    const person = state.people === 'both' || state.people === color;
    byId(`${place}-name`).replaceChildren(part('i', { class: `dot ${color}` }), `${say(color)} · ${say(person ? 'person' : 'engine')}`);
    const taken = board.taken.filter((text) => piece(text).color !== color);
    byId(`${place}-taken`).replaceChildren(...taken.map(coin));
    byId(`${place}-name`).parentElement.classList.toggle('turn', state.decider === color);
  }
}

function drawUnseen(state, board) {
  byId('hidden').hidden = !state.hides;
  byId('unseen-red').replaceChildren(...counted('red', board.unseen[0]));
  byId('unseen-black').replaceChildren(...counted('black', board.unseen[1]));
}

/** The pieces that are left to place; `place` is told the text of a placement. */
function drawPlacing(state, place) {
  const { placing } = state;
  byId('placing').hidden = !placing;
  if (!placing) return;
  const cased = (kind) => (state.decider === 'red' ? kind.toUpperCase() : kind);
  const buttons = [...KINDS].flatMap((kind, i) => {
    if (!placing.moves[i]) return [];
    const button = part('button', { type: 'button', 'data-kind': kind }, coin(cased(kind)), part('sub', {}, `×${placing.left[i]}`));
    button.addEventListener('click', () => place(placing.moves[i]));
    return [button];
  });
  byId('hand').replaceChildren(...buttons);
}

/** An analysis; `look` is told the best move that the pointer is on, and `null` when it leaves. */
function drawAnalysis(analysis, open, look) {
  byId('analysis').hidden = !open;
  byId('bar').hidden = !open;
  const red = analysis ? analysis.red : { win: 1, draw: 1, loss: 1 };
  for (const [name, share] of [['red', red.win], ['draw', red.draw], ['black', red.loss]]) byId('bar').querySelector(`.${name}`).style.flexGrow = Math.max(share, 0.001);
  if (!analysis) {
    byId('shares').textContent = '…';
    byId('best').replaceChildren();
    return;
  }
  const detail = [say('simulations', analysis.visits), analysis.proven && say('proven')].filter(Boolean).join(' · ');
  byId('shares').replaceChildren(say('shares', percent(red.win), percent(red.draw), percent(red.loss)), part('small', {}, detail));
  const score = ({ win, draw, loss }) => percent((analysis.turn === 'red' ? win : loss) + draw / 2);
  byId('best').replaceChildren(...analysis.moves.map((best) => {
    const row = part('li', {}, part('b', {}, best.line[0] || best.move), part('span', {}, `${score(best.red)} %`), part('small', {}, best.line.slice(1).join(' ')));
    row.addEventListener('pointerenter', () => look(best));
    row.addEventListener('pointerleave', () => look(null));
    return row;
  }));
}

/** The strengths that can be played in a form: levels, if there are any, and numbers of simulations. */
function drawStrengths(about, form, chosen) {
  const levels = about.levels.filter((level) => level.form === form);
  const option = (value, text, disabled) => Object.assign(new Option(text, value), { disabled });
  const groups = [];
  if (levels.length) {
    const options = levels.map(({ level, elo, playable }) => option(`level ${level}`, say('level', level, Math.round(elo)) + (playable ? '' : say('missing')), !playable));
    groups.push(part('optgroup', { label: say('levels') }, ...options));
  }
  const visits = [1, 4, 16, 64, 250, 1000, 4000].filter((n) => n <= about.most_visits);
  groups.push(part('optgroup', { label: say('effort') }, ...visits.map((n) => option(`visits ${n}`, say('visits', n), false))));
  const select = byId('strength');
  select.replaceChildren(...groups);
  const first = levels.find((level) => level.playable);
  const known = [...select.options].some((it) => it.value === chosen && !it.disabled);
  select.value = known ? chosen : first ? `level ${first.level}` : 'visits 64';
  const trained = about.forms.find((it) => it.name === form)?.trained;
  byId('strength-note').textContent = trained ? '' : say('untrained');
}

/** What a strength of the list asks for. */
function strengthOf(value) {
  const [kind, number] = value.split(' ');
  return { [kind]: Number(number) };
}

/** The dialog of a new game, or of a text to be opened. */
class Begin {
  constructor(begin) {
    this.dialog = byId('begin');
    byId('cancel').addEventListener('click', () => this.dialog.close());
    byId('start').addEventListener('click', async () => {
      const radio = (name) => this.dialog.querySelector(`input[name=${name}]:checked`)?.value;
      const start = { form: radio('form'), people: radio('people') };
      if (this.opens) start.text = byId('text').value;
      const wrong = await begin(start).catch((error) => error);
      byId('begin-complaint').hidden = !wrong;
      byId('begin-complaint').textContent = wrong ? wrong.message : '';
      if (!wrong) this.dialog.close();
    });
  }

  choices(field, name, legend, entries, chosen) {
    const labels = entries.map(({ value, text, note }) => {
      const input = part('input', { type: 'radio', name, value });
      input.checked = value === chosen;
      return part('label', {}, input, part('span', {}, text, ...(note ? [part('small', {}, note)] : [])));
    });
    byId(field).replaceChildren(part('legend', {}, legend), ...labels);
  }

  show(about, form, people, opens) {
    this.opens = opens;
    byId('begin-title').textContent = say(opens ? 'openTitle' : 'begin');
    byId('text-field').hidden = !opens;
    byId('begin-complaint').hidden = true;
    const forms = about.forms.map(({ name, label, trained }) => ({ value: name, text: called(label), note: trained ? '' : say('untrainedMark') }));
    this.choices('forms', 'form', say('forms'), forms, form);
    const seats = [['red', 'youRed'], ['black', 'youBlack'], ['both', 'youBoth']].map(([value, key]) => ({ value, text: say(key) }));
    this.choices('people', 'people', say('people'), seats, people);
    this.dialog.showModal();
  }
}
