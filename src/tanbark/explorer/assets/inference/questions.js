/* What other states of a column would do to a posterior, and how probable these states are. Of a column of numbers of
   pooled networks the states are the intervals of the first network; each is entered as its middle cell of the grid. */

/* Every state of a column: its label, and the evidence that puts the column into it. */
function columnStates(model, node) {
  const { pool } = model;
  if (pool === null || node === model.data.target || pool.grid[node] === null) {
    return model.columns[node].shown.map((label, state) => ({ state, label, likelihood: model.observed(node, state) }));
  }
  const lookup = pool.kinds[0].lookups[node];
  return Array.from({ length: pool.kinds[0].sizes[node] }, (_, state) => {
    const [first, last] = [lookup.indexOf(state), lookup.lastIndexOf(state)];
    return { state, label: cellsLabel(model, node, first, last), likelihood: cellEvidence(model, node, (first + last) >> 1) };
  });
}

/* The state of a column among its states above, or -1 where the evidence leaves more than one. */
function currentState(model, node, likelihood) {
  const { pool } = model;
  if (pool === null || node === model.data.target || pool.grid[node] === null) return hardState(likelihood);
  const cell = pool.exactState(node, likelihood);
  return cell < 0 ? -1 : pool.kinds[0].lookups[node][cell];
}

/* A number in one cell of the grid, as evidence. The cell ends with its upper cut, which is the number unless it is the
   last. */
function cellEvidence(model, node, cell) {
  const { grid, reading } = model.pool;
  const cuts = grid[node];
  const above = cuts.length < 2 ? 1 : cuts[cuts.length - 1] - cuts[cuts.length - 2];
  const value = cell < cuts.length ? cuts[cell] : cuts.length === 0 ? 0 : cuts[cuts.length - 1] + above;
  const found = new Float64Array(model.sizes[node]);
  found[reading[node][cell]] = 1;
  return Object.assign(found, { value, cells: [cell, cell] });
}

function cellsLabel(model, node, first, last) {
  const cuts = model.pool.grid[node];
  const digits = [4, 6, 9].find((n) => first === 0 || last >= cuts.length || cuts[first - 1].toPrecision(n) !== cuts[last].toPrecision(n)) ?? 17;
  const text = (cut) => `${Number(cut.toPrecision(digits))}`;
  const unit = model.unit(node);
  if (first === 0 && last >= cuts.length) return "any number";
  if (first === 0) return `≤ ${text(cuts[last])}${unit}`;
  if (last >= cuts.length) return `> ${text(cuts[first - 1])}${unit}`;
  return `${text(cuts[first - 1])} to ${text(cuts[last])}${unit}`;
}

/* P(target | evidence) as the model predicts it; null where the evidence is impossible. */
function predicted(model, target, likelihoods) {
  return normalise(model.logJoint(target, likelihoods)).probabilities;
}

/* The posterior with one column in every one of its states, other evidence held, and P(state | evidence, target = c) as the
   networks have it. `known` keeps what columns share. */
function* eachState(model, target, likelihoods, node, known = new Map()) {
  const states = columnStates(model, node);
  const held = without(likelihoods, node);
  if (model.pooled(target)) {
    const found = yield* model.pool.eachState(held, node, known);
    return states.map(({ state, label }, s) => ({ state, label, probabilities: normalise(found[s].logits).probabilities, likelihoods: found[s].likelihoods }));
  }
  if (held !== likelihoods || !known.has("given")) known.set("given", model.engine.given(target, held));
  const found = known.get("given");
  if (held !== likelihoods) known.delete("given");
  yield;
  return states.map(({ state, label }, s) => ({
    state,
    label,
    probabilities: model.after(target, held, found, node, s),
    likelihoods: found.perState.map((given) => (given === null ? 0 : given[node][s])),
  }));
}

/* What may be seen in every column without evidence: how probable each state is, and the posterior after it. */
function* outcomes(model, target, likelihoods) {
  const before = predicted(model, target, likelihoods);
  const found = [];
  const known = new Map();
  for (let node = 0; before !== null && node < model.sizes.length; node++) {
    if (node === target || likelihoods[node] !== null) continue;
    const states = yield* eachState(model, target, likelihoods, node, known);
    const chance = (given) => sum(given.map((value, c) => value * before[c]));
    found.push({ node, before, states: states.map((state) => ({ ...state, chance: state.probabilities === null ? 0 : chance(state.likelihoods) })) });
    yield;
  }
  return found;
}

/* By how many bits the entropy of the target is expected to fall when a column is seen. */
function expectedBits({ before, states }) {
  if (states.length < 2 || !states.some(({ chance }) => chance > 0)) return 0;
  const after = states.reduce((all, { chance, probabilities }) => (chance > 0 ? all + chance * entropy(probabilities) : all), 0);
  return Math.max(0, entropy(before) - after);
}

