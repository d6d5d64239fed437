/* The most typical complete case: the most probable joint states of what is not observed, with the predicted class. */

const TYPICAL_SHOWN = 12;

class TypicalPanel {
  constructor(app) {
    this.app = app;
  }

  mount(element) {
    this.place = h("div", { id: "best" });
    element.replaceChildren(this.place);
  }

  update(found) {
    const { app } = this;
    if (found.impossible) {
      this.place.replaceChildren(h("p", { class: "small", text: "The evidence is impossible." }));
      return;
    }
    this.place.classList.add("wait");
    app.compute("typical", { label: found.best }, (best) => this.draw(best, found.best));
  }

  draw(best, label) {
    const { app, place } = this;
    const { model, likelihoods, target } = app;
    place.classList.remove("wait");
    if (best === null) {
      place.replaceChildren(h("p", { class: "small", text: `The network gives ${model.label(target, label)} probability zero here.` }));
      return;
    }
    const open = model.names.map((_, node) => node).filter((node) => node !== target && hardState(likelihoods[node]) < 0 && model.sizes[node] > 1);
    const item = (node) => h("div", {}, h("dt", { text: model.names[node] }), h("dd", { text: model.label(node, best.states[node]) }));
    const more = open.slice(TYPICAL_SHOWN);
    const where = model.pool === null ? "" : " in the network to read";
    const other = best.joint === label ? [] : [h("p", { class: "other", text: `The most probable complete case of all${where} has ${model.names[target]} = ${model.label(target, best.joint)}: the best states together need not have the most probable class.` })];
    place.replaceChildren(
      h("p", { class: "small", text: `With ${model.names[target]} = ${model.label(target, label)}, as predicted, and what is known, these states together are the most probable${where}: ${percent(Math.exp(best.log - best.evidence))}.`, "data-exact": best.log }),
      ...other,
      h("dl", { class: "pairs" }, open.slice(0, TYPICAL_SHOWN).map(item)),
      ...(more.length ? [h("details", {}, h("summary", { text: `${more.length} more` }), h("dl", { class: "pairs" }, more.map(item)))] : []),
    );
  }
}

PANELS.push({ id: "typical", title: "Most typical complete case", place: 60, make: (app) => new TypicalPanel(app), available: (model) => !model.weighted });
