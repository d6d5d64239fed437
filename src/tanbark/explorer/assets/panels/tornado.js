/* What each variable could do to the answer, and the smallest change that makes it another. */

const SPANS_SHOWN = 12;
const MANY_EVALUATIONS = 2_000_000;

class SensitivityPanel {
  constructor(app) {
    this.app = app;
    this.chosen = "";
    this.all = false;
  }

  mount(element) {
    this.label = h("select", { id: "span-label", "aria-label": "State whose probability is shown", onchange: (event) => this.choose(event.target.value) });
    this.place = h("div", { id: "spans" });
    element.replaceChildren(h("p", { class: "small" }, "How far one variable alone could move the probability of ", this.label, ", all else held. The line is the probability now."), this.place);
  }

  choose(value) {
    this.chosen = value;
    this.update(this.app.found);
  }

  update(found) {
    const { app } = this;
    const { model, target } = app;
    if (this.target !== target) {
      this.target = target;
      this.chosen = "";
      this.label.replaceChildren(h("option", { value: "", text: "the most probable" }), ...model.columns[target].shown.map((text, state) => h("option", { value: state, text })));
    }
    this.label.value = this.chosen;
    if (found.impossible) {
      this.place.replaceChildren(h("p", { class: "small", text: "The evidence is impossible." }));
      return;
    }
    const label = this.chosen === "" ? found.best : Number(this.chosen);
    this.place.classList.add("wait");
    app.compute("sensitivity", { label }, (spans) => this.draw(spans, label, found.probabilities[label]));
  }

  draw(spans, label, now) {
    this.place.classList.remove("wait");
    const width = ({ low, high }) => high.probability - low.probability;
    const sorted = spans.filter((span) => width(span) > 1e-12).sort((a, b) => width(b) - width(a) || a.node - b.node);
    const shown = this.all ? sorted : sorted.slice(0, SPANS_SHOWN);
    const more = sorted.length - shown.length;
    const fold = sorted.length > SPANS_SHOWN ? h("button", { type: "button", class: "quiet", text: this.all ? "Show fewer" : `${more} more`, onclick: () => this.unfold(spans, label, now) }) : null;
    this.place.replaceChildren(sorted.length ? h("ol", { class: "spans" }, shown.map((span) => this.line(span, now))) : h("p", { class: "small", text: "No variable alone can move this probability." }), ...(fold === null ? [] : [fold]));
  }

  unfold(spans, label, now) {
    this.all = !this.all;
    this.draw(spans, label, now);
  }

  line({ node, low, high, current }, now) {
    const { app } = this;
    const bar = h("span", { class: current < 0 ? "span open" : "span" });
    bar.style.left = `${100 * low.probability}%`;
    bar.style.width = `${100 * Math.max(high.probability - low.probability, 0.004)}%`;
    const mark = h("span", { class: "now" });
    mark.style.left = `${100 * now}%`;
    const known = app.likelihoods[node] === null ? "not known" : describe(app.model, node, app.likelihoods[node]);
    const name = h("button", { type: "button", class: "link", text: app.model.names[node], onclick: () => app.edit(node, name) });
    return h("li", { "data-node": node },
      h("div", { class: "span-head" }, name, h("span", { class: "small", text: known })),
      h("span", { class: "track", "aria-hidden": "true" }, bar, mark),
      h("div", { class: "span-ends small" },
        h("span", { text: `${percent(low.probability, true)} if ${low.label}`, "data-exact": low.probability }),
        h("span", { text: `${percent(high.probability, true)} if ${high.label}`, "data-exact": high.probability })));
  }
}

class ChangePanel {
  constructor(app) {
    this.app = app;
  }

  mount(element) {
    this.place = h("div", { id: "change" });
    element.replaceChildren(this.place);
  }

  update(found) {
    const { app } = this;
    const known = app.likelihoods.some((likelihood, node) => node !== app.target && currentState(app.model, node, likelihood) >= 0);
    if (!known || found.impossible) {
      const text = found.impossible ? "The evidence is impossible." : "No single value is known of the case, so there is nothing to change.";
      this.place.replaceChildren(h("p", { class: "small", text }));
      return;
    }
    this.search({});
  }

  search(options) {
    const { app } = this;
    this.place.classList.add("wait");
    app.compute("counterfactual", options, (result) => this.draw(result));
  }

  draw(result) {
    this.place.classList.remove("wait");
    const content = result.changes === null ? this.nothing(result) : this.found(result);
    this.place.replaceChildren(...content);
  }

  found({ changes, to, probabilities, searched }) {
    const { app } = this;
    const { model, target } = app;
    const line = ({ node, label }) => h("li", { "data-node": node }, h("strong", { text: model.names[node] }), ` ${describe(model, node, app.likelihoods[node])} → `, h("strong", { text: label }));
    const fewer = searched > 1 ? ` No change of fewer values does.` : "";
    return [
      h("p", {}, changes.length === 1 ? "One other value would make it " : `${changes.length} other values would make it `, h("strong", { text: model.label(target, to) }), h("span", { text: ` (${percent(probabilities[to])}):`, "data-exact": probabilities[to] })),
      h("ul", { class: "changes" }, changes.map(line)),
      h("p", { class: "small", text: `Of all such changes, this one gives the new answer the highest probability.${fewer} It is what the model would say, not what a change in the world would do.` }),
      h("button", { type: "button", text: "Try it", onclick: () => this.take(changes) }),
    ];
  }

  nothing({ searched, needed, evaluations }) {
    const what = searched === 0 ? "No change was searched" : searched === 1 ? "No other single value changes the answer" : `No change of up to ${searched} of the known values changes the answer`;
    if (needed === undefined) return [h("p", { text: `${what}.` })];
    const size = searched + 1;
    const content = [h("p", { text: `${what}. Changes of ${size} were not searched: there are ${count(needed)}.` })];
    if (evaluations + needed <= MANY_EVALUATIONS) content.push(h("button", { type: "button", text: `Search changes of ${size}`, onclick: () => this.search({ evaluations: evaluations + needed }) }));
    return content;
  }

  take(changes) {
    const { app } = this;
    const all = app.likelihoods.slice();
    for (const { node, state } of changes) all[node] = columnStates(app.model, node)[state].likelihood;
    if (app.pinned === null) app.pin();
    app.setAll(all, { sentence: "The change is made, and the case before it is pinned as A. Undo takes it back." });
  }
}

PANELS.push({ id: "sensitivity", title: "What could change it", place: 40, make: (app) => new SensitivityPanel(app) });
PANELS.push({ id: "change", title: "Smallest change that flips it", place: 50, make: (app) => new ChangePanel(app) });
