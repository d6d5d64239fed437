/* The Graph view: the network as a drawing that pans and zooms; a click on a variable opens it at its place. */

const MAP_FROM = 60; // variables from which on there is a small map
const NEAR = 0.75; // scale below which names take the room of their boxes
const FAR = 0.33; // scale below which boxes show no names
const LEGIBLE = 0.45; // the scale at which names have 9 pixels: the view does not go below it by itself
const BEGIN = 0.6; // the scale at which a drawing opens that would not be legible as a whole
const MOST_SHOWN = 12; // variables found by a search that the view moves to

class GraphView {
  constructor(app) {
    this.app = app;
    this.drawing = app.model.data.drawing;
    this.colours = app.model.columns.map(stateColours);
    this.strongest = Math.max(0, ...this.drawing.strengths.flat());
    this.focused = null;
    this.matches = null;
    this.frame = null;
  }

  /* ------------------------------------------------------------ building */

  mount(element) {
    const { drawing, app } = this;
    this.nodes = app.model.names.map((_, node) => new GraphNode(this, node));
    this.arcs = drawing.arcs.map(([parent, child, ...bends]) => new GraphArc(this, parent, child, bends));
    this.lines = svg("g", { class: "arcs" }, this.arcs.map((arc) => arc.element));
    this.names = new FarNames(this);
    this.world = svg("g", { class: "world" }, this.makeTray(), this.lines, this.nodes.map((node) => node.element), this.names.element);
    this.paper = svg("svg", { class: "graph-paper", role: "group", "aria-label": `Graph of ${app.model.title}` }, this.world);
    this.viewport = new Viewport(this.paper, drawing.size, () => this.schedule());
    this.map = this.nodes.length >= MAP_FROM ? new Minimap(this) : null;
    this.canvas = h("div", { id: "graph-canvas" }, this.paper, this.map?.element);
    this.legend = makeLegend(this);
    element.replaceChildren(this.makeTools(), this.canvas, this.legend);
    this.connect();
    this.takeHeight();
    this.rove(app.target);
    this.search(app.shell.matches);
  }

  makeTray() {
    const { tray, hidden } = this.drawing;
    if (!tray) return null;
    const [x, y, width, height] = tray;
    const right = x > this.drawing.size[0] / 2;
    this.trayTitle = svg("text", { x: right ? x + width - 12 : x + 12, y: y + 16, "text-anchor": right ? "end" : "start", class: "tray-title" });
    this.trayTitle.textContent = hidden.length ? "No arcs to other features" : "No arcs";
    return svg("g", { class: "tray" }, svg("rect", { x, y, width, height, rx: 9 }), this.trayTitle);
  }

  makeTools() {
    const tool = (id, text, label, act) => h("button", { type: "button", id, text, title: label, "aria-label": label, onclick: act });
    const { viewport } = this;
    const tools = [
      tool("smaller", "−", "Smaller", () => viewport.zoom(1 / 1.3)),
      tool("fit", "Fit", "Fit the whole drawing", () => viewport.fit({ glide: true })),
      tool("larger", "+", "Larger", () => viewport.zoom(1.3)),
      tool("save-svg", "SVG", "Download the drawing as SVG", () => this.saveSvg()),
      tool("save-png", "PNG", "Download the drawing as PNG", () => this.savePng()),
    ];
    this.note = h("span", { class: "small", id: "graph-note" });
    return h("div", { class: "graph-tools" }, tools, this.note);
  }

  connect() {
    this.paper.addEventListener("click", (event) => this.onClick(event));
    this.paper.addEventListener("dblclick", (event) => this.onDouble(event));
    this.paper.addEventListener("keydown", (event) => this.onKey(event));
    this.paper.addEventListener("focusin", (event) => this.onFocus(event));
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    window.addEventListener("resize", () => this.takeHeight());
  }

  /* Be as high as the window allows below what stands above, with the legend. */
  takeHeight() {
    if (this.canvas.clientWidth === 0) return;
    const above = this.canvas.getBoundingClientRect().top + window.scrollY;
    const below = isNarrow() ? 12 : this.legend.offsetHeight + 20;
    this.canvas.style.height = `${Math.max(440, window.innerHeight - above - below)}px`;
  }

