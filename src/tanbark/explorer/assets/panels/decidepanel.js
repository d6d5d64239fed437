/* Decide: what errors cost, the decision of least expected cost, and whether another question is worth asking. */

const DECISIONS_SHOWN = 6;
const QUESTIONS_SHOWN = 3;

class DecidePanel {
  constructor(app) {
    this.app = app;
    this.target = null;
  }

  mount(element) {
    this.form = h("div", { class: "costs" });
    this.place = h("div", { id: "decision" });
    this.worth = h("div", { id: "worth" });
    element.replaceChildren(this.form, this.place, this.worth);
  }

  /* Fields for the costs of errors on one state. A threshold t is a false alarm for t where a miss costs 1 - t. */
  build() {
    const { app } = this;
    const { model, target, threshold } = app;
    this.target = target;
    const states = model.columns[target].shown;
    this.state = threshold?.state ?? states.length - 1;
    const t = threshold?.p ?? 0.5;
    [this.miss, this.alarm] = t <= 0.5 ? [shortNumber((1 - t) / t), 1] : [1, shortNumber(t / (1 - t))];
    this.question = 0;
    const number = (key, label) => {
      const input = h("input", { type: "number", min: 0, step: "any", id: `cost-${key}`, value: this[key], oninput: () => this.take(key, input) });
      this.inputs[key] = input;
      return h("label", {}, h("span", { text: label }), input);
    };
    this.inputs = {};
    const choice = h("select", { id: "cost-state", "aria-label": "State that the costs are about", onchange: (event) => this.about(Number(event.target.value)) }, states.map((text, state) => h("option", { value: state, text })));
    choice.value = this.state;
    this.error = h("p", { class: "error", role: "alert" });
    this.form.replaceChildren(
      h("label", {}, h("span", { text: "Costs of errors on" }), choice),
      number("miss", "To miss it costs"),
      number("alarm", "A false alarm costs"),
      number("question", "A question costs"),
      ...(states.length === 2 ? [this.makeThreshold()] : [h("p", { class: "small", text: "Any other error costs 1." })]),
      this.error);
  }

  makeThreshold() {
    this.limit = h("input", { type: "number", min: 0, max: 100, step: "any", id: "cost-threshold", oninput: () => this.takeThreshold() });
    this.showThreshold();
    return h("label", {}, h("span", { text: "so decide for it from, in %" }), this.limit);
  }

  costs() {
    const n = this.app.model.sizes[this.target];
    const one = (c, d) => (c === d ? 0 : c === this.state ? this.miss : d === this.state ? this.alarm : 1);
    return Array.from({ length: n }, (_, c) => Array.from({ length: n }, (__, d) => one(c, d)));
  }

  about(state) {
    this.state = state;
    this.changed();
  }

  take(key, input) {
    const value = Number(input.value);
    if (input.value.trim() === "" || !(value >= 0) || !Number.isFinite(value)) {
      this.error.textContent = "A cost is a number of at least 0.";
      return;
    }
    this[key] = value;
    this.changed();
  }

  takeThreshold() {
    const t = Number(this.limit.value) / 100;
    if (!(t > 0 && t < 1)) {
      this.error.textContent = "A threshold is above 0 and below 100 %.";
      return;
    }
    this.alarm = (this.miss > 0 ? this.miss : 1) * (t / (1 - t));
    if (this.miss === 0) this.miss = 1;
    this.inputs.alarm.value = shortNumber(this.alarm);
    this.inputs.miss.value = shortNumber(this.miss);
    this.changed(false);
  }

  showThreshold() {
    if (this.limit === undefined) return;
    const t = costThreshold(this.costs(), this.state);
    this.limit.value = t === null ? "" : shortNumber(100 * t);
  }

  changed(withThreshold = true) {
    const { app } = this;
    this.error.textContent = "";
    if (withThreshold) this.showThreshold();
    if (app.model.sizes[this.target] === 2) {
      const t = costThreshold(this.costs(), this.state);
      if (t !== null) app.setThreshold(this.state, t);
    }
    this.update(app.found);
  }

