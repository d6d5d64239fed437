/* The answer, in view whatever is done: the most probable class on one scale with its credible interval, and the others. */

const CLASSES_SHOWN = 5;

class AnswerBar {
  constructor(app) {
    this.app = app;
    this.filter = "";
    this.all = false;
    this.rows = new Map();
    window.addEventListener("resize", () => this.update(this.app.found));
  }

  build() {
    const { model, target } = this.app;
    const nodes = model.weighted || model.data.target >= 0 && model.names.length > 400 ? [model.target] : model.names.map((_, node) => node);
    this.choice = h("select", { id: "ask", "aria-label": "Variable that is asked for", onchange: (event) => this.app.ask(Number(event.target.value)) },
      nodes.map((node) => h("option", { value: node, text: model.names[node] })));
    this.choice.value = target;
    this.choice.disabled = nodes.length < 2;
    this.label = h("strong", { class: "answer-label" });
    this.value = h("span", { class: "answer-value" });
    this.scale = new Scale();
    this.range = h("span", { class: "answer-range" });
    this.secondLabel = h("span", { class: "second-label" });
    this.secondValue = h("span", { class: "second-value" });
    this.second = h("span", { class: "answer-second" }, this.range, this.secondLabel, this.secondValue);
    this.words = h("span", { class: "answer-words" });
    this.more = h("button", { type: "button", class: "quiet", id: "more-classes", onclick: () => this.toggle() });
    this.search = h("input", { type: "search", id: "class-filter", placeholder: "Filter classes", "aria-label": "Filter classes", oninput: (event) => this.filterBy(event.target.value) });
    this.list = h("ol", { id: "posterior", "aria-label": `Posterior of ${model.names[target]}` });
    this.rows.clear();
    const line = h("div", { class: "answer-line" },
      h("span", { class: "answer-what" }, this.choice),
      h("span", { class: "answer-best" }, this.label, " ", this.value),
      this.scale.element, h("span", { class: "answer-rest" }, this.second, this.words), this.more);
    byId("answer").replaceChildren(line, h("div", { class: "answer-all", id: "all-classes" }, this.search, this.list));
    this.more.setAttribute("aria-controls", "all-classes");
  }

  toggle() {
    this.all = !this.all;
    this.filter = "";
    this.search.value = "";
    this.update(this.app.found);
  }

  filterBy(text) {
    this.filter = text.trim().toLowerCase();
    this.update(this.app.found);
  }

  update(found) {
    const { app } = this;
    const { model, target, ranges } = app;
    const label = model.label(target, found.best);
    this.label.textContent = label;
    this.label.title = label;
    this.value.textContent = percent(beside(found.probabilities, found.best), isNarrow());
    const order = Array.from(found.probabilities.keys()).sort((a, b) => found.probabilities[b] - found.probabilities[a] || a - b);
    const second = order[1];
    this.showSecond(found, second);
    const threshold = thresholdOf(app, found, second);
    this.scale.update(found.probabilities[found.best], model.priors[target][found.best], ranges?.[found.best] ?? null, threshold);
    const [head, rest] = this.verdict(found, second, threshold);
    this.words.replaceChildren(h("span", { text: head }), h("span", { class: "words-more", text: head && rest ? `: ${rest}` : rest }));
    this.words.classList.toggle("unsure", head !== "");
    byId("answer").classList.toggle("sure", head === "");
    this.showClasses(found, order);
  }

  /* The runner-up; on a narrow screen after the interval, for which the words have no room there. */
  showSecond(found, second) {
    const { model, target, ranges } = this.app;
    const narrow = isNarrow();
    const range = ranges?.[found.best] ?? null;
    this.range.textContent = range !== null ? rangeText(range, narrow) : hasIntervals(model, target) ? "interval …" : "";
    this.secondLabel.textContent = second === undefined ? "" : `then ${model.label(target, second)}`;
    this.secondLabel.title = this.secondLabel.textContent;
    this.secondValue.textContent = second === undefined ? "" : percent(found.probabilities[second], narrow);
  }

