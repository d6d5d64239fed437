/* Learn: d-separation, variable elimination step by step, and CPTs that can be changed to see what follows. */

const CPT_LINES = 60;

class TeachView {
  constructor(app) {
    this.app = app;
    this.parts = [new SeparationLesson(app), new EliminationLesson(app), new TableLesson(app)];
  }

  mount(element) {
    const { model } = this.app;
    const note = model.pool === null ? null : h("p", { class: "small", text: "All of this is about the network to read, not about the pooled or averaged ones." });
    element.replaceChildren(h("div", { class: "lessons" }, note, this.parts.map((part) => h("section", { class: "lesson", id: `lesson-${part.id}` }, h("h2", { text: part.title }), part.build()))));
  }

  update(found) {
    for (const part of this.parts) part.update(found);
  }
}

/* A choice among the variables. */
function nodeChoice(model, label, act, { none = null, allowed = () => true } = {}) {
  const nodes = model.data.arranged.filter(allowed);
  return h("select", { "aria-label": label, onchange: (event) => act(event.target.value === "" ? null : Number(event.target.value)) },
    none === null ? null : h("option", { value: "", text: none }), nodes.map((node) => h("option", { value: node, text: model.names[node] })));
}

/* ------------------------------------------------------------ d-separation */

class SeparationLesson {
  constructor(app) {
    Object.assign(this, { app, id: "separation", title: "Which variables tell about which: d-separation" });
    const { model } = app;
    this.to = model.target;
    this.from = model.data.arranged.find((node) => node !== this.to) ?? this.to;
    this.given = null; // null: what is known of the case
  }

  build() {
    const { model } = this.app;
    this.one = nodeChoice(model, "First variable", (node) => this.take({ from: node }));
    this.other = nodeChoice(model, "Second variable", (node) => this.take({ to: node }));
    this.adding = nodeChoice(model, "Add a known variable", (node) => node !== null && this.take({ given: [...this.known(), node] }), { none: "add …" });
    this.chips = h("span", { class: "given-chips" });
    this.reset = h("button", { type: "button", class: "quiet", text: "as in the case", onclick: () => this.take({ given: null }) });
    this.place = h("div", { id: "separation", role: "status" });
    this.drawing = PathDrawing.possible(model) ? new PathDrawing(this) : null;
    return [h("p", {}, "Does ", this.one, " tell anything about ", this.other, " when these are known: ", this.chips, this.adding, this.reset, "?"), this.drawing?.element, this.place];
  }

  take(change) {
    Object.assign(this, change);
    this.update();
  }

  known() {
    const known = this.given ?? this.app.likelihoods.flatMap((likelihood, node) => (hardState(likelihood) >= 0 ? [node] : []));
    return [...new Set(known)].filter((node) => node !== this.from && node !== this.to);
  }

  update() {
    const { app, from, to } = this;
    const { model } = app;
    const given = this.known();
    Object.assign(this.one, { value: from });
    Object.assign(this.other, { value: to });
    this.adding.value = "";
    this.chips.replaceChildren(...(given.length ? given.map((node) => h("span", { class: "chip" }, h("span", { class: "chip-text", text: model.names[node] }), h("button", { type: "button", class: "remove", text: "×", "aria-label": `${model.names[node]} is not known`, onclick: () => this.take({ given: given.filter((one) => one !== node) }) }))) : [h("em", { text: "nothing " })]));
    if (from === to) {
      this.place.replaceChildren(h("p", { class: "small", text: "Choose two different variables." }));
      this.drawing?.update({ from, to, given, paths: [] });
      return;
    }
    const connected = connectedTo(model, from, given).has(to);
    const { paths, whole } = pathsBetween(model, from, to, given);
    this.drawing?.update({ from, to, given, paths });
    const names = `${model.names[from]} and ${model.names[to]}`;
    const text = connected ? `Yes: ${names} are d-connected${given.length ? " given these" : ""}, so that in general one tells about the other.` : `No: ${names} are d-separated${given.length ? " given these" : ""}; in this network they are independent${given.length ? " given these" : ""}.`;
    const sorted = [...paths.filter(({ open }) => open), ...paths.filter(({ open }) => !open)];
    this.place.replaceChildren(
      h("p", { class: connected ? "verdict connected" : "verdict", text, "data-connected": connected }),
      paths.length ? h("ul", { class: "paths" }, sorted.map((path) => this.line(path, new Set(given)))) : h("p", { class: "small", text: "No path leads from one to the other." }),
      ...(whole ? [] : [h("p", { class: "small", text: "There are more paths; the shortest are listed. The answer above counts them all." })]),
    );
  }

