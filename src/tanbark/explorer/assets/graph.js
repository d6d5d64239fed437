/* The drawing: boxes in layers as laid out beforehand, arcs as curves, all of it ordinary elements. */

const FULL_UP_TO = 14; // variables whose states are shown in the drawing itself
const CARD_WIDTH = 216;
const CARD_GAP = 26;
const LAYER_GAP = 54;

class Graph {
  constructor(app, layout) {
    this.app = app;
    this.layout = layout;
    this.full = app.model.names.length <= FULL_UP_TO;
    this.paper = h("div", { class: "paper" });
    this.holder = h("div", { class: "holder" }, this.paper);
    this.boxes = app.model.names.map((_, node) => (this.full ? new Card(app, node, { compact: true }) : new Box(app, node)));
    this.scale = null;
  }

  mount(view) {
    view.replaceChildren(this.holder);
    this.view = view;
    this.paper.replaceChildren(...this.boxes.map((box) => box.element));
    this.place();
    this.drawArcs();
    this.fit();
  }

  /* Stretch the layout so that the boxes as they are have room: layers down, places across. */
  place() {
    const { centers, widths, height } = this.layout;
    const levels = [...new Set(centers.map(([, y]) => y))].sort((a, b) => a - b);
    const own = this.boxes.map((box, node) => {
      box.element.style.width = `${this.full ? CARD_WIDTH : Math.max(64, widths[node])}px`;
      return { width: box.element.offsetWidth, height: box.element.offsetHeight };
    });
    this.stretch = this.full ? this.neededStretch(levels) : 1;
    let top = 12;
    this.levels = levels.map((level) => {
      const tall = Math.max(...own.filter((_, node) => centers[node][1] === level).map((size) => size.height));
      const found = { from: level - height / 2, to: level + height / 2, top, bottom: top + tall };
      top += tall + (this.full ? LAYER_GAP : 46);
      return found;
    });
    const shift = this.full ? CARD_WIDTH / 2 : 0;
    this.size = [this.layout.size[0] * this.stretch + 2 * shift, top];
    this.spots = centers.map(([x, y], node) => {
      const level = this.levels[levels.indexOf(y)];
      const spot = { x: x * this.stretch + shift, top: level.top, bottom: level.top + own[node].height, width: own[node].width };
      this.boxes[node].element.style.left = `${spot.x - spot.width / 2}px`;
      this.boxes[node].element.style.top = `${spot.top}px`;
      return spot;
    });
    this.shift = shift;
    this.crop();
  }

  /* Cut the empty margins off. */
  crop() {
    const left = Math.min(...this.spots.map((spot) => spot.x - spot.width / 2)) - 12;
    this.size[0] = Math.max(...this.spots.map((spot) => spot.x + spot.width / 2)) - left + 12;
    this.spots.forEach((spot, node) => {
      spot.x -= left;
      this.boxes[node].element.style.left = `${spot.x - spot.width / 2}px`;
    });
    this.shift -= left;
  }

  neededStretch(levels) {
    let most = 1;
    for (const level of levels) {
      const across = this.layout.centers.filter(([, y]) => y === level).map(([x]) => x).sort((a, b) => a - b);
      for (let k = 1; k < across.length; k++) most = Math.max(most, (CARD_WIDTH + CARD_GAP) / (across[k] - across[k - 1]));
    }
    return most;
  }

  /* A point of the layout's route in the drawing: edges of layers stay edges of layers. */
  point([x, y]) {
    const level = this.levels.find((l) => y >= l.from - 0.5 && y <= l.to + 0.5);
    return [x * this.stretch + this.shift, Math.abs(y - level.from) < Math.abs(y - level.to) ? level.top : level.bottom];
  }

  drawArcs() {
    const [width, height] = this.size;
    const head = svg("path", { d: "M0,0 L8,4 L0,8 z", class: "arrow" });
    const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, head);
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
    this.zoom(Math.min(1, room / this.size[0]));
  }

  zoom(scale) {
    this.scale = Math.max(0.25, Math.min(2, scale));
    this.paper.style.transform = `scale(${this.scale})`;
    this.holder.style.width = `${this.size[0] * this.scale}px`;
    this.holder.style.height = `${this.size[1] * this.scale}px`;
  }

  reveal(node) {
    this.boxes[node].element.scrollIntoView({ block: "nearest", inline: "nearest" });
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
      { type: "button", class: "box", onclick: () => app.select(node), "data-node": node },
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
