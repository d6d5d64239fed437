/* Queries: the posterior, its explanation, the most informative variables, and how improbable the evidence is. */

const NATS_PER_BIT = Math.log(2);

/* Posteriors of all columns; impossible evidence leaves the prior, as in Python. */
function posterior(model, target, likelihoods) {
  const found = model.given(target, likelihoods);
  if (found.probabilities === null) {
    const prior = model.given(target, model.nothing);
    return { ...prior, logs: found.logs, log: -Infinity, impossible: true };
  }
  return { ...found, impossible: false };
}

/* What the page shows at once: the posterior of the target; those of the other columns are computed when they are read. */
class Found {
  constructor(model, target, likelihoods) {
    Object.assign(this, { model, target, likelihoods, known: null });
    const { probabilities, log } = normalise(model.logJoint(target, likelihoods));
    this.impossible = probabilities === null;
    this.probabilities = probabilities ?? normalise(model.logJoint(target, model.nothing)).probabilities;
    this.log = log;
    this.best = this.probabilities.indexOf(Math.max(...this.probabilities));
  }

  get whole() {
    return (this.known ??= posterior(this.model, this.target, this.likelihoods));
  }

  get marginals() {
    return this.whole.marginals;
  }

  get perState() {
    return this.whole.perState;
  }
}

/* The mutual information of each column with the target, in bits, given the evidence. */
function information(model, target, found) {
  return model.sizes.map((size, node) => {
    if (node === target) return 0;
    let nats = 0;
    for (let s = 0; s < size; s++) {
      const whole = found.perState.reduce((all, given, c) => all + (given === null ? 0 : found.probabilities[c] * given[node][s]), 0);
      found.perState.forEach((given, c) => {
        const part = given === null ? 0 : given[node][s];
        if (part > 0 && found.probabilities[c] > 0) nats += found.probabilities[c] * part * Math.log(part / whole);
      });
    }
    return Math.max(0, nats / NATS_PER_BIT);
  });
}

/* How the log-odds of one state of the target come about: the prior, then every piece of evidence, parents
   first; pooled networks have different parents, and evidence enters in the order of the columns. */
function* contributions(model, target, likelihoods, label) {
  const order = model.pooled(target) ? model.names.map((_, node) => node) : model.order;
  const entering = order.filter((node) => node !== target && likelihoods[node] !== null);
  const known = model.nothing.slice();
  const parts = [];
  let before = logOdds(model.logJoint(target, known), label);
  parts.push({ node: null, nats: before });
  if (likelihoods[target] !== null) entering.unshift(target);
  for (const node of entering) {
    known[node] = likelihoods[node];
    const after = logOdds(model.logJoint(target, known), label);
    parts.push({ node, nats: after === before ? 0 : after - before });
    before = after;
    yield;
  }
  return { parts, total: before };
}

/* Log-odds of one state against the others together. */
function logOdds(logs, label) {
  const rest = logs.filter((_, c) => c !== label);
  const others = rest.length ? normalise(rest).log : -Infinity;
  const odds = logs[label] - others;
  return Number.isNaN(odds) ? 0 : odds;
}

/* How probable each piece of evidence was, given all the others. */
function* leaveOneOut(model, likelihoods) {
  const all = model.engine.logEvidence(likelihoods);
  const found = [];
  for (let node = 0; node < likelihoods.length; node++) {
    if (likelihoods[node] === null) continue;
    const without = likelihoods.slice();
    without[node] = null;
    found.push({ node, probability: Math.exp(all - model.engine.logEvidence(without)) });
    yield;
  }
  return found.sort((a, b) => a.probability - b.probability);
}

/* Training rows with the value of a column and those of its parents that are set; null where nothing is. */
function supportOf(model, node, likelihoods) {
  const { counts, axes: all, target } = model.data;
  const axes = all[node];
  const sizes = axes.map((axis) => model.sizes[axis]);
  const states = axes.map((axis) => hardState(likelihoods[axis]));
  const set = node === target ? states.some((state) => state >= 0) : hardState(likelihoods[node]) >= 0;
  if (!set) return null;
  let total = 0;
  counts[node].forEach((count, place) => {
    let rest = place;
    for (let k = axes.length - 1; k >= 0; k--) {
      if (states[k] >= 0 && rest % sizes[k] !== states[k]) return;
      rest = Math.floor(rest / sizes[k]);
    }
    total += count;
  });
  return total;
}

/* The least support among the values that are set: no more training rows than these had them all. */
function support(model, likelihoods) {
  if (model.pool !== null) return model.pool.support(likelihoods);
  if (model.data.counts === null) return null;
  let least = { rows: model.data.rows, node: null };
  likelihoods.forEach((_, node) => {
    const rows = supportOf(model, node, likelihoods);
    if (rows !== null && rows < least.rows) least = { rows, node };
  });
  return least;
}

/* Entropy in bits. */
function entropy(probabilities) {
  return probabilities.reduce((all, p) => (p > 0 ? all - (p * Math.log(p)) / NATS_PER_BIT : all), 0);
}