/* For every column, by how many bits the entropy of the target is expected to fall when it is seen; 0 where it is. */
function* expectedInformation(model, target, likelihoods) {
  if (model.isPlain(target)) return mutualInformation(model, target, likelihoods);
  const bits = new Array(model.sizes.length).fill(0);
  for (const found of yield* outcomes(model, target, likelihoods)) bits[found.node] = expectedBits(found);
  return bits;
}

/* The same for a network whose posteriors are its own: its mutual information with the target, from one propagation. */
function mutualInformation(model, target, likelihoods) {
  const found = model.engine.given(target, likelihoods);
  if (found.probabilities === null) return model.sizes.map(() => 0);
  return information(model, target, found).map((bits, node) => (likelihoods[node] === null ? bits : 0));
}

/* ------------------------------------------------------------ sensitivity */

/* For every column but the target, the lowest and the highest posterior of one state of the target over the states of the
   column, with all other evidence held. */
function* sensitivity(model, target, likelihoods, label) {
  const found = [];
  const known = new Map();
  for (let node = 0; node < model.sizes.length; node++) {
    if (node === target) continue;
    const possible = (yield* eachState(model, target, likelihoods, node, known)).filter(({ probabilities }) => probabilities !== null);
    yield;
    if (!possible.length) continue;
    const all = possible.map(({ state, label: text, probabilities }) => ({ state, label: text, probability: probabilities[label] }));
    const low = all.reduce((best, one) => (one.probability < best.probability ? one : best));
    const high = all.reduce((best, one) => (one.probability > best.probability ? one : best));
    found.push({ node, low, high, current: currentState(model, node, likelihoods[node]) });
  }
  return found;
}

/* ------------------------------------------------------------ the smallest change */

const MOST_CHANGED = 3; // columns
const MOST_EVALUATIONS = 50_000;
const TIE = 1e-9; // probabilities that differ by less are equal, and the earlier change wins

/* The fewest observed columns whose change to other states changes the most probable state of the target; of these the
   change with the highest probability of the new one, ties to the earlier columns and states. */
function* counterfactual(model, target, likelihoods, { most = MOST_CHANGED, evaluations = MOST_EVALUATIONS } = {}) {
  const start = predicted(model, target, likelihoods);
  if (start === null) return { changes: null, searched: 0, evaluations: 0, from: null };
  const from = argmax(start);
  const open = [];
  for (let node = 0; node < model.sizes.length; node++) {
    const now = node === target ? -1 : currentState(model, node, likelihoods[node]);
    if (now >= 0 && columnStates(model, node).length > 1) open.push({ node, others: columnStates(model, node).filter(({ state }) => state !== now) });
  }
  let used = 0;
  for (let size = 1; size <= Math.min(most, open.length); size++) {
    const needed = combinations(open, size);
    if (used + needed > evaluations) return { changes: null, searched: size - 1, evaluations: used, from, needed };
    used += needed;
    const best = yield* bestChange(model, target, likelihoods, open, size, from);
    if (best !== null) return { ...best, searched: size, evaluations: used, from };
  }
  return { changes: null, searched: Math.min(most, open.length), evaluations: used, from };
}

/* How many ways there are to change so many columns. */
function combinations(open, size) {
  const ways = new Float64Array(size + 1);
  ways[0] = 1;
  for (const { others } of open) for (let k = size; k > 0; k--) ways[k] += ways[k - 1] * others.length;
  return ways[size];
}

/* Sets of columns in lexicographic order, each with all states, those of the last column fastest. */
function* bestChange(model, target, likelihoods, open, size, from) {
  let near = [];
  let top = -Infinity;
  for (const columns of subsets(open.length, size)) {
    const parts = columns.map((k) => open[k]);
    for (const places of products(parts.map(({ others }) => others.length))) {
      const known = likelihoods.slice();
      parts.forEach(({ node, others }, k) => (known[node] = others[places[k]].likelihood));
      const probabilities = predicted(model, target, known);
      const to = probabilities === null ? from : argmax(probabilities);
      if (to === from || probabilities[to] < top - TIE) continue;
      top = Math.max(top, probabilities[to]);
      near.push({ to, probabilities, columns, places });
      if (near.length > 100) near = near.filter((found) => found.probabilities[found.to] >= top - TIE);
    }
    yield;
  }
  const best = near.find((found) => found.probabilities[found.to] >= top - TIE);
  if (best === undefined) return null;
  const changes = best.columns.map((k, place) => {
    const { state, label } = open[k].others[best.places[place]];
    return { node: open[k].node, state, label };
  });
  return { to: best.to, probabilities: Array.from(best.probabilities), changes };
}

function* subsets(n, size, first = 0) {
  if (size === 0) yield [];
  else for (let k = first; k <= n - size; k++) for (const rest of subsets(n, size - 1, k + 1)) yield [k, ...rest];
}

function* products(sizes) {
  if (sizes.length === 0) yield [];
  else for (let k = 0; k < sizes[0]; k++) for (const rest of products(sizes.slice(1))) yield [k, ...rest];
}

/* The first of the greatest. */
function argmax(values) {
  return values.reduce((best, value, k) => (value > values[best] ? k : best), 0);
}
