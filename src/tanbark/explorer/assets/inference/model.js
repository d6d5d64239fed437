/* The model: columns, CPTs, and inference. */

class Model {
  constructor(data) {
    this.data = data;
    this.title = data.title;
    this.columns = data.columns;
    this.keys = data.columns.map((column) => column.name); // in the data; names are as shown
    this.names = data.columns.map((column) => column.title ?? column.name);
    this.sizes = data.columns.map((column) => column.labels.length);
    this.parents = data.parents;
    this.children = data.parents.map((_, node) => data.parents.flatMap((p, child) => (p.includes(node) ? [child] : [])));
    this.order = data.order;
    this.target = data.asked ?? (data.target >= 0 ? data.target : data.order[data.order.length - 1]);
    this.weighted = data.exponents !== null;
    this.engine = this.weighted ? new WeightedNaive(data, this.sizes) : new NetworkEngine(data, this.sizes);
    this.pool = this.makePool(data);
    this.correction = data.correction === null ? null : new Correction(data.correction.families);
    this.rows = this.pool?.rows ?? data.rows;
    this.nothing = new Array(this.sizes.length).fill(null);
  }

  /* What predicts the class instead of the network: pooled networks, or averaged models. */
  makePool({ pool, average, target }) {
    if (pool !== null) return new Pool(pool, this.columns, target);
    if (average === null) return null;
    return average.kind === "members" ? new Mixture(average, { columns: this.columns, target }) : new SuperParents(average, { columns: this.columns, target, engine: this.engine });
  }

  /* log P(target = c, evidence) for every c, up to a constant; for the class as the classifier predicts it. */
  logJoint(target, likelihoods, base) {
    if (this.pooled(target)) return this.pool.withClass(this.pool.logits(likelihoods), likelihoods);
    return this.corrected(target, likelihoods, this.engine.logJoint(target, likelihoods, base), () => this.engine.logJoint(target, this.nothing, base));
  }

  /* Whether the posterior of a column is that of pooled networks. */
  pooled(target) {
    return this.pool !== null && target === this.data.target;
  }

  /* For the class, log P(c) + temperature * log P(evidence | c) + correction. The correction counts with the fraction of
     the families that are complete, and reads states that are observed, not likelihoods. */
  corrected(target, likelihoods, logs, before = () => this.engine.logJoint(target, this.nothing)) {
    const { correction, data } = this;
    if (target !== data.target || (data.temperature === 1 && correction === null)) return logs;
    const prior = before();
    const change = new Float64Array(logs.length);
    let [fraction, temperature] = [1, data.temperature];
    if (correction !== null) {
      fraction = correction.add(likelihoods.map(hardState), change);
      temperature = fraction * data.correction.temperature + (1 - fraction) * data.correction.base_temperature;
    }
    return logs.map((log, c) => {
      if (log === -Infinity) return log;
      const own = likelihoods[target] === null ? 0 : Math.log(likelihoods[target][c]);
      return prior[c] + own + temperature * (log - own - prior[c]) + fraction * change[c];
    });
  }

  /* Whether the posterior of a column is that of the network itself. */
  isPlain(target) {
    return target !== this.data.target || (!this.weighted && this.correction === null && this.pool === null && this.data.temperature === 1);
  }

  /* The posterior of the target after one more state, from posteriors that are already there. */
  after(target, likelihoods, found, node, state) {
    const power = this.weighted ? this.data.exponents[node] : 1;
    const logs = found.logs.map((log, c) => (found.perState[c] === null ? -Infinity : log + power * Math.log(found.perState[c][node][state])));
    const known = likelihoods.slice();
    known[node] = this.observed(node, state);
    return normalise(this.corrected(target, known, logs)).probabilities;
  }

  /* Posteriors of all columns; of the class as the classifier predicts it, of the others those of the network. */
  given(target, likelihoods) {
    const found = this.engine.given(target, likelihoods);
    if (found.probabilities === null) return found;
    const logs = this.pooled(target) ? this.logJoint(target, likelihoods) : this.corrected(target, likelihoods, found.logs);
    const { probabilities } = normalise(logs);
    if (probabilities === null) return { ...found, probabilities };
    return { ...found, probabilities, marginals: found.marginals.map((marginal, node) => (node === target ? Float64Array.from(probabilities) : marginal)) };
  }

  /* The likelihood of a column that is in a state; a number is kept to be shown, and where pooled networks have intervals of
     their own, its cell on their grid. */
  observed(node, state, value = NaN) {
    const likelihood = new Float64Array(this.sizes[node]);
    likelihood[state] = 1;
    if (this.columns[node].kind !== "interval" || !Number.isFinite(value)) return likelihood;
    likelihood.value = value;
    if (this.pool !== null && node !== this.data.target && this.pool.grid[node] !== null) {
      const cell = this.pool.cell(node, value);
      likelihood.cells = [cell, cell];
    }
    return likelihood;
  }

  /* Put other CPTs in place of some; `original` keeps those of the model, and `edited` says whether they differ. */
  replaceTables(tables) {
    this.original ??= new Map();
    for (const [node, table] of tables) {
      if (!this.original.has(node)) this.original.set(node, this.data.tables[node]);
      this.data.tables[node] = table;
    }
    for (const [node, table] of this.original) if (table === this.data.tables[node]) this.original.delete(node);
    this.edited = this.original.size > 0;
    Object.assign(this.engine, { tables: this.data.tables, base: this.engine.tree.potentials(this.data.tables) });
    this.before = undefined;
  }