  line({ path, arrows, blocks, open }, given) {
    const { model } = this.app;
    const blocking = new Set(blocks.map(({ node }) => node));
    const pieces = path.flatMap((node, k) => [h("span", { class: blocking.has(node) ? "node blocking" : given.has(node) ? "node known" : "node", text: model.names[node] }), k < arrows.length ? ` ${arrows[k]} ` : ""]);
    const why = { chain: "is known, and blocks the chain", fork: "is known, and blocks the fork", collider: "is a collider; neither it nor a descendant is known" };
    const reason = blocks.map(({ node, why: kind }) => `${model.names[node]} ${why[kind]}`).join("; ");
    return h("li", { class: open ? "open" : "blocked" }, h("span", { class: "path-state", text: open ? "open" : "blocked" }), h("span", {}, pieces), reason ? h("span", { class: "small reason", text: reason }) : null);
  }
}

/* ------------------------------------------------------------ variable elimination */

class EliminationLesson {
  constructor(app) {
    Object.assign(this, { app, id: "elimination", title: "How the answer is computed: variable elimination", order: "min-fill", shown: Infinity });
  }

  build() {
    const choice = h("select", { id: "order", "aria-label": "Order of elimination", onchange: (event) => ((this.order = event.target.value), this.update()) }, Object.entries(ORDERS).map(([value, { title }]) => h("option", { value, text: title })));
    this.place = h("div", { id: "elimination" });
    const step = (text, change) => h("button", { type: "button", text, onclick: () => this.step(change) });
    return [h("p", {}, "Order: ", choice), h("p", { class: "buttons-left" }, step("From the start", () => 0), step("Next step", (shown, n) => Math.min(n, shown + 1)), step("All steps", () => Infinity)), this.place];
  }

  step(change) {
    this.shown = change(Math.min(this.shown, this.result?.steps.length ?? 0), this.result?.steps.length ?? 0);
    this.draw();
  }

  update() {
    const { model, target, likelihoods } = this.app;
    if (model.weighted) {
      this.place.replaceChildren(h("p", { class: "small", text: "The weighted CPTs are not normalised, so there is no joint distribution to sum over." }));
      return;
    }
    this.result = eliminationSteps(model, target, likelihoods, this.order);
    this.draw();
  }

  draw() {
    const { result } = this;
    if (result === undefined) return;
    const { model, target } = this.app;
    const named = (scope) => (scope.length ? scope.map((node) => model.names[node]).join(", ") : "a number");
    const shown = result.steps.slice(0, this.shown);
    const line = ({ node, chosen, entries, made }, k) => h("tr", {}, h("td", { text: `${k + 1}` }), h("th", { scope: "row", text: model.names[node] }),
      h("td", { text: chosen.map(({ name }) => name).join(" × ") }), h("td", { class: "value", text: count(entries) }), h("td", { text: `${made.name}(${named(made.scope)})` }), h("td", { class: "value", text: count(made.entries) }));
    const end = this.shown >= result.steps.length;
    const list = result.probabilities === null ? "" : result.probabilities.map((p, s) => `${model.label(target, s)} ${percent(p)}`).slice(0, 6).join(", ");
    const tempered = model.isPlain(target) ? "" : " The answer of the page is more than this network's: it is pooled, tempered or corrected.";
    this.place.replaceChildren(
      h("p", { class: "small", text: `The start: ${result.start.length} factors, one CPT for each variable that matters, with what is known entered. Variables below which nothing is known or asked for drop out.` }),
      h("div", { class: "scroll" }, h("table", { class: "steps" },
        h("thead", {}, h("tr", {}, ["step", "sum out", "multiply", "entries", "gives", "entries"].map((text) => h("th", { scope: "col", text })))), h("tbody", {}, shown.map(line)))),
      end && result.stopped === null ? h("p", { id: "eliminated", text: `What is left, normalised: P(${model.names[target]} | known) = ${list}. The largest factor had ${count(result.largest)} entries.${tempered}`, "data-exact": JSON.stringify(result.probabilities) }) : "",
      end && result.stopped !== null ? h("p", { class: "warning", text: `To sum out ${model.names[result.stopped.node]} would need a factor of ${count(result.stopped.entries)} entries: choose another order.` }) : "",
    );
  }
}

