/* Steps to undo and redo. Each has an entry in the browser's history, where a frame has one, so that Back and Forward work. */

class Steps {
  constructor(app) {
    this.app = app;
    this.session = `${Math.random()}`;
    this.list = [];
    this.at = 0;
    this.later = null;
    window.addEventListener("popstate", (event) => this.arrive(event.state));
  }

  now() {
    const { app } = this;
    return { target: app.target, likelihoods: app.likelihoods, text: writeScenario(app.model, app.target, app.likelihoods, app.modelId) };
  }

  /* Read the address when the page opens; a sentence where something in it is not known. */
  open() {
    const sentence = this.readAddress();
    this.list = [this.now()];
    this.at = 0;
    this.write("replaceState");
    return sentence;
  }

  readAddress() {
    const { app } = this;
    const read = readScenario(app.model, location.hash);
    app.likelihoods = read.likelihoods;
    const asked = app.model.weighted ? app.model.target : read.target;
    const other = asked !== app.target;
    app.target = asked;
    if (other) app.answer.build();
    return scenarioReport(app, read);
  }

  record(replace) {
    const step = this.now();
    if (this.list.length && step.text === this.list[this.at].text && !replace) return;
    if (replace && this.dragging) {
      this.list[this.at] = step;
      clearTimeout(this.later);
      this.later = setTimeout(() => this.write("replaceState"), 200);
      return;
    }
    this.dragging = replace;
    this.list.length = this.at + 1;
    this.list.push(step);
    this.at += 1;
    this.write("pushState");
  }

  write(how) {
    clearTimeout(this.later);
    const { text } = this.list[this.at];
    try {
      history[how]({ step: this.at, session: this.session }, "", text ? `#${text}` : "#");
      this.addressed = true;
    } catch {
      this.addressed = false; // a closed frame has no address of its own
    }
  }

  /* Back or Forward, or another address typed into the bar. */
  arrive(state) {
    const { app } = this;
    if (state?.session === this.session && this.list[state.step] !== undefined) {
      this.go(state.step);
      return;
    }
    const sentence = this.readAddress();
    this.list.length = this.at + 1;
    this.list.push(this.now());
    this.at += 1;
    this.write("replaceState");
    app.refresh();
    if (sentence !== null) app.notice(sentence);
  }

  go(step) {
    this.dragging = false;
    this.at = step;
    this.app.restore(this.list[step]);
  }

  undo() {
    if (this.at === 0) return;
    if (this.addressed && this.isHere()) history.back();
    else this.go(this.at - 1);
  }

  redo() {
    if (this.at === this.list.length - 1) return;
    if (this.addressed && this.isHere()) history.forward();
    else this.go(this.at + 1);
  }

  isHere() {
    return history.state?.session === this.session && history.state.step === this.at;
  }
}
