/* The drawing: boxes in layers as laid out beforehand, arcs as curves, all of it ordinary elements. */

const FULL_UP_TO = 14; // variables whose states are shown in the drawing itself
const CARD_WIDTH = 178;
const CARD_GAP = 16;
const LAYER_GAP = 52;
const SMALL_GAP = 44;
const BEND_WIDTH = 10;
const MARGIN = 14;
const LEAST_SCALE = 0.62; // below it a drawing is scrolled instead of made smaller

class GraphView {
  constructor(app) {
    this.app = app;
    this.layout = app.model.data.layout;
    this.full = app.model.names.length <= FULL_UP_TO;
    this.paper = h("div", { class: "paper" });
    this.holder = h("div", { class: "holder" }, this.paper);
    this.boxes = app.model.names.map((_, node) => (this.full ? new Card(app, node, { compact: true }) : new Box(app, node)));
    this.scale = null;
  }

  mount(view) {
    const zoom = (id, text, act) => h("button", { type: "button", id, text, onclick: act });
    this.view = h("div", { id: "graph-view" }, this.holder);
    view.replaceChildren(h("div", { class: "zoom" }, zoom("smaller", "−", () => this.zoom(this.scale / 1.25)), zoom("fit", "Fit", () => this.fit()), zoom("larger", "+", () => this.zoom(this.scale * 1.25))), this.view);
    this.paper.replaceChildren(...this.boxes.map((box) => box.element));
    this.place();
    this.drawArcs();
    this.fit();
  }

  /* Give the boxes as they are the room they need: layers move down, and what stands on a layer moves apart. */
  place() {
    const { centers, widths, height } = this.layout;
    const levels = [...new Set(centers.map(([, y]) => y))].sort((a, b) => a - b);
    const sizes = this.boxes.map((box, node) => {
      box.element.style.width = `${this.full ? CARD_WIDTH : Math.max(64, widths[node])}px`;
      return [box.element.offsetWidth, box.element.offsetHeight];
    });
    let top = MARGIN;
    this.levels = levels.map((y) => {
      const nodes = centers.flatMap((center, node) => (center[1] === y ? [node] : []));
      const level = { from: y - height / 2, to: y + height / 2, top, bottom: top + Math.max(...nodes.map((node) => sizes[node][1])) };
      level.across = this.spreadLevel(level, nodes, sizes);
      top = level.bottom + (this.full ? LAYER_GAP : SMALL_GAP);
      return level;
    });
    this.spots = centers.map(([x, y], node) => {
      const level = this.levels[levels.indexOf(y)];
      return { x: level.across.get(x), top: level.top, bottom: level.top + sizes[node][1], width: sizes[node][0] };
    });
    this.crop(top - (this.full ? LAYER_GAP : SMALL_GAP));
  }

  /* Where the boxes and the bends of arcs on one layer come to stand, by where they stood in the layout. */
  spreadLevel(level, nodes, sizes) {
    const items = new Map(nodes.map((node) => [this.layout.centers[node][0], sizes[node][0]]));
    for (const [, , route] of this.layout.routes) {
      for (const [x, y] of route.slice(1, -1)) if (Math.abs(y - level.from) < 0.5 && !items.has(x)) items.set(x, BEND_WIDTH);
    }
    const order = [...items].sort(([a], [b]) => a - b);
    const found = [];
    order.forEach(([x, width], k) => {
      const least = k ? found[k - 1] + (order[k - 1][1] + width) / 2 + (this.full ? CARD_GAP : 8) : -Infinity;
      found.push(Math.max(x, least));
    });
    const drift = found.reduce((all, x, k) => all + x - order[k][0], 0) / found.length;
    return new Map(order.map(([x], k) => [x, found[k] - drift]));
  }

  /* Cut the empty margins off. */
  crop(bottom) {
    const all = [...this.spots.map(({ x, width }) => [x - width / 2, x + width / 2]), ...this.levels.flatMap((level) => [...level.across.values()].map((x) => [x, x]))];
    const left = Math.min(...all.map(([low]) => low)) - MARGIN;
    this.size = [Math.max(...all.map(([, high]) => high)) - left + MARGIN, bottom + MARGIN];
    this.shift = -left;
    this.spots.forEach((spot, node) => {
      spot.x += this.shift;
      this.boxes[node].element.style.left = `${spot.x - spot.width / 2}px`;
      this.boxes[node].element.style.top = `${spot.top}px`;
    });
  }

