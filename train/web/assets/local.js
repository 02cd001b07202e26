// The game where no server is: a worker plays it, with the rules compiled to WebAssembly and the network run by onnxruntime-web.
'use strict';

class Local {
  constructor() {
    this.waiting = new Map();
    this.asked = 0;
    this.worker = new Worker('worker.js', { type: 'module' });
    this.worker.onmessage = ({ data }) => this.take(data);
    this.worker.onerror = (event) => this.end(event.message || say('broken'));
  }

  take({ id, value, error }) {
    const { done, refused } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) done(value);
    else refused(new Error(error));
  }

  /** Nothing is answered any more. */
  end(why) {
    this.broken = why;
    for (const id of [...this.waiting.keys()]) this.take({ id, error: why });
  }

  /** The answer to a call of worker.js; what is refused becomes an error with its words. */
  send(call, argument) {
    if (this.broken) return Promise.reject(new Error(this.broken));
    return new Promise((done, refused) => {
      this.asked += 1;
      this.waiting.set(this.asked, { done, refused });
      this.worker.postMessage({ id: this.asked, call, argument });
    });
  }

  about() {
    return this.send('about');
  }

  begin(start) {
    return this.kept('begin', start);
  }

  /** The state of the game that this window had, played again up to where it was. */
  async resume() {
    const kept = sessionStorage.getItem('kept');
    return kept && this.begin(JSON.parse(kept)).catch(() => null);
  }

  ask(request) {
    return this.kept('ask', request);
  }

  reply(strength) {
    return this.kept('reply', strength);
  }

  analysis(strength) {
    return this.send('analysis', strength);
  }

  /** An answer; if it is a state, the game is kept first, in case that the window is loaded anew. */
  async kept(call, argument) {
    const answer = await this.send(call, argument);
    if (answer.form) await this.send('keep').then((kept) => sessionStorage.setItem('kept', JSON.stringify(kept))).catch(() => null);
    return answer;
  }
}

const connect = () => new Local();
