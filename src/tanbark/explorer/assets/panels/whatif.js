/* What if: a case that was pinned beside the case of now. */

class WhatIfPanel {
  constructor(app) {
    this.app = app;
  }

  mount(element) {
    this.place = element;
  }

  update(found) {
    const { app } = this;
    const { pinned, model } = app;
    if (pinned === null || pinned.target !== app.target) {
      const text = pinned === null ? "Pin this case as A, change something, and both stand side by side." : `A was pinned for ${model.names[pinned.target]}.`;
      this.place.replaceChildren(h("p", { class: "small", text }), h("button", { type: "button", text: "Pin as A", onclick: () => app.pin() }));
      return;
    }
    const order = Array.from(found.probabilities.keys()).sort((a, b) => found.probabilities[b] - found.probabilities[a]).slice(0, 5);
    const line = (state) => {
      const [a, b] = [pinned.found.probabilities[state], found.probabilities[state]];
      return h("tr", {}, h("th", { scope: "row", text: model.label(app.target, state) }), ...[a, b].map((p) => h("td", { class: "value", text: percent(p), "data-exact": p })), h("td", { class: "value", text: `${signed(100 * (b - a), 1)}` }));
    };
    const differing = model.names.map((_, node) => node).filter((node) => !sameEvidence(pinned.likelihoods[node], app.likelihoods[node]));
    const known = (likelihoods, node) => (likelihoods[node] === null ? "not known" : describe(model, node, likelihoods[node]));
    const change = (node) => h("tr", {}, h("th", { scope: "row", text: model.names[node] }), h("td", { text: known(pinned.likelihoods, node) }), h("td", { text: known(app.likelihoods, node) }), h("td"));
    const head = h("tr", {}, ["", "A", "now", "points"].map((text) => h("th", { scope: "col", text })));
    this.place.replaceChildren(
      h("table", { class: "whatif" }, h("thead", {}, head), h("tbody", {}, order.map(line)), h("tbody", { class: "differing" }, differing.map(change))),
      differing.length ? "" : h("p", { class: "small", text: "Both cases are the same. Change something." }),
      h("p", { class: "buttons" }, h("button", { type: "button", text: "Back to A", onclick: () => app.setAll(pinned.likelihoods) }), h("button", { type: "button", text: "Pin now as A", onclick: () => app.pin() }), h("button", { type: "button", class: "quiet", text: "Unpin", onclick: () => app.unpin() })),
    );
  }
}

PANELS.push({ id: "whatif", title: "What if", place: 20, make: (app) => new WhatIfPanel(app) });