  /* A point of the layout's route in the drawing: edges of layers stay edges of layers. */
  point([x, y]) {
    const level = this.levels.find(({ from, to }) => y >= from - 0.5 && y <= to + 0.5);
    return [level.across.get(x) + this.shift, Math.abs(y - level.from) < 0.5 ? level.top : level.bottom];
  }

  drawArcs() {
    const [width, height] = this.size;
    const head = svg("path", { d: "M0,0 L8,4 L0,8 z", class: "arrow" });
    const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, head);
    this.arcs = this.layout.routes.map(([parent, child, route]) => ({ parent, child, element: this.makeArc(parent, child, route) }));
    const lines = svg("svg", { class: "arcs", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, svg("defs", {}, marker));
    lines.append(...this.arcs.map((arc) => arc.element));
    this.lines = lines;
    this.extra = [];
    this.paper.prepend(lines);
    this.paper.style.width = `${width}px`;
    this.paper.style.height = `${height}px`;
  }

  makeArc(parent, child, route, kind = "") {
    const from = this.spots[parent];
    const to = this.spots[child];
    const inner = route ? route.slice(1, -1).map((point) => this.point(point)) : [];
    const points = [[from.x, from.bottom], ...inner, [to.x, to.top - 1]];
    let path = `M${points[0]}`;
    for (let k = 1; k < points.length; k++) {
      const [x0, y0] = points[k - 1];
      const [x1, y1] = points[k];
      const bend = Math.max(14, Math.abs(y1 - y0) / 2);
      path += x0 === x1 ? ` L${x1},${y1}` : ` C${x0},${y0 + bend} ${x1},${y1 - bend} ${x1},${y1}`;
    }
    return svg("path", { d: path, class: `arc ${kind}`, "marker-end": "url(#arrow)" });
  }

  /* Arcs at the selected variable stand out; hidden arcs of the class are shown for it alone. */
  update(found) {
    const { selected, model } = this.app;
    this.boxes.forEach((box) => box.update(found));
    this.arcs.forEach(({ parent, child, element }) => element.classList.toggle("near", selected === parent || selected === child));
    this.extra.forEach((element) => element.remove());
    const hidden = this.layout.hidden.filter((node) => node === selected || selected === model.data.target);
    this.extra = hidden.map((node) => this.makeArc(model.data.target, node, null, "near hidden"));
    this.lines.append(...this.extra);
  }

  fit() {
    const room = this.view.clientWidth - 4;
    this.zoom(Math.max(LEAST_SCALE, Math.min(1, room / this.size[0])));
  }

  zoom(scale) {
    this.scale = Math.max(0.15, Math.min(2, scale));
    this.paper.style.transform = `scale(${this.scale})`;
    this.holder.style.width = `${this.size[0] * this.scale}px`;
    this.holder.style.height = `${this.size[1] * this.scale}px`;
  }
}

/* A small box: the name, and the probabilities of the states as one divided bar. */
class Box {
  constructor(app, node) {
    this.app = app;
    this.node = node;
    this.parts = app.model.columns[node].labels.map((_, state) => h("span", { class: `part part-${state % 6}` }));
    this.element = h(
      "button",
      { type: "button", class: "box", onclick: () => app.edit(node, this.element), "data-node": node },
      h("span", { class: "box-name", text: app.model.names[node], title: app.model.names[node] }),
      h("span", { class: "parts", "aria-hidden": "true" }, this.parts),
    );
  }

  update(found) {
    const { app, node } = this;
    const marginal = found.marginals[node];
    this.parts.forEach((part, state) => setWidth(part, marginal[state]));
    const top = marginal.indexOf(Math.max(...marginal));
    this.element.classList.toggle("observed", app.likelihoods[node] !== null);
    this.element.classList.toggle("chosen", app.selected === node);
    this.element.classList.toggle("asked", app.target === node);
    this.element.setAttribute("aria-label", `${app.model.names[node]}: ${app.model.label(node, top)} ${percent(marginal[top])}${app.likelihoods[node] ? ", has evidence" : ""}`);
    this.element.title = `${app.model.names[node]}: ${app.model.label(node, top)} ${percent(marginal[top])}`;
  }
}

VIEWS.push({
  id: "graph", title: "Graph", place: 20, make: (app) => new GraphView(app),
  available: (model) => model.data.layout !== null || "Too many variables for a drawing",
});