  /* The marginals before any evidence. */
  get priors() {
    return (this.before ??= this.given(this.target, this.nothing).marginals);
  }

  /* The label of a state as it is shown. */
  label(node, state) {
    return this.columns[node].shown[state];
  }

  /* What stands after a number of a column: its unit, or nothing. */
  unit(node) {
    const { unit } = this.columns[node];
    return unit === undefined ? "" : ` ${unit}`;
  }
}

/* Answers by the junction tree, one pass for every state of the target, so that no state is lost beside another. */
class NetworkEngine {
  constructor(data, sizes) {
    this.sizes = sizes;
    this.tables = data.tables;
    this.tree = new JunctionTree({ sizes, cliques: data.cliques, above: data.above, home: data.home, axes: data.axes });
    this.base = this.tree.potentials(data.tables);
  }

  /* log P(target = c, evidence) for every c. */
  logJoint(target, likelihoods, base = this.base) {
    return this.states(target).map((c) => {
      const entered = withState(likelihoods, target, c, this.sizes[target]);
      return entered === null ? -Infinity : this.tree.collect(base, entered);
    });
  }

  logEvidence(likelihoods) {
    return this.tree.collect(this.base, likelihoods);
  }

  mostProbable(likelihoods) {
    return this.tree.explain(this.base, likelihoods);
  }

  /* Posteriors of all columns, and those given each state of the target. */
  given(target, likelihoods) {
    const { tree, sizes } = this;
    const logs = [];
    const perState = this.states(target).map((c) => {
      const entered = withState(likelihoods, target, c, sizes[target]);
      logs.push(entered === null ? -Infinity : tree.collect(this.base, entered));
      if (logs[c] === -Infinity) return null;
      tree.distribute();
      return sizes.map((_, node) => tree.marginal(node));
    });
    return mixed(logs, perState, sizes);
  }

  states(target) {
    return [...Array(this.sizes[target]).keys()];
  }

  /* Prepare other tables of the same families. */
  prepare(tables) {
    return this.tree.potentials(tables);
  }
}

/* Naive Bayes whose probabilities are raised to weights: what is not observed drops out, and the likelihood of what is
   observed is raised to the weight of its column. */
class WeightedNaive {
  constructor(data, sizes) {
    Object.assign(this, { sizes, tables: data.tables, exponents: data.exponents, target: data.target });
  }

  /* P(column = state | class = c), whether the column depends on the class or not. */
  entry(tables, node, state, c) {
    const table = tables[node];
    return table.length === this.sizes[node] ? table[state] : table[state * this.sizes[this.target] + c];
  }

  logJoint(target, likelihoods, tables = this.tables) {
    return this.tables[this.target].map((_, c) => {
      const own = likelihoods[this.target] === null ? 1 : likelihoods[this.target][c];
      let log = Math.log(tables[this.target][c]) + Math.log(own);
      likelihoods.forEach((likelihood, node) => {
        if (likelihood === null || node === this.target || this.exponents[node] === 0) return;
        let chance = 0;
        for (let s = 0; s < likelihood.length; s++) chance += likelihood[s] * this.entry(tables, node, s, c);
        log += this.exponents[node] * Math.log(chance);
      });
      return log;
    });
  }

  given(target, likelihoods) {
    const logs = this.logJoint(target, likelihoods);
    const perState = logs.map((log, c) =>
      log === -Infinity ? null : this.sizes.map((_, node) => this.alone(node, c, likelihoods[node])),
    );
    return mixed(logs, perState, this.sizes);
  }

  /* The posterior of a column given one class and what is known of the column itself. */
  alone(node, c, likelihood) {
    const found = new Float64Array(this.sizes[node]);
    for (let s = 0; s < found.length; s++) {
      const chance = node === this.target ? Number(s === c) : this.entry(this.tables, node, s, c);
      found[s] = chance * (likelihood === null ? 1 : likelihood[s]);
    }
    const total = sum(found);
    return total > 0 ? found.map((value) => value / total) : found;
  }
}

/* Evidence with one column put into one state; null where the evidence already rules that out. */
function withState(likelihoods, node, state, size) {
  const weight = likelihoods[node] === null ? 1 : likelihoods[node][state];
  if (!(weight > 0)) return null;
  const entered = likelihoods.slice();
  entered[node] = new Float64Array(size);
  entered[node][state] = weight;
  return entered;
}

/* Mix posteriors given each state of the target by the target's own posterior. */
function mixed(logs, perState, sizes) {
  const { probabilities, log } = normalise(logs);
  const marginals = sizes.map((size) => new Float64Array(size));
  perState.forEach((found, c) => {
    if (found === null || probabilities === null) return;
    found.forEach((marginal, node) => marginal.forEach((p, s) => (marginals[node][s] += probabilities[c] * p)));
  });
  for (const marginal of marginals) { // a state that is alone possible has probability 1, not almost
    const only = marginal.findIndex((p) => p > 0);
    if (only >= 0 && marginal.every((p, s) => p === 0 || s === only)) marginal[only] = 1;
  }
  return { probabilities, log, logs, marginals, perState };
}

/* Turn logarithms into probabilities; null where all are impossible. */
function normalise(logs) {
  const top = Math.max(...logs);
  if (top === -Infinity) return { probabilities: null, log: -Infinity };
  const values = logs.map((log) => Math.exp(log - top));
  const total = sum(values);
  return { probabilities: values.map((value) => value / total), log: top + Math.log(total) };
}
