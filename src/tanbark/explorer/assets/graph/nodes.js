/* One variable in the drawing: a name over a bar divided into its states, or over all states. */

const STATE_TOP = 27; // where the states of a card begin, and how far apart they are
const STATE_STEP = 20;
const BAR = 5; // height of the bar of a small box
const NAME = 12.5; // pixels of a name, and of one in a smaller drawing
const LARGE_NAME = 20;

class GraphNode {
  constructor(view, node) {
    Object.assign(this, { view, node, app: view.app, shown: null });
    const { model } = this.app;
    const { labels, boxes, full } = view.drawing;
    this.box = boxes[node];
    const [x, y, width, height] = this.box;
    this.frame = svg("rect", { class: "node-box", width, height, rx: 7 });
    this.name = svg("text", full ? { class: "node-name", x: 9, y: 18 } : { class: "node-name", x: width / 2, y: 18, "text-anchor": "middle" });
    this.name.textContent = labels[node];
    this.title = svg("title");
    this.element = svg("g", { class: "node", transform: `translate(${x},${y})`, role: "button", tabindex: -1, "aria-haspopup": "dialog", "data-node": node }, this.title, this.frame, this.name);
    this.element.classList.toggle("of-class", model.data.target >= 0 && model.parents[node].includes(model.data.target));
    this.element.classList.toggle("class", node === model.data.target);
    this.rows = full && height > STATE_TOP + STATE_STEP;
    this.natural = 0;
    this.parts = this.rows ? this.makeRows(width) : this.makeParts(width, height);
  }

  makeParts(width, height) {
    this.bar = svg("g", { class: "parts", transform: `translate(6,${height - BAR - 5})` });
    const parts = this.view.colours[this.node].map((fill) => svg("rect", { fill, height: BAR }));
    this.bar.append(...parts);
    this.element.append(this.bar);
    this.long = width - 12;
    return parts;
  }

  /* In a smaller drawing the name is larger in its box; in a very small one the bar takes the whole box. */
  setLevel(level) {
    if (this.rows) return;
    const [, , , height] = this.box;
    this.bar.setAttribute("transform", level === "far" ? `translate(6,6) scale(1,${(height - 12) / BAR})` : `translate(6,${height - BAR - 4})`);
    this.name.setAttribute("y", level === "middle" ? 21 : 18);
    this.squeeze(this.name, this.natural * (level === "middle" ? LARGE_NAME / NAME : 1), this.box[2] - 8);
  }

  makeRows(width) {
    this.long = width - 14;
    return this.app.model.columns[this.node].labels.map((_, state) => {
      const label = this.app.model.label(this.node, state);
      const fill = svg("rect", { class: "state-fill", height: STATE_STEP - 3, rx: 3 });
      const before = svg("rect", { class: "state-before", width: 2, height: STATE_STEP - 3 });
      const name = svg("text", { class: "state-name", x: 5, y: 13 });
      name.textContent = label.length > 16 ? `${label.slice(0, 15)}…` : label;
      const value = svg("text", { class: "state-value", x: this.long - 5, y: 13, "text-anchor": "end" });
      const title = svg("title");
      title.textContent = label;
      const track = svg("rect", { class: "state-track", width: this.long, height: STATE_STEP - 3, rx: 3 });
      const element = svg("g", { class: "state-row", transform: `translate(7,${STATE_TOP + state * STATE_STEP})`, "data-state": state }, title, track, fill, before, name, value);
      element.addEventListener("click", (event) => {
        event.stopPropagation();
        this.app.toggle(this.node, state);
      });
      this.element.append(element);
      return { element, name, fill, before, value };
    });
  }

  /* Find how wide the names are, which can be done only where they are shown. */
  measure() {
    this.natural = this.name.getComputedTextLength();
    this.squeeze(this.name, this.natural, this.box[2] - (this.rows ? 18 : 8));
    if (this.rows) for (const { name } of this.parts) this.squeeze(name, name.getComputedTextLength(), this.long - 84);
  }

  /* Make a text that is too wide for its room narrower. */
  squeeze(text, width, room) {
    if (width > room) {
      text.setAttribute("textLength", room);
      text.setAttribute("lengthAdjust", "spacingAndGlyphs");
    } else text.removeAttribute("textLength");
  }

  update(found) {
    if (this.shown === found) return;
    this.shown = found;
    const { app, node } = this;
    const { model } = app;
    const marginal = found.marginals[node];
    const likelihood = app.likelihoods[node];
    const top = marginal.indexOf(Math.max(...marginal));
    if (this.rows) this.updateRows(marginal, likelihood);
    else this.updateParts(marginal);
    this.element.classList.toggle("observed", likelihood !== null);
    this.element.classList.toggle("asked", app.target === node);
    const text = `${model.names[node]}: ${model.label(node, top)} ${percent(marginal[top])}${likelihood === null ? "" : `, evidence: ${describe(model, node, likelihood)}`}`;
    this.element.setAttribute("aria-label", text);
    this.title.textContent = text;
  }

  updateParts(marginal) {
    let x = 0;
    this.parts.forEach((part, state) => {
      const width = marginal[state] * this.long;
      part.setAttribute("x", x.toFixed(1));
      part.setAttribute("width", width.toFixed(1));
      x += width;
    });
  }

  updateRows(marginal, likelihood) {
    const hard = hardState(likelihood);
    this.parts.forEach(({ element, fill, before, value }, state) => {
      fill.setAttribute("width", (marginal[state] * this.long).toFixed(1));
      before.setAttribute("x", Math.min(this.long - 2, this.app.model.priors[this.node][state] * this.long).toFixed(1));
      value.textContent = percent(marginal[state], true);
      element.classList.toggle("set", state === hard);
      element.classList.toggle("out", likelihood !== null && likelihood[state] === 0 && hard < 0);
    });
  }
}
