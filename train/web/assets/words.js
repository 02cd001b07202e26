// What the page says, in both languages. The names of forms and endings come with the data.
'use strict';

const WORDS = {
  en: {
    other: '中文', new: 'New game', undo: 'Undo', flip: 'Turn', analyse: 'Analysis', resign: 'Resign', strength: 'Opponent', analysis: 'Analysis',
    unseen: 'Not seen yet', moves: 'Moves', texts: 'Position and record', copyFen: 'Copy FEN', copyRecord: 'Copy record', open: 'Open …',
    toStart: 'To the start', back: 'Back', forth: 'Forth', toEnd: 'To the end', placing: 'Arrange your pieces: which one lies on the marked square?',
    restRandom: 'The rest at random', restHome: 'The rest at home', begin: 'New game', openTitle: 'Open a position or a record', cancel: 'Cancel', start: 'Play',
    textLabel: 'FEN, moves, or a record with tags', youRed: 'You play Red', youBlack: 'You play Black', youBoth: 'Both sides',
    red: 'Red', black: 'Black', person: 'you', engine: 'fanqi', yourMove: 'Your move', turnOf: (side) => `${side} to move`, thinking: 'fanqi is thinking …',
    arranges: 'fanqi arranges its pieces …', yourArrangement: 'Arrange your pieces in secret', check: 'Check! ', wins: (side) => `${side} wins`, draw: 'Drawn',
    look: (ply, all) => `Move ${ply} of ${all}; the last one goes on`, up: 'face up', down: 'lay face down', level: (n, elo) => `Level ${n} · Elo ${elo}`,
    missing: ' (not in this bundle)', visits: (n) => `${n} simulations a move`, levels: 'Levels', effort: 'Simulations', fullest: 'The strongest network of this bundle.',
    untrained: 'The network was not trained in this form.', arrangement: 'Arrangement', copied: 'Copied', hiddenNote: 'Hollow: what a face-down piece plays as. Solid: what it truly is, where you know it. Dots: who knows it.',
    shares: (r, d, b) => `Red ${r} %, draw ${d} %, Black ${b} %`, simulations: (n) => `${n} simulations`, proven: 'proven', untrainedMark: 'untrained', network: (name, step) => `network ${name}, step ${step}`,
    gone: 'The server does not answer', broken: 'The files of the page cannot be loaded', limit: (n, all) => `${n} of ${all} plies without a capture`, forms: 'Form', people: 'Players', unknownName: (all) => `${all}`,
  },
  zh: {
    other: 'English', new: '新局', undo: '悔棋', flip: '翻转', analyse: '分析', resign: '认输', strength: '对手', analysis: '分析',
    unseen: '未见之子', moves: '着法', texts: '局面与棋谱', copyFen: '复制 FEN', copyRecord: '复制棋谱', open: '打开…',
    toStart: '回到开局', back: '上一着', forth: '下一着', toEnd: '到最后', placing: '暗中布子：标记的格子放哪个子？',
    restRandom: '其余随机', restHome: '其余归原位', begin: '新局', openTitle: '打开局面或棋谱', cancel: '取消', start: '开始',
    textLabel: 'FEN、着法，或带标签的棋谱', youRed: '执红', youBlack: '执黑', youBoth: '双方',
    red: '红方', black: '黑方', person: '您', engine: 'fanqi', yourMove: '轮到您走', turnOf: (side) => `${side}走`, thinking: 'fanqi 思考中…',
    arranges: 'fanqi 布子中…', yourArrangement: '请暗中布子', check: '将军！', wins: (side) => `${side}胜`, draw: '和棋',
    look: (ply, all) => `第 ${ply} 着，共 ${all} 着`, up: '明放', down: '扣下（变假子）', level: (n, elo) => `第 ${n} 级 · Elo ${elo}`,
    missing: '（此包中没有）', visits: (n) => `每着模拟 ${n} 次`, levels: '级别', effort: '模拟次数', fullest: '此包中最强的网络。',
    untrained: '网络未训练过此下法。', arrangement: '布子', copied: '已复制', hiddenNote: '空心：暗子按此走。实心：您知道的真身。圆点：谁知道。',
    shares: (r, d, b) => `红胜 ${r} %，和 ${d} %，黑胜 ${b} %`, simulations: (n) => `模拟 ${n} 次`, proven: '已证明', untrainedMark: '未训练', network: (name, step) => `网络 ${name}，第 ${step} 步`,
    gone: '服务器没有回答', broken: '网页文件无法载入', limit: (n, all) => `未吃子 ${n} / ${all} 着`, forms: '下法', people: '执子', unknownName: (all) => `${all}`,
  },
};

let language = localStorage.getItem('language') || ((navigator.language || '').startsWith('zh') ? 'zh' : 'en');

/** A text of the page, with what it depends on. */
function say(key, ...values) {
  const text = WORDS[language][key];
  return typeof text === 'function' ? text(...values) : text;
}

/** A label that comes with the data. */
function called(label) {
  return (language === 'zh' && label.chinese) || label.english;
}

/** Says the texts that stand in the page itself. */
function sayAll() {
  document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en';
  for (const element of document.querySelectorAll('[data-say]')) element.textContent = say(element.dataset.say);
  for (const element of document.querySelectorAll('[data-name]')) {
    element.title = say(element.dataset.name);
    element.setAttribute('aria-label', say(element.dataset.name));
  }
  const other = byId('language');
  other.textContent = say('other');
  other.lang = language === 'zh' ? 'en' : 'zh-Hans';
}

function byId(id) {
  return document.getElementById(id);
}

/** An element with attributes and children. */
function part(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
