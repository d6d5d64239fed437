/* Arcs as curves from box to box; their width is what the parent tells of the child where its other parents are known. */

const THINNEST = 0.9;
const WIDEST = 6;

/* The points of an arc and the direction in which it arrives. */
function arcRoute(from, to, bends, sideways) {
  const between = [];
  for (let k = 0; k < bends.length; k += 2) between.push([bends[k], bends[k + 1]]);
  const right = to[0] >= from[0] + from[2];
  if (sideways && (right || to[0] + to[2] <= from[0])) {
    const start = [right ? from[0] + from[2] : from[0], from[1] + from[3] / 2];
    const end = [right ? to[0] : to[0] + to[2], to[1] + to[3] / 2];
    return { points: [start, ...between, end], along: [right ? 1 : -1, 0] };
  }
  return { points: [[from[0] + from[2] / 2, from[1] + from[3]], ...between, [to[0] + to[2] / 2, to[1]]], along: [0, 1] };
}

/* Curves through the points that leave and arrive along one direction, and an arrowhead. */
function arcShape({ points, along: [dx, dy] }, width) {
  const reach = 5 + 1.2 * width;
  const half = 2.4 + 0.7 * width;
  const [x, y] = points[points.length - 1];
  const base = [x - dx * reach, y - dy * reach];
  const inner = [...points.slice(0, -1), [base[0] + dx, base[1] + dy]];
  let line = `M${inner[0]}`;
  for (let k = 1; k < inner.length; k++) {
    const [[x0, y0], [x1, y1]] = [inner[k - 1], inner[k]];
    const far = Math.abs(dx ? x1 - x0 : y1 - y0) / 2.2;
    line += (dx ? y0 === y1 : x0 === x1) ? ` L${x1},${y1}` : ` C${x0 + dx * far},${y0 + dy * far} ${x1 - dx * far},${y1 - dy * far} ${x1},${y1}`;
  }
  const head = `M${x},${y} L${base[0] - dy * half},${base[1] + dx * half} L${base[0] + dy * half},${base[1] - dx * half} z`;
  return { line, head };
}

class GraphArc {
  constructor(view, parent, child, bends = []) {
    Object.assign(this, { parent, child });
    const { model } = view.app;
    const { boxes, sideways, strengths } = view.drawing;
    this.bits = strengths[child][model.parents[child].indexOf(parent)];
    this.width = THINNEST + (WIDEST - THINNEST) * (view.strongest > 0 ? this.bits / view.strongest : 0);
    const shape = arcShape(arcRoute(boxes[parent], boxes[child], bends, sideways), this.width);
    const title = svg("title");
    title.textContent = `${model.names[parent]} → ${model.names[child]}: ${bitsText(this.bits)}`;
    const line = svg("path", { class: "arc-line", d: shape.line });
    line.style.setProperty("--width", this.width.toFixed(2));
    this.element = svg("g", { class: "arc" }, title, line, svg("path", { class: "arc-head", d: shape.head }));
    this.element.classList.toggle("from-class", parent === model.data.target);
  }
}
