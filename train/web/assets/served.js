// The game where a server plays: requests and answers as src/server.rs has them.
'use strict';

class Served {
  /** The answer to a request; what is refused becomes an error with the server's words. */
  async send(path, body) {
    const options = body === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    let answer;
    try {
      answer = await fetch(`api/${path}`, options);
    } catch {
      throw new Error(say('gone'));
    }
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error);
    return value;
  }

  about() {
    return this.send('about');
  }

  async begin(start) {
    const { name, state } = await this.send('games', start);
    this.name = name;
    sessionStorage.setItem('game', name);
    return state;
  }

  /** The state of the game that this window had, if it goes on. */
  async resume() {
    this.name = sessionStorage.getItem('game');
    if (!this.name) return null;
    return this.ask({ do: 'state' }).catch(() => null);
  }

  ask(request) {
    return this.send(`games/${this.name}`, request);
  }

  reply(strength) {
    return this.send(`games/${this.name}/reply`, strength);
  }

  analysis(strength) {
    return this.send(`games/${this.name}/analysis`, strength);
  }
}

const connect = () => new Served();