/* ------------------------------------------------------------ CPTs */

class TableLesson {
  constructor(app) {
    Object.assign(this, { app, id: "tables", title: "What if the numbers were others: change a CPT" });
    this.node = app.model.target;
  }

  build() {
    const { model } = this.app;
    if (model.pool !== null || model.weighted) return [h("p", { class: "small", text: "The answer comes from more than the CPTs of one network, so changing them would not change it." })];
    this.choice = nodeChoice(model, "Variable whose CPT is changed", (node) => ((this.node = node), this.update()));
    this.place = h("div", { id: "edit-table" });
    this.undo = h("button", { type: "button", text: "Back to the model's CPTs", onclick: () => this.reset() });
    return [h("p", {}, "P(", this.choice, " | parents). Type a probability; the others of its line keep their proportions. ", this.undo), this.place];
  }

  update() {
    if (this.choice === undefined) return;
    const { app, node } = this;
    const { model } = app;
    this.choice.value = node;
    this.undo.disabled = !model.edited;
    const axes = model.data.axes[node].filter((axis) => axis !== node);
    const all = listConfigurations(app, node, axes);
    const shown = [...all.filter(({ fits }) => fits), ...all.filter(({ fits }) => !fits)].slice(0, CPT_LINES);
    const focus = this.place.contains(document.activeElement) ? document.activeElement.dataset.place : null;
    this.place.replaceChildren(h("div", { class: "scroll" }, h("table", { class: "cpt" },
      h("thead", {}, h("tr", {}, axes.map((axis) => h("th", { scope: "col", class: "given", text: model.names[axis] })), model.columns[node].shown.map((label) => h("th", { scope: "col", text: label })))),
      h("tbody", {}, shown.map((line) => this.line(axes, line))))),
    shown.length < all.length ? h("p", { class: "small", text: `${shown.length} of ${count(all.length)} lines, those that fit the case first.` }) : "");
    if (focus !== null) this.place.querySelector(`[data-place="${focus}"]`)?.focus();
  }

  line(axes, { states, start, step }) {
    const { model } = this.app;
    const places = model.columns[this.node].labels.map((_, state) => start + state * step);
    return h("tr", {}, states.map((state, k) => h("th", { scope: "row", class: "given", text: model.label(axes[k], state) })),
      places.map((place, state) => {
        const input = h("input", { type: "number", min: 0, max: 1, step: "any", value: Number(model.data.tables[this.node][place].toPrecision(6)), "data-place": place, "aria-label": `Probability of ${model.label(this.node, state)}`, onchange: () => this.change(input, places, state) });
        return h("td", {}, input);
      }));
  }

  change(input, places, state) {
    const { app } = this;
    const value = Number(input.value);
    const valid = input.value.trim() !== "" && value >= 0 && value <= 1;
    input.setAttribute("aria-invalid", !valid);
    if (!valid) {
      app.toast("A probability is a number from 0 to 1.");
      return;
    }
    const table = Float64Array.from(app.model.data.tables[this.node]);
    const rest = places.reduce((all, place, s) => (s === state ? all : all + table[place]), 0);
    places.forEach((place, s) => (table[place] = s === state ? (places.length === 1 ? 1 : value) : rest > 0 ? (table[place] / rest) * (1 - value) : (1 - value) / (places.length - 1)));
    this.replace(new Map([[this.node, table]]));
  }

  reset() {
    const { model } = this.app;
    this.replace(new Map([...model.original].map(([node, table]) => [node, table])));
  }

  replace(tables) {
    const { app } = this;
    app.model.replaceTables(tables);
    app.work.worker?.postMessage({ tables });
    showEdited(app, () => this.reset());
    app.answer.build();
    app.refresh();
  }
}

/* As long as a CPT is changed, the page says so. */
function showEdited(app, reset) {
  document.getElementById("edited")?.remove();
  if (!app.model.edited) return;
  byId("answer").after(h("p", { class: "notice", id: "edited", role: "status" }, h("span", { text: "CPTs were changed by hand: this is no longer the model that was learnt. There are no intervals meanwhile." }), h("button", { type: "button", text: "Back to the model", onclick: reset })));
}

VIEWS.push({ id: "teach", title: "Learn", place: 60, make: (app) => new TeachView(app) });
