/* Chance in the page, always from the same seed: how odd the evidence is, and how far the tables may be off. */

const DRAWS = 300;
const POOLED_DRAWS = 1000; // each is of one network, and takes little time
const MOST_FOR_INTERVALS = 3e5; // entries of all cliques beyond which 300 draws would take too long

/* Numbers between 0 and 1, 53 bits each, from a seed (xorshift128 by Marsaglia, 2003). */
function makeRandom(seed = 1) {
  let [x, y, z, w] = [seed ^ 0x9e3779b9, 362436069, 521288629, 88675123];
  const next = () => {
    const t = x ^ (x << 11);
    [x, y, z] = [y, z, w];
    w = (w ^ (w >>> 19) ^ t ^ (t >>> 8)) | 0;
    return w >>> 0;
  };
  for (let i = 0; i < 20; i++) next();
  return () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
}

function drawNormal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/* The logarithm of a gamma variate, which stays finite for tiny shapes (Marsaglia and Tsang, 2000). */
function drawLogGamma(shape, random) {
  if (shape < 1) return drawLogGamma(shape + 1, random) + Math.log(1 - random()) / shape;
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return Math.log(d * v);
  }
}

/* A state drawn from probabilities. */
function drawState(chances, random) {
  let left = random();
  for (let s = 0; s < chances.length - 1; s++) {
    left -= chances[s];
    if (left < 0) return s;
  }
  return chances.length - 1;
}

/* A row drawn from the part of a network, parents first. */
function drawRow(part, random) {
  const { sizes, axes, engine } = part;
  const states = new Array(sizes.length).fill(0);
  for (const node of part.order) {
    const own = axes[node].indexOf(node);
    const step = product(axes[node].slice(own + 1), sizes);
    const start = axes[node].reduce((place, axis) => place * sizes[axis] + (axis === node ? 0 : states[axis]), 0);
    states[node] = drawState(Array.from({ length: sizes[node] }, (_, s) => engine.tables[node][start + s * step]), random);
  }
  return states;
}

/* The fraction of rows drawn from the model that are at most as probable as the evidence, in the same columns. */
function* surprise(model, likelihoods) {
  const observed = likelihoods.flatMap((likelihood, node) => (hardState(likelihood) >= 0 ? [node] : []));
  const part = new Part(model, observed);
  yield;
  const entered = part.nodes.map((node) => (hardState(likelihoods[node]) >= 0 ? likelihoods[node] : null));
  const own = part.engine.logEvidence(entered);
  const random = makeRandom(7);
  let atMost = 0;
  for (let draw = 0; draw < DRAWS; draw++) {
    const states = drawRow(part, random);
    const drawn = entered.map((likelihood, k) => {
      if (likelihood === null) return null;
      const found = new Float64Array(part.sizes[k]);
      found[states[k]] = 1;
      return found;
    });
    atMost += part.engine.logEvidence(drawn) <= own + 1e-9;
    yield;
  }
  return { fraction: atMost / DRAWS, draws: DRAWS, log: own };
}

/* One distribution; where there is neither a row nor prior mass, any is as likely as any other. */
function drawCells(shapes, random, power) {
  const known = shapes.some((shape) => shape > 0);
  const logs = shapes.map((shape) => (known ? (shape > 0 ? power * drawLogGamma(shape, random) : -Infinity) : power * drawLogGamma(1, random)));
  return normalise(logs).probabilities;
}

/* Whether the page knows how sure the tables are. */
function hasIntervals(model, target) {
  if (model.edited) return false;
  if (model.pooled(target)) return model.pool.drawn !== undefined;
  const known = model.data.mass !== null && model.data.mass.some((mass) => mass !== null);
  return known && (model.weighted || sum(model.engine.tree.lengths) <= MOST_FOR_INTERVALS);
}

/* Credible intervals of the target's posterior: low and high for every state, extended to the posterior itself. */
function* intervals(model, target, likelihoods, level, draws = model.pooled(target) ? POOLED_DRAWS : DRAWS) {
  const random = makeRandom(11);
  const drawn = yield* model.pooled(target) ? model.pool.drawn(likelihoods, draws, random) : drawnPosteriors(model, target, likelihoods, draws, random);
  if (!drawn.length) return null;
  const own = normalise(model.logJoint(target, likelihoods)).probabilities ?? drawn[0];
  return drawn[0].map((_, c) => {
    const sorted = drawn.map((probabilities) => probabilities[c]).sort((a, b) => a - b);
    return [Math.min(quantile(sorted, (1 - level) / 2), own[c]), Math.max(quantile(sorted, (1 + level) / 2), own[c])];
  });
}

function* drawnPosteriors(model, target, likelihoods, draws, random) {
  const asked = [target, ...likelihoods.flatMap((likelihood, node) => (likelihood === null ? [] : [node]))];
  const part = model.weighted ? null : new Part(model, asked);
  yield;
  const nodes = part === null ? model.names.map((_, node) => node) : part.nodes;
  const wanted = new Set(asked);
  const plain = part !== null && model.isPlain(target);
  const tables = nodes.map((node) => (part !== null || wanted.has(node) ? new DrawnTable(model, node, likelihoods, plain) : { draw: () => model.data.tables[node] }));
  yield;
  const drawn = [];
  let base;
  for (let draw = 0; draw < draws; draw++) {
    const entries = tables.map((table) => table.draw(random));
    base = part === null ? entries : part.engine.tree.potentials(entries, base);
    const { probabilities } = normalise((part ?? model).logJoint(target, likelihoods, base));
    if (probabilities !== null) drawn.push(probabilities);
    yield;
  }
  return drawn;
}

/* Linear interpolation between the sorted values, as NumPy does. */
function quantile(sorted, fraction) {
  const place = fraction * (sorted.length - 1);
  const low = Math.floor(place);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}
