/* Why: the prior and every piece of evidence in the order in which they enter, in units to choose, and one sentence. */

const WHY_SHOWN = 14;
const WHY_NAMED = 2;

class WhyPanel {
  constructor(app) {
    this.app = app;
    this.unit = "points";
    this.chosen = "";
    this.result = null;
  }

  mount(element) {
    this.sentence = h("p", { id: "why-sentence" });
    this.label = h("select", { id: "label", "aria-label": "State that is explained", onchange: (event) => this.explain(event.target.value) });
    this.units = h("select", { id: "unit", "aria-label": "Unit of the contributions", onchange: (event) => this.choose(event.target.value) },
      Object.entries(UNITS).map(([value, { name }]) => h("option", { value, text: name })));
    this.place = h("div", { id: "why" });
    element.replaceChildren(this.sentence, h("div", { class: "choices" }, this.label, this.units), this.place);
  }

  explain(value) {
    this.chosen = value;
    this.update(this.app.found);
  }

  choose(unit) {
    this.unit = unit;
    this.draw();
  }

  update(found) {
    const { app } = this;
    const { model, target } = app;
    if (this.target !== target) {
      this.target = target;
      this.chosen = "";
      const options = model.columns[target].shown.map((label, state) => h("option", { value: state, text: label }));
      this.label.replaceChildren(h("option", { value: "", text: "most probable" }), ...options);
    }
    const label = this.chosen === "" ? found.best : Number(this.chosen);
    this.place.classList.add("wait");
    app.compute("why", { label }, (why) => {
      this.result = { ...why, label, likelihoods: app.likelihoods };
      this.draw();
    });
  }

  draw() {
    if (this.result === null) return;
    const { app, place } = this;
    const { parts, total } = this.result;
    place.classList.remove("wait");
    const infinite = parts.some(({ nats }) => !Number.isFinite(nats));
    this.sentence.textContent = infinite || app.found.impossible ? "" : whySentence(app, this.result);
    if (infinite || app.found.impossible) {
      place.replaceChildren(h("p", { class: "small", text: app.found.impossible ? "The evidence is impossible: the prior alone decides." : "Some state is impossible under the evidence, so that the odds are infinite." }));
      return;
    }
    const unit = UNITS[this.unit];
    const values = unit.values(parts);
    const [prior, ...rest] = parts.map((part, k) => ({ ...part, value: values[k] }));
    rest.sort((a, b) => Math.abs(b.nats) - Math.abs(a.nats));
    const shown = rest.slice(0, WHY_SHOWN);
    const weak = rest.slice(WHY_SHOWN);
    if (weak.length) shown.push({ node: -1, nats: weak.reduce((all, { nats }) => all + nats, 0), value: unit.join(weak.map(({ value }) => value)), text: `${weak.length} others` });
    const lines = [{ ...prior, text: "before any evidence" }, ...shown];
    const most = Math.max(...lines.map((part) => unit.size(part)), 1e-9);
    place.replaceChildren(
      h("table", { class: "why" },
        h("thead", { class: "unseen" }, h("tr", {}, ["evidence", "picture", unit.name].map((text) => h("th", { text, scope: "col" })))),
        h("tbody", {}, lines.map((part) => this.line(part, unit, most))),
        h("tfoot", {}, h("tr", {}, h("th", { scope: "row", text: "together" }), h("td"), h("td", { class: "value", text: unit.total(total), title: `${total}`, "data-exact": total }))),
      ),
    );
  }

  line(part, unit, most) {
    const { app } = this;
    const { model } = app;
    const { likelihoods } = this.result;
    const named = part.text === undefined;
    const start = part.node === null && this.unit === "points"; // where it begins, not a change
    const bar = h("span", { class: start ? "start" : part.nats < 0 ? "against" : "for" });
    setWidth(bar, unit.size(part) / most / 2);
    const text = part.text ?? `${model.names[part.node]} ${describe(model, part.node, likelihoods[part.node])}`;
    const open = named ? h("button", { type: "button", class: "link", text, onclick: () => app.edit(part.node, open) }) : h("span", { text });
    const given = named ? givenText(model, part.node, app.target, likelihoods) : "";
    return h("tr", {},
      h("th", { scope: "row" }, open, given ? h("span", { class: "small given", text: given }) : null),
      h("td", { class: "two-sided", "aria-hidden": "true" }, bar),
      h("td", { class: "value", text: start ? percent(part.value / 100, true) : unit.text(part.value), title: `${part.nats} nats`, "data-exact": part.nats }));
  }
}