  update(found) {
    const { app } = this;
    if (this.target !== app.target) {
      this.limit = undefined;
      this.build();
    }
    const { model, target } = app;
    const costs = this.costs();
    const { decision, cost, expected } = decide(found.probabilities, costs);
    const order = [...expected.keys()].sort((a, b) => expected[a] - expected[b] || a - b);
    this.place.replaceChildren(
      h("p", { class: "decided" }, "Decide for ", h("strong", { text: model.label(target, decision) }), h("span", { text: `: expected cost ${costText(cost)}.`, "data-exact": cost })),
      h("table", { class: "expected" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col", text: "decision" }), h("th", { scope: "col", class: "value", text: "expected cost" }))),
        h("tbody", {}, order.slice(0, DECISIONS_SHOWN).map((d) => h("tr", {}, h("th", { scope: "row", text: model.label(target, d) }), h("td", { class: "value", text: costText(expected[d]), "data-exact": expected[d] }))))),
    );
    if (found.impossible) {
      this.worth.replaceChildren();
      return;
    }
    this.worth.classList.add("wait");
    app.compute("worth", { costs, price: this.question }, (worth) => this.showWorth(worth));
  }

  /* Whether to ask or to decide, by how much, and the best questions with what each is expected to save. */
  showWorth({ worth, region }) {
    this.worth.classList.remove("wait");
    const { app, question } = this;
    const [best] = worth;
    if (best === undefined) {
      this.worth.replaceChildren(h("p", { text: "Everything is known: decide." }));
      return;
    }
    const line = ({ node, value }) => {
      const open = h("button", { type: "button", class: "link", text: app.model.names[node], onclick: () => app.edit(node, open) });
      return h("li", {}, open, h("span", { class: "value", text: costText(value), "data-exact": value }));
    };
    const useful = worth.filter(({ value }) => value > LEAST_WORTH).slice(0, QUESTIONS_SHOWN);
    const pays = best.value - question > LEAST_WORTH;
    this.worth.replaceChildren(
      h("p", { class: pays ? "advice" : "advice done", text: this.advice(best, pays) }),
      ...(useful.length ? [h("p", { class: "small", text: "Expected to save:" }), h("ol", { class: "worth" }, useful.map(line))] : []),
      ...(region === null ? [] : this.region(region)));
  }

  advice({ node, value }, pays) {
    const { app, question } = this;
    const name = app.model.names[node];
    if (value <= LEAST_WORTH) return "Decide now: no answer to a single question would change the decision.";
    const price = question > 0 ? `, ${costText(question)} for the question included` : "";
    const after = decide(app.found.probabilities, this.costs()).cost - value + question;
    if (pays) return `Ask ${name} first: the expected cost falls to ${costText(after)}${price}, ${costText(value - question)} less than deciding now.`;
    return `Decide now: the best question, ${name}, is expected to save ${costText(value)}, not more than the ${costText(question)} that it costs.`;
  }

  /* Where asking is worth more than deciding, on the scale of the probability of the state that the costs are about. */
  region(parts) {
    const { app, state } = this;
    const { model, target, found } = app;
    const label = model.label(target, state);
    const own = state === 1 ? parts : parts.map(([low, high]) => [1 - high, 1 - low]).reverse();
    const now = found.probabilities[state];
    if (!own.length) return [h("p", { class: "small", id: "asking-region", text: `No question is worth its cost, whatever the probability of ${label}, all else being held.` })];
    const bands = own.map(([low, high]) => {
      const band = h("span", { class: "band" });
      band.style.left = `${100 * low}%`;
      band.style.width = `${100 * (high - low)}%`;
      return band;
    });
    const mark = h("span", { class: "before", title: "now" });
    mark.style.left = `${100 * now}%`;
    const text = `Asking is worth more than deciding while ${label} has ${own.map(([low, high]) => `${percent(low)} to ${percent(high)}`).join(" or ")}, what the features tell being held; now it has ${percent(now)}.`;
    return [h("span", { class: "track region", "aria-hidden": "true" }, bands, mark), h("p", { class: "small", id: "asking-region", text, "data-parts": JSON.stringify(own) })];
  }
}

function shortNumber(value) {
  return Number(value.toPrecision(4));
}

function costText(cost) {
  return cost === 0 ? "0" : Math.abs(cost) < 0.001 ? cost.toExponential(1) : `${Number(cost.toPrecision(3))}`;
}

PANELS.push({ id: "decide", title: "Decide", place: 30, make: (app) => new DecidePanel(app) });
