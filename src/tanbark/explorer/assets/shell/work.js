/* Long work: in a worker made from this very script, or in small pieces in the page where no worker starts. */

const SLICE = 14; // milliseconds of work between two looks at what the reader does

const RANKS = { why: 0, information: 0, intervals: 1, surprise: 2 }; // what the reader waits for first comes first

/* Generators in pieces, those of the same rank in turn; one of the same name that waits or runs is dropped. A generator may
   yield a promise, which it gets the value of, or a value, which is told. */
class Tasks {
  constructor() {
    this.queue = [];
    this.waiting = new Set();
    this.awake = false;
  }

  run(name, work, { done, failed, told }) {
    this.stop(name);
    this.queue.push({ name, work, done, failed, told, resume: () => work.next() });
    this.wake();
  }

  stop(name) {
    this.queue = this.queue.filter((task) => task.name !== name);
    for (const task of this.waiting) if (task.name === name) this.waiting.delete(task);
  }

  clear() {
    this.queue = [];
    this.waiting.clear();
  }

  /* Let a task rest until a promise is kept. */
  wait(task, promise) {
    this.queue = this.queue.filter((other) => other !== task);
    this.waiting.add(task);
    const go = (resume) => {
      if (!this.waiting.delete(task)) return;
      this.queue.push({ ...task, resume });
      this.wake();
    };
    promise.then((value) => go(() => task.work.next(value)), (error) => go(() => task.work.throw(error)));
  }

  wake() {
    if (this.awake || !this.queue.length) return;
    this.awake = true;
    setTimeout(() => this.step(), 0);
  }

  step() {
    this.awake = false;
    const end = performance.now() + SLICE;
    while (this.queue.length && performance.now() < end) {
      const rank = Math.min(...this.queue.map(({ name }) => RANKS[name] ?? 1));
      this.advance(this.queue.find(({ name }) => (RANKS[name] ?? 1) === rank), end);
    }
    this.wake();
  }

  advance(task, end) {
    let found;
    try {
      do {
        found = task.resume();
        task.resume = () => task.work.next();
        if (found.value instanceof Promise) {
          this.wait(task, found.value);
          return;
        }
        if (!found.done && found.value !== undefined) task.told(found.value);
      } while (!found.done && performance.now() < end);
    } catch (error) {
      this.queue = this.queue.filter((other) => other !== task);
      task.failed(error);
      return;
    }
    const others = this.queue.filter((other) => other !== task);
    this.queue = found.done || !this.queue.includes(task) ? others : [...others, task];
    if (found.done) task.done(found.value);
  }
}

/* Run a generator at once. */
function finish(work) {
  let found = work.next();
  while (!found.done) found = work.next();
  return found.value;
}

/* The jobs of the page. All belong to the evidence that is shown: `reset` drops those of evidence that is no more. */
class Work {
  constructor(model) {
    this.model = model;
    this.pending = new Map();
    this.tasks = new Tasks();
    this.worker = null;
    this.number = 0;
  }

  /* Start a worker with the script and the text of the model's data; whatever goes wrong, the page works by itself. */
  start(script, data) {
    try {
      const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      this.worker = new Worker(address);
      this.worker.onmessage = ({ data: told }) => this.receive(told);
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.fallBack();
      };
      this.worker.postMessage({ data });
    } catch {
      this.worker = null;
    }
  }

  fallBack() {
    this.worker?.terminate();
    this.worker = null;
    const waiting = [...this.pending];
    this.pending.clear();
    for (const [name, { args, done, ...rest }] of waiting) this.run(name, args, done, rest);
  }

  /* Run JOBS[job]; a job of the same name that is under way is dropped. */
  run(name, { job = name, ...args }, done, { told = null, failed = null } = {}) {
    const number = ++this.number;
    this.pending.set(name, { number, args: { job, ...args }, done, told, failed });
    if (this.worker === null) this.tasks.run(name, JOBS[job](this.model, args), messages(name, number, (message) => this.receive(message)));
    else this.worker.postMessage({ name, number, job, args: { ...args, likelihoods: packEvidence(args.likelihoods ?? []) } });
  }

  receive({ name, number, result, error, part }) {
    const waiting = this.pending.get(name);
    if (waiting?.number !== number) return;
    if (part !== undefined) {
      waiting.told(part);
      return;
    }
    this.pending.delete(name);
    if (error === undefined) waiting.done(result);
    else if (waiting.failed === null) throw new Error(error.stack);
    else waiting.failed(error);
  }

  /* End the worker. */
  close() {
    this.reset();
    this.worker?.terminate();
    this.worker = null;
  }

  stop(name) {
    this.pending.delete(name);
    this.tasks.stop(name);
    this.worker?.postMessage({ stop: name });
  }

  reset() {
    if (!this.pending.size) return;
    this.pending.clear();
    this.tasks.clear();
    this.worker?.postMessage({ reset: true });
  }

  get idle() {
    return this.pending.size === 0;
  }
}

/* What happens to a task, as messages. */
function messages(name, number, send) {
  return {
    done: (result) => send({ name, number, result }),
    told: (part) => send({ name, number, part }),
    failed: (error) => send({ name, number, error: { name: error.name, message: error.message, stack: `${error.stack ?? error}` } }),
  };
}

/* The worker's side. */
function serve(scope) {
  const tasks = new Tasks();
  let model = null;
  scope.onmessage = ({ data: told }) => {
    if (told.data !== undefined) model = new Model(JSON.parse(told.data));
    else if (told.tables !== undefined) model.replaceTables(told.tables);
    else if (told.reset) tasks.clear();
    else if (told.stop !== undefined) tasks.stop(told.stop);
    else {
      const { name, number, job, args } = told;
      const work = JOBS[job](model, { ...args, likelihoods: unpackEvidence(model, args.likelihoods) });
      tasks.run(name, work, messages(name, number, (message) => scope.postMessage(message)));
    }
  };
}
