// Plays the game of a page without a server: train/web/browser, compiled to WebAssembly, holds the game and searches,
// onnxruntime-web computes the network, row by row.
import * as ort from './onnxruntime.js';

const LONGEST = 60000; // ms; then a search ends with what it has found
const TURN = 30; // ms of a search, after which other requests have their turn

ort.env.wasm.numThreads = 1; // more would need headers that few hosts of files send
ort.env.logLevel = 'error';

async function fetched(name) {
  const answer = await fetch(new URL(name, import.meta.url)).catch(() => null);
  if (!answer?.ok) throw new Error(`${name}: cannot be loaded${answer ? ` (${answer.status})` : ''}; is the whole folder there?`);
  return answer.arrayBuffer();
}

/** A number that chance follows from. */
function seed() {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 21) * 2 ** 32 + low;
}

/** The compiled player: JSON in, JSON out, and the numbers of the network between. */
class Player {
  constructor({ exports }) {
    this.exports = exports;
  }

  /** The answer to a call of player.rs, with the bytes of a file if it needs one. */
  call(name, fields = {}, file = new ArrayBuffer(0)) {
    const { room, ask, answer, memory } = this.exports;
    const json = new TextEncoder().encode(JSON.stringify({ call: name, ...fields }));
    const place = room(json.length + file.byteLength);
    // The memory may have grown, and a view of it is one of what it was.
    new Uint8Array(memory.buffer).set(json, place);
    new Uint8Array(memory.buffer).set(new Uint8Array(file), place + json.length);
    const length = ask(json.length);
    const value = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, answer(), length)));
    if (value?.error !== undefined) throw new Error(value.error);
    return value;
  }

  numbers({ start, end }) {
    return new Float32Array(this.exports.memory.buffer, this.exports.numbers() + 4 * start, end - start);
  }
}

class Game {
  async open() {
    const [program, site] = await Promise.all([fetched('browser.wasm'), fetched('site.json')]);
    const { instance } = await WebAssembly.instantiate(program);
    this.player = new Player(instance);
    const { name } = JSON.parse(new TextDecoder().decode(site));
    const { places } = this.player.call('open', { folder: 'bundle', name }, await fetched('bundle/model.json'));
    this.inputs = places.filter((place) => place.input);
    this.outputs = places.filter((place) => !place.input);
    this.networks = new Map();
    this.last = Promise.resolve(); // the search asked for last
  }

  /** The session of a network's file, checked and loaded once. */
  network(file) {
    if (!this.networks.has(file)) {
      const load = async () => {
        const bytes = await fetched(`bundle/${file}`);
        this.player.call('check', { file }, bytes);
        ort.env.wasm.wasmBinary ??= await fetched('onnxruntime.wasm');
        return ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
      };
      this.networks.set(file, load());
      this.networks.get(file).catch(() => this.networks.delete(file));
    }
    return this.networks.get(file);
  }

  /** What a search found; one goes on at a time. */
  search(purpose, strength) {
    const found = this.last.catch(() => null).then(() => this.searched(purpose, strength));
    this.last = found;
    return found;
  }

  async searched(purpose, strength) {
    const fields = { purpose, strength, seed: seed() };
    const { file } = this.player.call('search', fields);
    const network = await this.network(file);
    const begun = performance.now();
    let turn = begun;
    for (;;) {
      const step = this.player.call('step', { enough: performance.now() - begun > LONGEST });
      if (!step.row) return step.found;
      await this.compute(network);
      if (performance.now() - turn < TURN) continue;
      await new Promise((done) => { setTimeout(done); });
      turn = performance.now();
    }
  }

  /** Computes the row that the player waits for. */
  async compute(network) {
    const feeds = {};
    for (const place of this.inputs) feeds[place.name] = new ort.Tensor('float32', this.player.numbers(place).slice(), place.shape);
    const answers = await network.run(feeds);
    for (const place of this.outputs) this.player.numbers(place).set(answers[place.name].data);
  }

  answer(call, argument) {
    const { player } = this;
    switch (call) {
      case 'begin': return player.call('begin', { start: argument, seed: seed() });
      case 'ask': return player.call('ask', { request: argument });
      case 'reply': return this.search('move', argument);
      case 'analysis': return this.search('analysis', argument);
      default: return player.call(call);
    }
  }
}

const game = new Game();
const opened = game.open();
opened.catch(() => null); // told to whoever asks

onmessage = async ({ data: { id, call, argument } }) => {
  try {
    await opened;
    postMessage({ id, value: await game.answer(call, argument) });
  } catch (error) {
    postMessage({ id, error: error instanceof WebAssembly.RuntimeError ? `the page's program broke off (${error.message}); load the page anew` : error.message });
  }
};
