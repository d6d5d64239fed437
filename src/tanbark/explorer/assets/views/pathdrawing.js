/* The network in small, to choose variables by clicks: two, and those that are known; open paths are drawn, what blocks is marked. */

const MOST_DRAWN = 40; // variables beyond which their names could not be read
const NEXT_CLICK = ["Click the first variable.", "Click the second variable.", "Click variables that are known, or again that are not."];

class PathDrawing {
  constructor(lesson) {
    this.lesson = lesson;
    this.clicks = 2; // how many of the two variables are chosen
    const { model } = lesson.app;
    const { size, boxes } = model.data.drawing;
    this.lines = svg("g");
    this.nodes = boxes.map((box, node) => this.makeNode(box, node));
    this.hint = h("span", { class: "small" });
    const again = h("button", { type: "button", id: "choose-again", text: "Choose two others", onclick: () => this.begin() });
    const paper = svg("svg", { class: "path-paper", viewBox: `0 0 ${size[0]} ${size[1]}`, role: "group", "aria-label": "The network, to choose variables" }, this.lines, this.nodes);
    this.element = h("div", { class: "path-drawing", id: "path-drawing" }, h("p", { class: "buttons-left" }, again, this.hint), paper);
  }

  static possible(model) {
    return Boolean(model.data.drawing) && model.names.length <= MOST_DRAWN;
  }

  makeNode([x, y, width, height], node) {
    const { model } = this.lesson.app;
    const font = Math.max(11, Math.min(26, 0.45 * height, (width - 12) / (0.57 * model.names[node].length)));
    const name = svg("text", { x: x + width / 2, y: y + height / 2, "text-anchor": "middle", "dominant-baseline": "central", text: model.names[node] });
    name.style.fontSize = `${font.toFixed(1)}px`;
    const element = svg("g", { class: "path-node", role: "button", tabindex: 0, "data-node": node, onclick: () => this.choose(node) }, svg("rect", { x, y, width, height, rx: 8 }), name);
    element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.choose(node);
    });
    return element;
  }

  begin() {
    this.clicks = 0;
    this.hint.textContent = NEXT_CLICK[0];
    this.lesson.update();
  }

  choose(node) {
    const { lesson } = this;
    const known = lesson.known();
    this.clicks += 1;
    if (this.clicks === 1) lesson.take({ from: node, ...(lesson.to === node ? { to: lesson.from } : {}) });
    else if (this.clicks === 2 && node !== lesson.from) lesson.take({ to: node });
    else if (this.clicks === 2) this.clicks = 1;
    else if (node !== lesson.from && node !== lesson.to) lesson.take({ given: known.includes(node) ? known.filter((one) => one !== node) : [...known, node] });
  }

  /* Show what is chosen, the open paths, and the nodes that block the others. */
  update({ from, to, given, paths }) {
    const { model } = this.lesson.app;
    const blocking = new Set(paths.flatMap(({ blocks }) => blocks.map(({ node }) => node)));
    this.hint.textContent = NEXT_CLICK[Math.min(this.clicks, 2)];
    this.nodes.forEach((element, node) => {
      const role = node === from ? "first" : node === to && this.clicks !== 1 ? "second" : given.includes(node) ? "known" : "";
      element.setAttribute("class", ["path-node", role, blocking.has(node) ? "blocking" : ""].filter(Boolean).join(" "));
      element.setAttribute("aria-label", [model.names[node], role && { first: "chosen first", second: "chosen second", known: "known" }[role], blocking.has(node) && "blocks a path"].filter(Boolean).join(", "));
    });
    this.drawArcs(paths);
  }

  drawArcs(paths) {
    const { model } = this.lesson.app;
    const { arcs, boxes, sideways } = model.data.drawing;
    const open = new Map();
    for (const { path, arrows } of paths.filter((one) => one.open)) {
      arrows.forEach((arrow, k) => {
        const [parent, child] = arrow === "→" ? [path[k], path[k + 1]] : [path[k + 1], path[k]];
        open.set(`${parent} ${child}`, [parent, child]);
      });
    }
    const routed = new Set(arcs.map(([parent, child]) => `${parent} ${child}`));
    const all = [...arcs, ...[...open].filter(([key]) => !routed.has(key)).map(([, ends]) => ends)];
    this.lines.replaceChildren(...all.map(([parent, child, ...bends]) => {
      const shape = arcShape(arcRoute(boxes[parent], boxes[child], bends, sideways), 1.2);
      const isOpen = open.has(`${parent} ${child}`);
      return svg("g", { class: isOpen ? "path-arc open" : "path-arc", "data-arc": `${parent} ${child}` }, svg("path", { class: "path-line", d: shape.line }), svg("path", { class: "path-head", d: shape.head }));
    }));
  }
}
