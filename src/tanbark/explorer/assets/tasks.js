/* Long work in small pieces, so that the page stays quick; new questions end the work on old ones. */

const SLICE = 14; // milliseconds of work between two looks at what the reader does

class Tasks {
  constructor() {
    this.running = new Map();
  }

  /* Run a generator to its end and hand its result on; a task of the same name that is under way is dropped. */
  run(name, work, done) {
    const token = {};
    this.running.set(name, token);
    const step = () => {
      if (this.running.get(name) !== token) return;
      const end = performance.now() + SLICE;
      let found = work.next();
      while (!found.done && performance.now() < end) found = work.next();
      if (found.done) {
        this.running.delete(name);
        done(found.value);
      } else {
        setTimeout(step, 0);
      }
    };
    setTimeout(step, 0);
  }

  stop(name) {
    this.running.delete(name);
  }

  has(name) {
    return this.running.has(name);
  }

  get idle() {
    return this.running.size === 0;
  }
}

/* Run a generator at once. */
function finish(work) {
  let found = work.next();
  while (!found.done) found = work.next();
  return found.value;
}
