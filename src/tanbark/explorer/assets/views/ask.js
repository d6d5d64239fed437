/* Ask: one question at a time, the one that tells most about the target first. */

const USEFUL = 0.005; // bits below which a question is not asked by itself
const OTHERS_SHOWN = 8;

class AskView {
  constructor(app) {
    this.app = app;
    this.node = null; // the question that is shown
    this.wanted = null; // one that the reader has chosen
    this.matches = null;
    this.card = null;
    const { arranged, groups } = app.model.data;
    this.groups = groups ?? [];
    this.places = arranged?.some((node, k) => node !== k) ? Object.fromEntries(arranged.map((node, k) => [node, k])) : null;
    app.events.addEventListener("bits", () => app.view === "ask" && this.choose());
  }

  mount(element) {
    this.question = h("section", { id: "question", "aria-live": "polite" });
    this.others = h("ol", { id: "next" });
    this.aside = h("section", { id: "others", "aria-labelledby": "next-head" }, h("h2", { id: "next-head", text: "What to ask next" }), this.others);
    element.replaceChildren(this.question, this.aside);
  }

  update() {
    if (this.node !== null && this.isOpen(this.node)) this.card?.update(this.app.found);
    else this.question.classList.add("wait");
    if (this.app.bits !== null) this.choose();
  }

  isOpen(node) {
    const { app } = this;
    return node !== app.target && app.likelihoods[node] === null && !app.skipped.has(node) && app.model.sizes[node] > 1;
  }

  /* All open questions, the most telling first, unless the page was made with an order, or group by group. */
  ranked() {
    const { bits, model } = this.app;
    const open = model.names.map((_, node) => node).filter((node) => this.isOpen(node));
    const rank = (node) => this.places?.[node] ?? this.groups.findIndex(({ nodes }) => nodes.includes(node)) >>> 0;
    const ranks = new Map(open.map((node) => [node, rank(node)]));
    return open.sort((a, b) => ranks.get(a) - ranks.get(b) || bits[b] - bits[a] || a - b);
  }

  choose() {
    const { app } = this;
    const ranked = this.ranked();
    const [first] = ranked;
    if (this.wanted !== null && !this.isOpen(this.wanted)) this.wanted = null;
    const useful = ranked.filter((node) => app.bits[node] >= USEFUL);
    const node = this.wanted ?? (this.places === null ? useful[0] : first) ?? null;
    this.question.classList.remove("wait");
    if (node === null) this.showEnd(ranked);
    else if (node !== this.node || this.card === null) this.showQuestion(node);
    else this.card.update(app.found);
    this.node = node;
    if (node !== null) this.showTelling(node);
    this.showOthers(ranked.filter((other) => other !== node));
  }

  showQuestion(node) {
    const { app } = this;
    const within = this.question.contains(document.activeElement);
    this.card = new QuestionCard(this, node);
    this.question.replaceChildren(this.card.element);
    this.card.update(app.found);
    if (within) this.card.focusFirst();
  }

  showTelling(node) {
    const group = this.groups.find(({ nodes }) => nodes.includes(node));
    this.card.telling.textContent = `${group === undefined ? "" : `${group.title} · `}expected to tell ${bitsText(this.app.bits[node])} about ${this.app.model.names[this.app.target]}`;
  }

  showEnd(ranked) {
    const { app } = this;
    this.card = null;
    const none = ranked.length === 0 ? "Every question is answered or skipped." : `No further question is expected to tell more than ${USEFUL} bits about ${app.model.names[app.target]}.`;
    const skipped = app.skipped.size === 0 ? null : h("button", { type: "button", text: `Ask the ${app.skipped.size} skipped again`, onclick: () => this.askAgain() });
    this.question.replaceChildren(h("h2", { text: "Nothing more to ask" }), h("p", { text: none }), skipped ?? "");
  }

  askAgain() {
    this.app.skipped.clear();
    this.app.refresh();
  }

  showOthers(ranked) {
    const { app } = this;
    const shown = (this.matches === null ? ranked : ranked.filter((node) => this.matches[node])).slice(0, OTHERS_SHOWN);
    const most = ranked.reduce((all, node) => Math.max(all, app.bits[node]), 1e-12);
    this.aside.hidden = ranked.length === 0;
    this.others.replaceChildren(...shown.map((node) => {
      const fill = h("span", { class: "fill" });
      setWidth(fill, app.bits[node] / most);
      return h("li", {},
        h("button", { type: "button", class: "link", text: app.model.names[node], onclick: () => this.focus(node) }),
        h("span", { class: "track", "aria-hidden": "true" }, fill),
        h("span", { class: "value", text: bitsText(app.bits[node]), title: `${app.bits[node]}` }));
    }));
  }

