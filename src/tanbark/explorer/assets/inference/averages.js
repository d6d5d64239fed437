/* The class posterior of averages: of the joints of super-parent models (AODE, A2DE), or of the posteriors of several
   models. Both have what the page asks of pooled networks. Evidence is an array by column: null, or a likelihood of every
   state. */

class SuperParents {
  constructor(data, { columns, target, engine }) {
    const sizes = columns.map((column) => column.labels.length);
    Object.assign(this, { sizes, target, engine, networks: data.networks, rows: data.rows, least: data.least, sums: data.sums });
    this.corrected = false;
    this.grid = columns.map(() => null);
    this.places = sizes.slice(0, target).map((_, column) => sum(sizes.slice(0, column)));
    this.nValues = sum(sizes.slice(0, target));
    this.averages = data.averages.map(({ members, starts, prior, counts, probabilities }) => ({
      members, starts, prior: unpack(prior), counts: unpack(counts), probabilities: unpack(probabilities),
    }));
    this.counted = data.counted.map(({ columns: few, counts }) => ({ columns: few, counts: unpack(counts) }));
  }

  /* log P(class, evidence): the first average that has a model for the evidence, and at last naive Bayes. */
  logits(evidence) {
    for (const average of this.averages) {
      const logs = this.average(average, evidence);
      if (logs !== null) return logs;
    }
    return this.engine.logJoint(this.target, without(evidence, this.target));
  }

  withClass(logits, evidence) {
    return withClass(logits, evidence[this.target]);
  }

  /* The mean over the models whose super-parents have states that are frequent enough; null where there is none. */
  average({ members, starts, prior, counts, probabilities }, evidence) {
    const n = this.sizes[this.target];
    const sums = Array.from({ length: n }, () => new LogSum());
    const given = evidence.slice(0, this.target).flatMap((likelihood, column) => (likelihood === null ? [] : [{ column, likelihood }]));
    let used = 0;
    members.forEach((parents, model) => {
      const states = this.jointStates(parents, evidence).map((found) => ({ ...found, place: starts[model] + found.place }));
      const whole = parents.every((parent) => hardState(evidence[parent]) >= 0);
      if (!whole && !this.sums) return;
      if (!(states.reduce((all, { place }) => all + counts[place], 0) >= this.least)) return;
      used += 1;
      const children = given.filter(({ column }) => !parents.includes(column));
      for (const { place, weight } of states) {
        for (let c = 0; c < n; c++) sums[c].add(prior[place * n + c] + Math.log(weight) + this.children(probabilities, place, children, c));
      }
    });
    return used === 0 ? null : sums.map((total) => total.value - Math.log(used));
  }

  /* The joint states of super-parents that the evidence leaves possible, with their likelihoods. */
  jointStates(parents, evidence) {
    let found = [{ place: 0, weight: 1 }];
    for (const parent of parents) {
      const likelihood = evidence[parent];
      found = found.flatMap(({ place, weight }) =>
        Array.from({ length: this.sizes[parent] }, (_, s) => ({ place: place * this.sizes[parent] + s, weight: weight * (likelihood === null ? 1 : likelihood[s]) })),
      );
    }
    return found.filter(({ weight }) => weight > 0);
  }

  /* log P(evidence on the children | super-parents, class). */
  children(probabilities, place, children, c) {
    const n = this.sizes[this.target];
    let log = 0;
    for (const { column, likelihood } of children) {
      const start = place * this.nValues + this.places[column];
      let chance = 0;
      for (let s = 0; s < likelihood.length; s++) if (likelihood[s] > 0) chance += likelihood[s] * probabilities[(start + s) * n + c];
      log += Math.log(chance);
    }
    return log;
  }

  /* The least number of training rows that had some of the values together, as Python's support. */
  support(evidence) {
    let least = { rows: this.rows, node: null };
    const states = evidence.map(hardState);
    for (const { columns, counts } of this.counted) {
      if (columns.some((column) => states[column] < 0)) continue;
      const rows = counts[columns.reduce((place, column) => place * this.sizes[column] + states[column], 0)];
      if (rows < least.rows) least = { rows, node: columns[columns.length - 1] };
    }
    return least;
  }

  /* A column in every one of its states, other evidence held: see Pool. */
  *eachState(evidence, column) {
    const joints = [];
    for (const likelihood of oneHot(this.sizes[column])) {
      joints.push(this.logits(entering(evidence, column, likelihood)));
      yield;
    }
    const { values } = overStates(joints);
    return joints.map((logits, s) => ({ logits: this.withClass(logits, evidence), likelihoods: values[s] }));
  }
}

