/* Long work: in a worker made from this very script, or in small pieces in the page where no worker starts. */

const SLICE = 14; // milliseconds of work between two looks at what the reader does

const RANKS = { why: 0, information: 0, intervals: 1, surprise: 2 }; // what the reader waits for first comes first

/* Generators in pieces, those of the same rank in turn; one of the same name that waits or runs is dropped. */
class Tasks {
  constructor() {
    this.queue = [];
    this.awake = false;
  }

  run(name, work, done, failed) {
    this.stop(name);
    this.queue.push({ name, work, done, failed });
    this.wake();
  }

  stop(name) {
    this.queue = this.queue.filter((task) => task.name !== name);
  }

  clear() {
    this.queue = [];
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
      do found = task.work.next();
      while (!found.done && performance.now() < end);
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
    for (const [name, { args, done }] of waiting) this.run(name, args, done);
  }

  /* Run JOBS[job]; a job of the same name that is under way is dropped. */
  run(name, { job = name, ...args }, done) {
    const number = ++this.number;
    this.pending.set(name, { number, args: { job, ...args }, done });
    if (this.worker === null) this.tasks.run(name, JOBS[job](this.model, args), (result) => this.receive({ name, number, result }), (error) => this.receive({ name, number, error }));
    else this.worker.postMessage({ name, number, job, args: { ...args, likelihoods: packEvidence(args.likelihoods) } });
  }

  receive({ name, number, result, error }) {
    const waiting = this.pending.get(name);
    if (waiting?.number !== number) return;
    this.pending.delete(name);
    if (error !== undefined) throw error instanceof Error ? error : new Error(error);
    waiting.done(result);
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
      tasks.run(name, work, (result) => scope.postMessage({ name, number, result }), (error) => scope.postMessage({ name, number, error: `${error.stack ?? error}` }));
    }
  };
}
