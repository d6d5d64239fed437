/* Names over the boxes of a drawing that is too small for names in them: as many as there is room for. */

const LETTER = [6.4, 15]; // pixels of a letter and of a line
const PIXELS_PER_NAME = 11000;

class FarNames {
  constructor(view) {
    this.view = view;
    this.reach = reachOf(view.app.model);
    this.root = this.reach.indexOf(Math.max(...this.reach));
    this.lone = new Set(view.drawing.lone);
    this.element = svg("g", { class: "far-names", "aria-hidden": "true" });
  }

  place() {
    this.element.replaceChildren();
    const { level, viewport, drawing } = this.view;
    if (level !== "far") return;
    const { scale } = viewport;
    const most = Math.max(8, (drawing.size[0] * drawing.size[1] * scale * scale) / PIXELS_PER_NAME);
    const taken = [];
    for (const node of this.ranked()) {
      if (taken.length >= most) break;
      const [x, y, wide] = drawing.boxes[node];
      const half = (LETTER[0] * drawing.labels[node].length) / 2 + 5;
      const at = [Math.max(half, Math.min(drawing.size[0] * scale - half, (x + wide / 2) * scale)), y * scale];
      if (taken.some(([spot, size]) => Math.abs(spot[0] - at[0]) < half + size && Math.abs(spot[1] - at[1]) < 1.7 * LETTER[1])) continue;
      taken.push([at, half]);
      const name = svg("text", { x: at[0] / scale, y: y - 3 / scale, "text-anchor": "middle" });
      name.textContent = drawing.labels[node];
      this.element.append(name);
    }
    this.element.style.fontSize = `${12 / scale}px`;
    this.element.style.strokeWidth = `${3 / scale}px`;
  }

  /* Variables by how much they matter in the drawing: the focus, evidence, the class, those with many below them. */
  ranked() {
    const { kin, matches, focused, app } = this.view;
    const { model, likelihoods, target } = app;
    const named = (node) => (kin ? kin.has(node) : matches ? matches[node] : !this.lone.has(node) || likelihoods[node] !== null);
    const weight = (node) => (node === focused ? 4e6 : 0) + (node === target ? 2e6 : 0) + (likelihoods[node] ? 1e6 : 0) + this.reach[node];
    return [...model.names.keys()].filter(named).sort((a, b) => weight(b) - weight(a) || a - b);
  }
}

/* How many variables follow from each; one with several parents counts for each of them in part. */
function reachOf(model) {
  const reach = model.names.map(() => 1);
  for (const node of model.order.slice().reverse()) {
    const parents = model.parents[node].filter((parent) => parent !== model.data.target);
    for (const parent of parents) reach[parent] += reach[node] / parents.length;
  }
  return reach;
}