class Mixture {
  constructor(data, { columns, target }) {
    this.models = data.members.map((member) => new Model({ ...member, columns, title: "", asked: null }));
    const sizes = columns.map((column) => column.labels.length);
    Object.assign(this, { sizes, target, networks: data.networks, corrected: false, grid: columns.map(() => null) });
    this.weights = data.weights;
    this.rows = this.mean(this.models.map(({ rows }) => rows));
  }

  /* The weighted mean of a number for every model. */
  mean(values) {
    return sum(values.map((value, m) => this.weights[m] * value));
  }

  /* The logarithm of the mean of the posteriors. */
  logits(evidence) {
    const known = without(evidence, this.target);
    const all = this.models.map((model) => classPosterior(model, known));
    return all[0].map((_, c) => Math.log(this.mean(all.map((probabilities) => probabilities[c]))));
  }

  withClass(logits, evidence) {
    return withClass(logits, evidence[this.target]);
  }

  support(evidence) {
    const all = this.models.map((model) => support(model, evidence));
    const rows = this.mean(all.map((found) => found.rows));
    const thinnest = all.reduce((best, found) => (found.node !== null && (best === null || found.rows < best.rows) ? found : best), null);
    return { rows, node: thinnest?.node ?? null };
  }

  /* A column in every one of its states, other evidence held: see Pool. A network counts where a class is possible. */
  *eachState(evidence, column) {
    const states = oneHot(this.sizes[column]);
    const held = without(evidence, column);
    const logits = states.map((likelihood) => this.logits(entering(evidence, column, likelihood)));
    yield;
    const sums = states.map(() => new Float64Array(logits[0].length));
    const times = new Float64Array(logits[0].length);
    for (const [m, model] of this.models.entries()) {
      const { known, values } = yield* this.memberLikelihoods(model, without(held, this.target), column);
      for (let c = 0; c < times.length; c++) {
        times[c] += this.weights[m] * known[c];
        values.forEach((line, s) => (sums[s][c] += this.weights[m] * line[c]));
      }
      yield;
    }
    return logits.map((logs, s) => ({ logits: this.withClass(logs, evidence), likelihoods: Array.from(sums[s], (value, c) => (times[c] > 0 ? value / times[c] : 0)) }));
  }

  *memberLikelihoods(model, evidence, column) {
    if (model.pool !== null) {
      const found = yield* model.pool.eachState(evidence, column);
      const values = found.map(({ likelihoods }) => likelihoods);
      return { known: values[0].map((_, c) => Number(values.some((line) => line[c] > 0))), values };
    }
    const { perState } = model.engine.given(this.target, evidence);
    const values = Array.from({ length: this.sizes[column] }, (_, s) => perState.map((found) => (found === null ? 0 : found[column][s])));
    return { known: perState.map((found) => Number(found !== null)), values };
  }
}

/* The likelihoods of a column that is in each of its states. */
function oneHot(size) {
  return Array.from({ length: size }, (_, s) => Float64Array.from({ length: size }, (__, t) => Number(s === t)));
}

/* Evidence with one column changed. */
function entering(evidence, column, likelihood) {
  const found = evidence.slice();
  found[column] = likelihood;
  return found;
}

/* Turn log P(evidence, state, c), by state, into P(state | evidence, c), 0 for classes that are impossible. */
function overStates(joints) {
  const tops = joints[0].map((_, c) => Math.max(...joints.map((logs) => logs[c])));
  const values = joints.map((logs) => logs.map((log, c) => (tops[c] === -Infinity ? 0 : Math.exp(log - tops[c]))));
  const totals = tops.map((_, c) => sum(values.map((line) => line[c])));
  return { values: values.map((line) => line.map((value, c) => (totals[c] > 0 ? value / totals[c] : 0))) };
}

/* A sum of exponentials, kept as a logarithm. */
class LogSum {
  constructor() {
    this.top = -Infinity;
    this.total = 0;
  }

  add(log) {
    if (log === -Infinity) return;
    if (log > this.top) {
      this.total = this.total * Math.exp(this.top - log) + 1;
      this.top = log;
    } else this.total += Math.exp(log - this.top);
  }

  get value() {
    return this.top === -Infinity ? -Infinity : this.top + Math.log(this.total);
  }
}

/* Evidence without one column. */
function without(evidence, column) {
  if (evidence[column] === null) return evidence;
  const found = evidence.slice();
  found[column] = null;
  return found;
}

/* Logits with evidence on the class itself. */
function withClass(logits, own) {
  return own === null ? logits : logits.map((logit, c) => logit + Math.log(own[c]));
}

/* The class posterior of a model; impossible evidence leaves the prior. */
function classPosterior(model, likelihoods) {
  const { target } = model.data;
  return normalise(model.logJoint(target, likelihoods)).probabilities ?? normalise(model.logJoint(target, model.nothing)).probabilities;
}