  /* Ask this one now. */
  focus(node) {
    this.app.skipped.delete(node);
    if (!this.isOpen(node)) return;
    this.wanted = node;
    if (this.app.bits !== null) this.choose();
    this.card?.focusFirst();
  }

  search(matches) {
    this.matches = matches;
    if (this.app.bits !== null) this.choose();
  }

  skip(node) {
    this.app.skip(node);
  }

  onKey(event) {
    this.card?.onKey(event);
  }
}

/* The question: a number to type where there are intervals, and every state as a button. */
class QuestionCard {
  constructor(view, node) {
    const { app } = view;
    Object.assign(this, { view, app, node });
    const { model } = app;
    const column = model.columns[node];
    this.telling = h("p", { class: "small telling" });
    this.number = column.kind === "interval" && !(model.data.transformed ?? []).includes(node) ? this.makeNumber() : null;
    this.states = column.shown.map((label, state) => this.makeState(label, state));
    this.element = h("div", { class: "ask-card", role: "group", "aria-label": model.names[node], "data-node": node },
      this.telling,
      h("h2", { class: "ask-name", text: model.names[node] }),
      column.description === undefined ? null : h("p", { class: "small", text: column.description }),
      this.number,
      h("div", { class: "ask-states" }, this.states.map(({ button }) => button)),
      h("p", { class: "buttons" },
        h("button", { type: "button", id: "skip", text: "Don't know", onclick: () => view.skip(node) }),
        h("button", { type: "button", class: "quiet", text: "More about it", onclick: (event) => app.edit(node, event.currentTarget) })));
  }

  makeNumber() {
    const name = this.app.model.names[this.node];
    this.input = h("input", { class: "number", inputmode: "decimal", placeholder: `a number${this.app.model.unit(this.node) && ` in${this.app.model.unit(this.node)}`}`, "aria-label": `Value of ${name}`, "aria-describedby": "number-error", autocomplete: "off" });
    this.error = h("span", { class: "error", id: "number-error", role: "alert" });
    return h("form", { class: "ask-number", onsubmit: (event) => this.submit(event) }, this.input, h("button", { type: "submit", class: "primary", text: "Next" }), this.error);
  }

  submit(event) {
    event.preventDefault();
    const state = codeValue(this.app.model.columns[this.node], this.input.value);
    this.error.textContent = state === "unknown" ? `"${this.input.value}" is no number. Type one such as 12.5, or leave it empty.` : "";
    if (state === "missing") this.view.skip(this.node);
    else if (state !== "unknown") this.app.observe(this.node, state, Number(this.input.value));
  }

  makeState(label, state) {
    const fill = h("span", { class: "fill" });
    const value = h("span", { class: "value" });
    const button = h("button", { type: "button", class: "ask-state", "data-state": state, onclick: () => this.app.observe(this.node, state) },
      h("span", { class: "label", text: label }), h("span", { class: "track", "aria-hidden": "true" }, fill), value);
    return { button, fill, value, label };
  }

  update(found) {
    const marginal = found.marginals[this.node];
    this.states.forEach(({ fill, value, button, label }, state) => {
      setWidth(fill, marginal[state]);
      value.textContent = percent(marginal[state], true);
      button.setAttribute("aria-label", `${label}: expected with ${percent(marginal[state])}`);
    });
  }

  focusFirst() {
    (this.input ?? this.states[0].button).focus({ preventScroll: true });
  }

  /* A digit is a number to type, or the place of a state; arrows go through the states. */
  onKey(event) {
    const at = this.states.findIndex(({ button }) => button === document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && (at >= 0 || document.activeElement === document.body)) {
      event.preventDefault();
      this.states[(at + step + this.states.length) % this.states.length].button.focus();
    } else if (/^[0-9.-]$/.test(event.key) && this.number !== null) this.input.focus();
    else if (/^[1-9]$/.test(event.key)) this.states[Number(event.key) - 1]?.button.click();
    else if (event.key === "d") this.view.skip(this.node);
  }
}

function bitsText(value) {
  return `${value < 0.01 ? value.toFixed(4) : value.toPrecision(2)} bits`;
}

VIEWS.push({ id: "ask", title: "Ask", place: 10, make: (app) => new AskView(app) });