/* Units of contributions. `values` has the parts in the order in which they entered. */
const UNITS = {
  points: {
    name: "points of probability",
    values: (parts) => {
      let odds = 0;
      return parts.map(({ nats }, k) => {
        const before = k ? chance(odds) : 0;
        odds += nats;
        return 100 * (chance(odds) - before);
      });
    },
    size: ({ value }) => Math.abs(value),
    join: (values) => values.reduce((all, value) => all + value, 0),
    text: (value) => signed(value, Math.abs(value) < 10 ? 1 : 0),
    total: (nats) => chanceText(nats),
  },
  odds: {
    name: "factors of the odds",
    values: (parts) => parts.map(({ nats }) => Math.exp(nats)),
    size: ({ nats }) => Math.abs(nats),
    join: (values) => values.reduce((all, value) => all * value, 1),
    text: (value) => timesText(value),
    total: (nats) => timesText(Math.exp(nats)),
  },
  bits: {
    name: "bits of log-odds",
    values: (parts) => parts.map(({ nats }) => nats / NATS_PER_BIT),
    size: ({ nats }) => Math.abs(nats),
    join: (values) => values.reduce((all, value) => all + value, 0),
    text: (value) => signed(value),
    total: (nats) => signed(nats / NATS_PER_BIT),
  },
};

function chance(logOdds) {
  return 1 / (1 + Math.exp(-logOdds));
}

/* The probability of log-odds, for people: finite odds are never 100 %. */
function chanceText(nats, text = percent) {
  return text(Number.isFinite(nats) ? Math.max(Math.min(chance(nats), ALMOST_ONE), 1 - ALMOST_ONE) : chance(nats));
}

/* A factor for people: ×6.2, ÷14, never ×0.07. */
function timesText(factor) {
  const up = factor >= 1;
  const size = up ? factor : 1 / factor;
  const mark = up ? "×" : "÷";
  if (size >= 1e6) return `${mark} over a million`;
  return `${mark}${size >= 100 ? count(Math.round(size)) : size.toPrecision(size < 1.095 ? 3 : 2)}`;
}

/* What the value of a column is given in the network: its parents, the target left out. */
function givenText(model, node, target, likelihoods) {
  if (model.pooled(target)) return "";
  const parents = model.parents[node].filter((parent) => parent !== target);
  if (!parents.length) return "";
  return `given ${parents.map((p) => `${model.names[p]} ${likelihoods[p] === null ? "not observed" : describe(model, p, likelihoods[p])}`).join(", ")}`;
}

/* "82 % benign, mainly because …; against it …" */
function whySentence(app, { parts, total, label, likelihoods }) {
  const { model, target } = app;
  const name = (part) => `${model.names[part.node]} ${describe(model, part.node, likelihoods[part.node])}`;
  const strong = parts.slice(1).filter(({ nats }) => Math.abs(nats) > 0.05).sort((a, b) => Math.abs(b.nats) - Math.abs(a.nats));
  const list = (side) => strong.filter(({ nats }) => nats * side > 0).slice(0, WHY_NAMED).map(name).join(" and ");
  const [up, down] = [list(1), list(-1)];
  const head = `${chanceText(total, roundPercent)} ${model.label(target, label)}`;
  if (parts.length === 1) return `${head}: nothing is known of the case, so this is the prior.`;
  if (!up && !down) return `${head}, close to the prior: the values say little.`;
  if (!up) return `${head}; against it ${down}, nothing known speaks for it.`;
  return `${head}, mainly because ${up}${down ? `; against it ${down}` : "; nothing known speaks against it"}.`;
}

PANELS.push({ id: "why", title: "Why", place: 10, open: true, make: (app) => new WhyPanel(app) });