  /* How sure, in words: what is said on every screen, and what only where there is room. */
  verdict(found, second, threshold) {
    const { app } = this;
    const { model, target, ranges } = app;
    if (found.impossible) return ["impossible case", "this is the prior"];
    if (model.pool !== null && !model.pooled(target)) return ["", "from the network to read"];
    const range = ranges === null ? (hasIntervals(model, target) ? "interval …" : "") : `90 % interval ${rangeText(ranges[found.best])}`;
    if (ranges !== null && isUnsure(app, found, second, threshold)) return ["not sure", range];
    if (threshold === null || found.probabilities[found.best] >= threshold) return ["", range];
    return [`decide ${model.label(target, second)}`, `its threshold is ${percent(1 - threshold)}`];
  }

  showClasses(found, order) {
    const { model, target } = this.app;
    const few = order.length <= CLASSES_SHOWN;
    const matching = this.filter ? order.filter((state) => model.label(target, state).toLowerCase().includes(this.filter)) : order;
    const shown = few || this.all ? matching : matching.slice(0, CLASSES_SHOWN);
    byId("answer").classList.toggle("opened", this.all);
    byId("answer").classList.toggle("many", order.length > 2);
    this.search.hidden = few || !this.all;
    this.more.textContent = this.all ? "Close" : few ? "All classes" : `${order.length - CLASSES_SHOWN} more`;
    this.more.setAttribute("aria-expanded", this.all);
    this.list.replaceChildren(...shown.map((state) => this.row(state, found)));
  }

  row(state, found) {
    const { app } = this;
    let row = this.rows.get(state);
    if (row === undefined) {
      const label = app.model.label(app.target, state);
      row = { scale: new Scale(), value: h("output"), range: h("span", { class: "small range-text" }) };
      row.element = h("li", { class: "answer-row", "data-state": state }, h("span", { class: "label", text: label, title: label }), row.scale.element, row.value, row.range);
      this.rows.set(state, row);
    }
    const p = found.probabilities[state];
    const range = app.ranges?.[state] ?? null;
    row.scale.update(p, app.model.priors[app.target][state], range, null);
    row.value.textContent = percent(beside(found.probabilities, state));
    row.value.dataset.exact = p;
    row.value.title = `${p}`;
    row.range.textContent = range === null ? "" : `90 % interval ${rangeText(range)}`;
    return row.element;
  }
}

/* A scale from 0 to 1: the probability, the one before any evidence, the interval and the threshold. */
class Scale {
  constructor() {
    this.fill = h("span", { class: "fill" });
    this.before = h("span", { class: "before", title: "before any evidence" });
    this.range = h("span", { class: "range" });
    this.threshold = h("span", { class: "threshold" });
    this.element = h("span", { class: "track scale", "aria-hidden": "true" }, this.fill, this.before, this.range, this.threshold);
  }

  update(p, before, range, threshold) {
    setWidth(this.fill, p);
    this.before.style.left = `${before * 100}%`;
    this.range.hidden = range === null;
    if (range !== null) {
      this.range.style.left = `${range[0] * 100}%`;
      this.range.style.width = `${(range[1] - range[0]) * 100}%`;
    }
    this.threshold.hidden = threshold === null;
    if (threshold !== null) this.threshold.style.left = `${threshold * 100}%`;
  }
}

/* The probability from which on the most probable class is chosen: one half of two classes, unless costs say otherwise. */
function thresholdOf(app, found) {
  if (found.probabilities.length !== 2) return null;
  if (app.threshold === null) return 0.5;
  return app.threshold.state === found.best ? app.threshold.p : 1 - app.threshold.p;
}

/* Whether the interval reaches to where the decision would be another: the threshold of two classes, of more the interval
   of the runner-up. */
function isUnsure(app, found, second, threshold) {
  const [low, high] = app.ranges[found.best];
  if (threshold !== null) return low < threshold && high > threshold;
  return second !== undefined && low < app.ranges[second][1];
}