  /* ------------------------------------------------------------ what is seen */

  /* Fit the drawing when it is first seen; later keep its middle in the middle. */
  resize() {
    const { viewport } = this;
    const before = viewport.room;
    const seen = before[0] > 0;
    if (!viewport.measure()) {
      viewport.room = before;
      return;
    }
    if (!seen) {
      this.takeHeight();
      viewport.measure();
      this.nodes.forEach((node) => node.measure());
    }
    if (!seen && viewport.fitting < LEGIBLE) this.begin();
    else if (!seen || viewport.fitted) viewport.fit();
    else viewport.pan((viewport.room[0] - before[0]) / 2, (viewport.room[1] - before[1]) / 2);
  }

  /* Open a part of a large drawing at a legible size, with a small map of the whole. */
  begin() {
    if (this.map === null) {
      this.map = new Minimap(this);
      this.canvas.append(this.map.element);
    }
    this.viewport.begin(this.drawing.boxes[this.app.selected ?? this.names.root], BEGIN);
  }

  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.render();
    });
  }

  render() {
    const { left, top, scale } = this.viewport;
    this.world.setAttribute("transform", `translate(${left.toFixed(2)},${top.toFixed(2)}) scale(${scale.toFixed(4)})`);
    this.map?.move();
    if (this.zoomed !== scale) this.rescale(scale);
    if (this.found !== undefined) this.updateSeen();
    const { editor } = this.app;
    if (!editor.element.hidden && this.paper.contains(editor.anchor)) this.placeEditor();
  }

  /* Names become larger in their boxes as the drawing becomes smaller, until there is no reading them; arcs thicker. */
  rescale(scale) {
    this.zoomed = scale;
    const level = this.drawing.full || scale >= NEAR ? "near" : scale >= FAR ? "middle" : "far";
    if (level !== this.level) {
      this.level = level;
      for (const name of ["middle", "far"]) this.paper.classList.toggle(name, name === level);
      this.nodes.forEach((node) => node.setLevel(level));
    }
    const thick = scale < 1 ? 2 ** (Math.round(-Math.log2(scale) * 1.2) / 2) : 1;
    if (thick !== this.thick) {
      this.thick = thick;
      this.lines.style.setProperty("--thick", thick);
    }
    if (this.trayTitle) this.trayTitle.style.fontSize = `${Math.max(12, 12 / scale)}px`;
    this.names.place();
  }

  /* ------------------------------------------------------------ what is known */

  update(found) {
    const { app } = this;
    const news = found !== this.found;
    this.found = found;
    if (app.selected !== null && app.selected !== this.focused) {
      this.setFocus(app.selected);
      if (!app.editor.element.hidden && this.paper.contains(app.editor.anchor)) this.attach(app.selected);
    }
    if (!news) return;
    this.map?.mark("observed", (node) => this.app.likelihoods[node] !== null);
    this.updateSeen();
    this.names.place();
  }

  updateSeen() {
    for (const node of this.nodes) if (node.shown !== this.found && this.viewport.sees(node.box)) node.update(this.found);
  }

  /* The variable in focus and its Markov blanket stay, everything else is dimmed. */
  setFocus(node) {
    const { model } = this.app;
    this.focused = node;
    const blanket = node === null ? null : markovBlanket(model, node);
    this.kin = blanket !== null && blanket.size < model.names.length ? blanket : null;
    this.paper.classList.toggle("focused", this.kin !== null);
    this.nodes.forEach(({ element }, other) => {
      element.classList.toggle("kin", this.kin?.has(other) ?? false);
      element.classList.toggle("chosen", other === node);
    });
    this.arcs.forEach(({ parent, child, element }) => {
      const kin = node !== null && (parent === node || child === node || (this.kin !== null && model.parents[child].includes(node)));
      element.classList.toggle("kin", kin);
      if (kin) this.lines.append(element);
    });
    this.extra?.element.remove();
    const ofClass = node !== null && this.drawing.hidden.includes(node);
    this.extra = ofClass ? new GraphArc(this, model.data.target, node) : null;
    if (ofClass) {
      this.extra.element.classList.add("kin", "unrouted");
      this.lines.append(this.extra.element);
    }
    this.map?.mark("chosen", (other) => other === node);
    this.note.textContent = this.describeFocus(node);
    this.names.place();
  }

  describeFocus(node) {
    if (node === null) return "";
    const { model } = this.app;
    const n = markovBlanket(model, node).size - 1;
    return `${model.names[node]}: ${n} ${n === 1 ? "variable" : "variables"} in its Markov blanket`;
  }

  /* Dim what a search does not find, and go to the rest where it is little. */
  search(matches) {
    this.matches = matches;
    this.paper.classList.toggle("searched", matches !== null);
    this.nodes.forEach(({ element }, node) => element.classList.toggle("found", matches !== null && matches[node]));
    this.map?.mark("found", (node) => matches !== null && matches[node]);
    const some = matches === null ? [] : this.nodes.flatMap((_, node) => (matches[node] ? [node] : []));
    if (some.length && some.length <= MOST_SHOWN && this.viewport.room[0] > 0) this.viewport.show(this.around(some));
    this.names.place();
  }

  /* The least box around some variables. */
  around(nodes) {
    const boxes = nodes.map((node) => this.drawing.boxes[node]);
    const [x, y] = [0, 1].map((k) => Math.min(...boxes.map((box) => box[k])));
    const [right, bottom] = [0, 1].map((k) => Math.max(...boxes.map((box) => box[k] + box[k + 2])));
    return [x, y, right - x, bottom - y];
  }

  /* Bring a variable and what is beside it into view. */
  focus(node) {
    this.setFocus(node);
    const { hidden } = this.drawing;
    const near = [...(this.kin ?? [node])].filter((other) => hidden.length === 0 || other !== this.app.model.data.target || other === node);
    const box = this.around(near);
    const { room } = this.viewport;
    const legible = Math.min((room[0] - 60) / box[2], (room[1] - 60) / box[3]) >= LEGIBLE;
    this.viewport.show(legible ? box : this.around([node]));
  }

  /* ------------------------------------------------------------ hands and keys */

  nodeOf(event) {
    const element = event.target.closest(".node");
    return element === null ? null : Number(element.dataset.node);
  }

  onClick(event) {
    const node = this.nodeOf(event);
    if (node !== null) this.open(node);
    else this.setFocus(null);
  }

  onDouble(event) {
    const node = this.nodeOf(event);
    if (node === null) this.viewport.zoom(1.6, this.viewport.at(event));
    else this.focus(node);
  }

  open(node) {
    this.rove(node);
    this.app.edit(node, this.nodes[node].element);
    this.attach(node);
  }

  /* Keep what is opened at the box of its variable; on a phone, where it is at the lower edge, the box moves above it. */
  attach(node) {
    const { app, nodes, viewport } = this;
    app.editor.anchor = nodes[node].element;
    app.editor.card.rows.forEach((row, state) => {
      row.element.classList.add("coloured");
      row.element.style.setProperty("--state", this.colours[node][state]);
    });
    const sheet = app.editor.element.getBoundingClientRect();
    const covered = isNarrow() ? this.canvas.getBoundingClientRect().bottom - sheet.top : 0;
    viewport.reveal(this.drawing.boxes[node], Math.max(0, Math.min(covered, viewport.room[1] - 80)));
    this.placeEditor();
  }

  /* Below, above or beside the box, wherever the fewest neighbours are covered, within the window and below the answer. */
  placeEditor() {
    if (isNarrow()) return;
    const { element, node } = this.app.editor;
    const { offsetWidth: width, offsetHeight: height } = element;
    const lowest = byId("answer").getBoundingClientRect().bottom + 6;
    const box = this.onScreen(node);
    const spots = [[box.left, box.bottom + 6], [box.left, box.top - height - 6], [box.right + 8, box.top - 20], [box.left - width - 8, box.top - 20]];
    const near = [...(this.kin ?? [node])].map((other) => ({ ...this.onScreen(other), cost: other === node ? 9 : 1 }));
    const placed = spots.map(([x, y]) => {
      const left = Math.max(6, Math.min(x, window.innerWidth - width - 6));
      const top = Math.max(lowest, Math.min(y, window.innerHeight - height - 6));
      const cost = near.reduce((all, { left: low, right: high, top: upper, bottom: lower, cost }) => all + cost * Math.max(0, Math.min(high, left + width) - Math.max(low, left)) * Math.max(0, Math.min(lower, top + height) - Math.max(upper, top)), 0);
      return { left, top, cost };
    });
    const best = placed.reduce((least, spot) => (spot.cost < least.cost ? spot : least));
    element.style.left = `${best.left}px`;
    element.style.top = `${best.top}px`;
  }

  /* The box of a variable in the window. */
  onScreen(node) {
    const { left, top, scale } = this.viewport;
    const paper = this.paper.getBoundingClientRect();
    const [x, y, width, height] = this.drawing.boxes[node];
    return { left: paper.left + left + x * scale, right: paper.left + left + (x + width) * scale, top: paper.top + top + y * scale, bottom: paper.top + top + (y + height) * scale };
  }

  onFocus(event) {
    const node = this.nodeOf(event);
    if (node === null) return;
    this.rove(node);
    if (event.target.matches(":focus-visible")) this.viewport.reveal(this.drawing.boxes[node]);
  }

  /* One variable is reached by the tab key; arrow keys go on from there. */
  rove(node) {
    this.nodes.forEach(({ element }, other) => element.setAttribute("tabindex", other === node ? 0 : -1));
  }

  onKey(event) {
    const node = this.nodeOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey || node === null) return;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const act = {
      Enter: () => this.open(node),
      " ": () => this.open(node),
      Escape: () => this.setFocus(null),
      "+": () => this.viewport.zoom(1.3),
      "-": () => this.viewport.zoom(1 / 1.3),
      0: () => this.viewport.fit({ glide: true }),
      f: () => this.focus(node),
    }[event.key];
    if (!step && !act) return;
    event.preventDefault();
    event.stopPropagation();
    if (step) this.nodes[this.nextTo(node, step)].element.focus({ preventScroll: true });
    else act();
  }

  /* The nearest variable in a direction. */
  nextTo(node, [dx, dy]) {
    const middle = (other) => [0, 1].map((k) => this.drawing.boxes[other][k] + this.drawing.boxes[other][k + 2] / 2);
    const [x, y] = middle(node);
    let [best, least] = [node, Infinity];
    this.nodes.forEach((_, other) => {
      const [right, down] = [middle(other)[0] - x, middle(other)[1] - y];
      const along = right * dx + down * dy;
      const far = along + 2.5 * Math.abs(dx ? down : right);
      if (other !== node && along > 2 && far < least) [best, least] = [other, far];
    });
    return best;
  }

  /* ------------------------------------------------------------ files */

  picture() {
    this.nodes.forEach((node) => node.update(this.found));
    const scale = this.viewport.scale;
    this.rescale(1);
    const found = standalone(this.world, this.drawing.size);
    this.rescale(scale);
    return serialise(found);
  }

  saveSvg() {
    saveFile(new Blob([this.picture()], { type: "image/svg+xml" }), fileName(this.app.model.title, "svg"));
  }

  async savePng() {
    saveFile(await rasterise(this.picture(), this.drawing.size), fileName(this.app.model.title, "png"));
  }
}

/* A variable with its parents, its children and their other parents. */
function markovBlanket(model, node) {
  const found = new Set([node, ...model.parents[node], ...model.children[node]]);
  for (const child of model.children[node]) for (const parent of model.parents[child]) found.add(parent);
  return found;
}

VIEWS.push({
  id: "graph",
  title: "Graph",
  place: 20,
  make: (app) => new GraphView(app),
  available: (model) => model.data.drawing !== null || `No drawing: ${model.names.length} variables are too many for one.`,
});
