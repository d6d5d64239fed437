/* The page: what is asked, what is known, and keeping in step with it whatever is shown. */

class App {
  constructor(data, modelId = "") {
    Object.assign(this, { data, modelId });
    this.model = new Model(data);
    const { model } = this;
    this.work = new Work(model);
    this.events = new EventTarget();
    this.target = model.target;
    this.likelihoods = model.nothing.slice();
    this.skipped = new Set();
    this.selected = null;
    this.pinned = null;
    this.ranges = null;
    this.bits = null;
    this.thin = null;
    this.threshold = data.threshold === null ? null : { state: data.threshold.label, p: data.threshold.value };
    this.view = null;
    this.steps = new Steps(this);
    this.shell = new Shell(this);
    this.answer = new AnswerBar(this);
    this.case = new CaseStrip(this);
    this.editor = new Editor(this);
    this.sheet = new Sheet(this);
  }

  start() {
    this.shell.build();
    this.answer.build();
    const read = this.steps.open();
    this.shell.show(this.shell.views[0].id);
    if (read !== null) this.notice(read);
  }

  tell(name) {
    this.events.dispatchEvent(new CustomEvent(name));
  }

  /* ------------------------------------------------------------ evidence */

  /* Take other evidence; `replace` makes it part of the step before, as while something is dragged. */
  setAll(likelihoods, { sentence = null, replace = false } = {}) {
    this.likelihoods = likelihoods;
    this.steps.record(replace);
    this.refresh();
    if (sentence !== null) this.toast(sentence);
  }

  set(node, likelihood, options) {
    const all = this.likelihoods.slice();
    all[node] = likelihood === null || isVacuous(likelihood) ? null : likelihood;
    if (!sameEvidence(all[node], this.likelihoods[node])) this.setAll(all, options);
  }

  observe(node, state, value) {
    this.skipped.delete(node);
    this.set(node, this.model.observed(node, state, value));
  }

  toggle(node, state) {
    if (hardState(this.likelihoods[node]) === state) this.retract(node);
    else this.observe(node, state);
  }

  /* Rule a state out, or let it in again; the last state that is left cannot go. */
  negate(node, state) {
    const known = this.likelihoods[node];
    const likelihood = known === null || hardState(known) >= 0 ? new Float64Array(this.model.sizes[node]).fill(1) : known.slice();
    likelihood[state] = likelihood[state] === 0 ? 1 : 0;
    if (likelihood.some((v) => v > 0)) this.set(node, likelihood);
  }

  soften(node, state, value, { drag = false } = {}) {
    const known = this.likelihoods[node];
    const likelihood = known === null ? new Float64Array(this.model.sizes[node]).fill(1) : known.slice();
    likelihood[state] = value;
    if (likelihood.some((v) => v > 0)) this.set(node, likelihood, { replace: drag });
  }

  retract(node) {
    this.set(node, null);
  }

  clear() {
    if (this.likelihoods.every((likelihood) => likelihood === null) && this.skipped.size === 0) return;
    this.skipped.clear();
    this.setAll(this.model.nothing.slice());
    this.toast("All values are removed.", { text: "Undo", act: () => this.undo() });
  }

  skip(node) {
    this.skipped.add(node);
    this.refresh();
  }

  undo() {
    this.steps.undo();
  }

  redo() {
    this.steps.redo();
  }

  /* Keep this case to compare others with it. */
  pin() {
    this.pinned = { likelihoods: this.likelihoods, target: this.target, found: this.found, ranges: this.ranges };
    this.shell.openPanel("whatif");
    this.refresh();
  }

  unpin() {
    this.pinned = null;
    this.refresh();
  }

  /* ------------------------------------------------------------ what is shown */

  /* Ask for another variable. */
  ask(node) {
    if (node === this.target) return;
    this.target = node;
    this.threshold = null;
    this.steps.record(false);
    this.answer.build();
    this.refresh();
  }

  /* Take a step of the history. */
  restore({ target, likelihoods }) {
    const other = target !== this.target;
    this.likelihoods = likelihoods;
    this.target = target;
    if (other) this.answer.build();
    this.refresh();
  }

  setThreshold(state, p) {
    this.threshold = { state, p };
    this.answer.update(this.found);
  }

  show(view) {
    this.shell.show(view);
  }

  select(node) {
    this.selected = node;
    this.tell("select");
    this.shell.updateView(this.found);
  }

  /* Open a variable at an element: its states, its neighbours, its CPT. */
  edit(node, anchor) {
    this.editor.open(node, anchor);
  }

  closeEditor() {
    this.editor.close();
  }

  /* Show the posterior at once; what takes longer follows. */
  refresh() {
    const { model, target, likelihoods, work } = this;
    work.reset();
    this.found = new Found(model, target, likelihoods);
    this.ranges = null;
    this.bits = null;
    this.answer.update(this.found);
    this.thin = support(model, likelihoods);
    this.case.update();
    this.compute("information", {}, (bits) => this.learn("bits", bits));
    this.shell.update(this.found);
    if (hasIntervals(model, target) && !this.found.impossible) this.compute("intervals", {}, (ranges) => this.learn("ranges", ranges));
    const hard = likelihoods.some((likelihood) => hardState(likelihood) >= 0);
    if (!model.weighted && !this.found.impossible && hard) this.compute("surprise", {}, (odd) => this.case.showWarnings(odd));
    this.tell("change");
    this.announce();
  }

  /* Run a job on the evidence of now. */
  compute(name, args, done) {
    this.work.run(name, { target: this.target, likelihoods: this.likelihoods, ...args }, done);
  }

  /* A worker of its own, for work that does not end when the evidence changes. */
  startWork() {
    const work = new Work(this.model);
    if (this.work.worker !== null) work.start(this.script, byId("model").textContent);
    if (this.model.edited) work.worker?.postMessage({ tables: [...this.model.original.keys()].map((node) => [node, this.model.data.tables[node]]) });
    return work;
  }

  learn(name, value) {
    this[name] = value;
    if (name === "ranges") this.answer.update(this.found);
    this.tell(name);
  }

  announce() {
    const { model, found, target } = this;
    byId("live").textContent = `${model.names[target]}: ${model.label(target, found.best)} ${percent(beside(found.probabilities, found.best))}`;
  }

  /* ------------------------------------------------------------ messages and dialogs */

  link() {
    return `${location.href.split("#")[0]}#${writeScenario(this.model, this.target, this.likelihoods, this.modelId)}`;
  }

  async copyLink() {
    try {
      await navigator.clipboard.writeText(this.link());
      this.toast("The link with this case is copied.");
    } catch {
      this.notice(`This is the link: ${this.link()}`);
    }
  }

  toast(text, action = null) {
    this.shell.toast(text, action);
  }

  notice(text) {
    this.shell.notice(text);
  }

  action(text, act, options) {
    return this.shell.addAction(text, act, options);
  }

  showTable(node) {
    showTableOf(this, node);
  }

  takeRow() {
    const { model } = this;
    byId("row-error").textContent = "";
    let read;
    try {
      read = readRow(model, byId("row").value);
    } catch (error) {
      byId("row-error").textContent = error.message;
      return;
    }
    byId("paste-dialog").close();
    this.setAll(rowEvidence(model, read), { sentence: rowReport(model, read) });
  }
}
