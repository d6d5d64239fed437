/* Variable elimination, step by step: factors over few variables are multiplied, and a variable is summed out. */

const MOST_FACTOR = 1 << 20; // entries

const ORDERS = {
  "min-fill": { title: "fewest new neighbours first (min-fill)", cost: (model, factors, node) => fillOf(factors, node) },
  "min-size": { title: "smallest factor first (min-weight)", cost: (model, factors, node) => product(scopeWith(factors, node), model.sizes) },
  columns: { title: "the order of the columns", cost: (model, factors, node) => node },
};

/* The variables of all factors that have a variable. */
function scopeWith(factors, node) {
  return [...new Set(factors.filter(({ scope }) => scope.includes(node)).flatMap(({ scope }) => scope))];
}

function fillOf(factors, node) {
  const around = scopeWith(factors, node).filter((other) => other !== node);
  let missing = 0;
  around.forEach((a, k) => around.slice(k + 1).forEach((b) => (missing += !factors.some(({ scope }) => scope.includes(a) && scope.includes(b)))));
  return missing;
}

/* P(target | evidence) by variable elimination: the factors at the start, and for every variable that is summed out the
   factors that are multiplied and the one that comes of it. Variables below which nothing is known or asked are left out. */
function eliminationSteps(model, target, likelihoods, order) {
  const wanted = ancestorsOf(model, [target, ...likelihoods.flatMap((likelihood, node) => (likelihood === null ? [] : [node]))]);
  let factors = [...wanted].sort((a, b) => a - b).map((node) => enteredFactor(model, node, likelihoods));
  const start = factors.map(({ scope, name }) => ({ scope, name, entries: product(scope, model.sizes) }));
  const open = new Set(factors.flatMap(({ scope }) => scope).filter((node) => node !== target));
  const steps = [];
  let largest = Math.max(...start.map(({ entries }) => entries));
  while (open.size) {
    const node = [...open].sort((a, b) => a - b).reduce((best, other) => (ORDERS[order].cost(model, factors, other) < ORDERS[order].cost(model, factors, best) ? other : best));
    open.delete(node);
    const chosen = factors.filter(({ scope }) => scope.includes(node));
    const scope = scopeWith(chosen, node);
    const entries = product(scope, model.sizes);
    largest = Math.max(largest, entries);
    if (entries > MOST_FACTOR) return { start, steps, largest, probabilities: null, stopped: { node, entries } };
    const joined = chosen.reduce((all, factor) => multiplyFactors(model, all, factor));
    const made = { ...sumOut(model, joined, node), name: `f${steps.length + 1}` };
    factors = [...factors.filter((factor) => !chosen.includes(factor)), made];
    steps.push({ node, chosen: chosen.map(({ scope: own, name }) => ({ scope: own, name })), entries, made: { scope: made.scope, name: made.name, entries: made.values.length } });
  }
  const last = factors.reduce((all, factor) => multiplyFactors(model, all, factor));
  const total = sum(last.values);
  return { start, steps, largest, probabilities: total > 0 ? Array.from(last.values, (value) => value / total) : null, stopped: null };
}

/* The CPT of a variable with what is known: one state is picked out, several are weighted. */
function enteredFactor(model, node, likelihoods) {
  let factor = { scope: model.data.axes[node].slice(), values: Float64Array.from(model.data.tables[node]), name: `P(${model.names[node]}${model.parents[node].length ? ` | ${model.parents[node].map((p) => model.names[p]).join(", ")}` : ""})` };
  for (const known of factor.scope.slice()) {
    const likelihood = likelihoods[known];
    if (likelihood === null) continue;
    const weight = { scope: [known], values: likelihood };
    if (hardState(likelihood) >= 0) factor = { ...sumOut(model, multiplyFactors(model, factor, weight), known), name: factor.name };
    else if (known === node) factor = { ...multiplyFactors(model, factor, weight), name: factor.name };
  }
  return factor;
}

function multiplyFactors(model, one, other) {
  const scope = [...one.scope, ...other.scope.filter((node) => !one.scope.includes(node))];
  const [a, b] = [spread(scope, one.scope, model.sizes), spread(scope, other.scope, model.sizes)];
  return { scope, values: Float64Array.from(a, (place, k) => one.values[place] * other.values[b[k]]) };
}

function sumOut(model, factor, node) {
  const scope = factor.scope.filter((other) => other !== node);
  const values = new Float64Array(product(scope, model.sizes));
  marginalise(factor.values, spread(factor.scope, scope, model.sizes), values);
  return { scope, values };
}
