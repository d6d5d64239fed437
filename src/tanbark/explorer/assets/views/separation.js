/* d-separation: which variables are connected given others, and along which paths (Pearl, 1988). */

const MOST_PATHS = 60;
const MOST_STEPS = 40_000; // of the search for paths

/* The variables that are d-connected to one, given a set: passing through chains and forks that are not in the set, and
   through colliders that are in it or have a descendant in it. */
function connectedTo(model, source, given) {
  const known = new Set(given);
  const above = ancestorsOf(model, given);
  const found = new Set();
  const seen = new Set();
  const queue = [[source, "up"]];
  while (queue.length) {
    const [node, way] = queue.pop();
    const key = `${node} ${way}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (!known.has(node) && node !== source) found.add(node);
    if (way === "up" && !known.has(node)) {
      for (const parent of model.parents[node]) queue.push([parent, "up"]);
      for (const child of model.children[node]) queue.push([child, "down"]);
    } else if (way === "down") {
      if (!known.has(node)) for (const child of model.children[node]) queue.push([child, "down"]);
      if (above.has(node)) for (const parent of model.parents[node]) queue.push([parent, "up"]);
    }
  }
  return found;
}

/* The variables of a set and all their ancestors. */
function ancestorsOf(model, nodes) {
  const inside = ancestors(model, nodes);
  return new Set(model.order.filter((node) => inside[node]));
}

/* Paths between two variables, the shortest first: the nodes, where each is blocked, and why. Large graphs have more paths
   than anybody reads; `whole` says whether these are all. */
function pathsBetween(model, from, to, given) {
  const known = new Set(given);
  const above = ancestorsOf(model, given);
  const near = model.parents.map((parents, node) => [...parents, ...model.children[node]].sort((a, b) => a - b));
  const found = [];
  let steps = 0;
  let layer = [[from]];
  while (layer.length && found.length < MOST_PATHS && steps < MOST_STEPS) {
    const next = [];
    for (const path of layer) {
      for (const node of near[path[path.length - 1]]) {
        steps += 1;
        if (path.includes(node)) continue;
        if (node === to) found.push([...path, to]);
        else if (next.length < MOST_STEPS) next.push([...path, node]);
      }
    }
    layer = next;
  }
  const whole = layer.length === 0 && found.length <= MOST_PATHS;
  return { whole, paths: found.slice(0, MOST_PATHS).map((path) => describePath(model, path, known, above)) };
}

function describePath(model, path, known, above) {
  const arrows = path.slice(1).map((node, k) => (model.parents[node].includes(path[k]) ? "→" : "←"));
  const blocks = [];
  path.slice(1, -1).forEach((node, k) => {
    const collider = arrows[k] === "→" && arrows[k + 1] === "←";
    if (collider && !above.has(node)) blocks.push({ node, why: "collider" });
    else if (!collider && known.has(node)) blocks.push({ node, why: arrows[k] === "←" && arrows[k + 1] === "→" ? "fork" : "chain" });
  });
  return { path, arrows, blocks, open: blocks.length === 0 };
}
