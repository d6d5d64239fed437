/* Exact inference in a network of context trees. Missing features are summed out by variable elimination, with the limits
   and the order that Python has, so that the sums are the same. Values of a factor: the last column runs fastest, then the
   classes. */

const MISSING_STATE = -1;

class SparseNetwork {
  constructor({ parents, order, trees }, sizes, nClasses, limits) {
    Object.assign(this, { parents, sizes, nClasses, limits });
    this.childrenFirst = order.slice().reverse();
    this.levels = trees.map(({ levels }) => levels);
    this.trees = trees.map((tree, f) => growTree(tree, sizes[f]));
  }

  /* log P(evidence | class) for every class. states: one for each feature, or -1. soft: likelihoods of features whose
     state is -1, or null. With a feature to keep, also P(evidence, kept = s | class) up to a constant: kept.values has the
     classes fastest, and is to be multiplied by exp(logs). */
  infer(states, soft, keep = -1) {
    const row = new Row(this, states, soft, keep);
    return row.run();
  }

  /* Go down in the tree of a feature as far as contexts were seen; `depth` counts the class and the parents that are read. */
  context(f, label, states, depth) {
    const { children, starts } = this.trees[f];
    const levels = this.levels[f];
    let v = children[label];
    if (v < 0) return 0;
    for (let level = 1; level < depth; level++) {
      const parent = this.parents[f][level - 1];
      const deeper = children[starts[level] + (v - levels[level]) * this.sizes[parent] + states[parent]];
      if (deeper < 0) break;
      v = deeper;
    }
    return v;
  }
}

/* The mean and the variance of P(f = its state | parents, class), or of the sum over its likelihood, under the posterior of
   its tree: every context is Dirichlet around the one above, a context without rows as well. A parent without a state ends
   the context. */
function entryMoments(network, f, states, likelihood, label) {
  const { children, starts, concentrations, probabilities, totals } = network.trees[f];
  const levels = network.levels[f];
  const size = network.sizes[f];
  const entry = (v) => (likelihood === null ? probabilities[v * size + states[f]] : likelihood.reduce((all, l, s) => all + l * probabilities[v * size + s], 0));
  let mean = entry(0);
  let variance = (mean * (1 - mean)) / (totals[0] + concentrations[0] + 1);
  let v = 0;
  for (let level = 0; level <= network.parents[f].length; level++) {
    const parent = network.parents[f][level - 1];
    const state = level === 0 ? label : states[parent];
    if (state < 0) break;
    if (v >= 0) v = children[starts[level] + (v - levels[level]) * (level === 0 ? network.nClasses : network.sizes[parent]) + state];
    const concentration = concentrations[level + 1];
    const total = concentration + (v >= 0 ? totals[v] : 0);
    const above = variance * (concentration / total) ** 2;
    if (v >= 0) mean = entry(v);
    variance = above + (mean * (1 - mean) - above) / (total + 1);
  }
  return { mean, variance };
}

/* The evidence of one row in one network. */
class Row {
  constructor(network, states, soft, keep) {
    Object.assign(this, { network, soft, keep });
    this.states = Int32Array.from(states);
    this.depths = network.parents.map((parents) => parents.length + 1);
    this.variable = new Uint8Array(states.length);
    this.costs = new Float64Array(states.length);
    this.stamps = new Int32Array(states.length);
    this.stamp = 0;
  }

  run() {
    const { network } = this;
    for (let found = this.findVariables(); found > network.limits.summed; found = this.findVariables()) this.shorten(-1);
    for (;;) {
      const failed = this.eliminate(true);
      if (failed === null) break;
      this.shorten(failed);
      this.findVariables();
    }
    this.logs = new Float64Array(network.nClasses);
    this.eliminate(false);
    return { logs: this.logs, kept: this.keep < 0 ? null : this.keptValues() };
  }

  /* Whether a feature has evidence, or is asked for, without a state of its own. */
  open(f) {
    return this.soft[f] !== null || f === this.keep;
  }

  used(f) {
    return this.states[f] >= 0 || this.variable[f] === 1;
  }

  /* Mark the features to sum over: missing ones that something observed depends on. */
  findVariables() {
    const { network, states, variable, depths } = this;
    let found = 0;
    for (let f = 0; f < states.length; f++) variable[f] = Number(this.open(f));
    for (const f of network.childrenFirst) {
      if (!this.used(f)) continue;
      for (let level = 1; level < depths[f]; level++) {
        const p = network.parents[f][level - 1];
        if (states[p] < 0 && variable[p] === 0) {
          variable[p] = 1;
          found++;
        }
      }
    }
    return found;
  }

  /* Let the family with most entries, of those with one missing feature, drop its last missing parent and those after. */
  shorten(chosen) {
    const { network, states, depths } = this;
    const { parents, sizes } = network;
    const largest = (only) => {
      let [best, most] = [-1, 0];
      for (let f = 0; f < depths.length; f++) {
        if (!this.used(f)) continue;
        const missing = parents[f].slice(0, depths[f] - 1).filter((p) => states[p] < 0);
        if (!missing.length || (only >= 0 && !missing.includes(only))) continue;
        const entries = missing.reduce((all, p) => all * sizes[p], states[f] < 0 ? sizes[f] : 1);
        if (entries > most) [best, most] = [f, entries];
      }
      return best;
    };
    let best = largest(chosen);
    if (best < 0) best = largest(-1);
    if (best < 0) throw new Error("The sum over missing values is too large.");
    let depth = depths[best] - 1;
    while (depth > 0 && states[parents[best][depth - 1]] >= 0) depth--;
    depths[best] = depth;
  }

  /* Fill logs; return null, or the variable whose elimination is too large. A dry run only finds out whether one is. */
  eliminate(dry) {
    const { network, states, variable } = this;
    const { limits, sizes, nClasses } = network;
    this.factors = [];
    this.free = 0;
    for (let f = 0; f < states.length; f++) {
      if (!this.used(f)) continue;
      const axes = states[f] < 0 ? [f] : [];
      let entries = nClasses * (states[f] < 0 ? sizes[f] : 1);
      for (let level = 1; level < this.depths[f]; level++) {
        const p = network.parents[f][level - 1];
        if (states[p] >= 0) continue;
        if (axes.length === limits.axes || entries * sizes[p] > limits.entries) return p;
        axes.push(p);
        entries *= sizes[p];
      }
      if (!axes.length) {
        if (!dry) this.addEntry(f);
        continue;
      }
      if (this.free + entries > limits.workspace) return axes[axes.length - 1];
      this.free += entries;
      this.factors.push({ axes, values: dry ? null : this.fillFactor(f, axes, entries) });
    }
    const left = variable.slice();
    if (this.keep >= 0) left[this.keep] = 0;
    this.costs.fill(0);
    for (let v = this.cheapest(left); v >= 0; v = this.cheapest(left)) {
      if (!this.sumOut(v, dry)) return v;
      left[v] = 0;
    }
    return null;
  }

  addEntry(f) {
    const { network, states, logs, depths } = this;
    const size = network.sizes[f];
    for (let c = 0; c < logs.length; c++) {
      const v = network.context(f, c, states, depths[f]);
      logs[c] += Math.log(network.trees[f].probabilities[v * size + states[f]]);
    }
  }

  /* P(f | parents) for all states of the variables of a family, times the likelihood of f where it has one. */
  fillFactor(f, axes, entries) {
    const { network, states } = this;
    const { sizes, nClasses } = network;
    const { probabilities } = network.trees[f];
    const own = states[f] < 0 ? 1 : 0;
    const size = sizes[f];
    const inner = entries / nClasses / (own ? size : 1);
    const likelihood = this.soft[f];
    const found = new Float64Array(entries);
    for (let k = own; k < axes.length; k++) states[axes[k]] = 0;
    for (let place = 0; place < inner; place++) {
      for (let c = 0; c < nClasses; c++) {
        const begin = network.context(f, c, states, this.depths[f]) * size;
        if (!own) found[place * nClasses + c] = probabilities[begin + states[f]];
        else for (let x = 0; x < size; x++) found[(x * inner + place) * nClasses + c] = probabilities[begin + x] * (likelihood === null ? 1 : likelihood[x]);
      }
      for (let k = axes.length - 1; k >= own; k--) {
        if (++states[axes[k]] < sizes[axes[k]]) break;
        states[axes[k]] = 0;
      }
    }
    for (let k = own; k < axes.length; k++) states[axes[k]] = MISSING_STATE;
    return found;
  }

  /* The variable whose elimination makes the smallest product; ties go to the first. Costs that no elimination has changed
     are kept. */
  cheapest(left) {
    let [best, least] = [-1, Infinity];
    for (let v = 0; v < left.length; v++) {
      if (left[v] === 0) continue;
      if (this.costs[v] === 0) this.costs[v] = this.cost(v);
      if (this.costs[v] < least) [best, least] = [v, this.costs[v]];
    }
    return best;
  }

  /* The entries of the product of all factors with v. */
  cost(v) {
    const { sizes } = this.network;
    const stamp = ++this.stamp;
    let entries = 1;
    for (const { axes } of this.factors) {
      if (!axes.includes(v)) continue;
      for (const a of axes) {
        if (this.stamps[a] === stamp) continue;
        this.stamps[a] = stamp;
        entries *= sizes[a];
      }
    }
    return entries;
  }

  /* Multiply the factors with v and sum over its states; return whether that was small enough. */
  sumOut(v, dry) {
    const { limits, sizes, nClasses } = this.network;
    const members = this.factors.filter(({ axes }) => axes.includes(v));
    const union = [];
    let entries = nClasses * sizes[v];
    for (const { axes } of members) {
      for (const a of axes) {
        if (a === v || union.includes(a)) continue;
        entries *= sizes[a];
        if (union.length === limits.axes || entries > limits.entries) return false;
        union.push(a);
      }
    }
    const size = entries / sizes[v];
    if (this.free + size > limits.workspace) return false;
    this.factors = this.factors.filter(({ axes }) => !axes.includes(v));
    for (const a of union) this.costs[a] = 0;
    const values = dry ? null : this.multiply(v, union, members, size);
    if (union.length) {
      this.free += size;
      this.factors.push({ axes: union, values });
    } else if (!dry) for (let c = 0; c < nClasses; c++) this.logs[c] += Math.log(values[c]);
    return true;
  }

  /* The sum over v of the product of factors, for all states of the union; what scales it goes to logs. v < 0: no sum. */
  multiply(v, union, members, size) {
    const { sizes, nClasses } = this.network;
    const strides = members.map(({ axes }) => {
      const found = new Map();
      axes.reduceRight((step, a) => (found.set(a, step), step * sizes[a]), nClasses);
      return [...union, v].map((a) => found.get(a) ?? 0);
    });
    const result = new Float64Array(size);
    const counter = new Int32Array(union.length);
    const at = new Int32Array(members.length);
    const product = new Float64Array(nClasses);
    for (let place = 0; place < size; place += nClasses) {
      for (let state = 0; state < (v < 0 ? 1 : sizes[v]); state++) {
        product.fill(1);
        for (let i = 0; i < members.length; i++) {
          const begin = at[i] + state * strides[i][union.length];
          const { values } = members[i];
          for (let c = 0; c < nClasses; c++) product[c] *= values[begin + c];
        }
        for (let c = 0; c < nClasses; c++) result[place + c] += product[c];
      }
      for (let u = union.length - 1; u >= 0; u--) {
        counter[u] += 1;
        for (let i = 0; i < members.length; i++) at[i] += strides[i][u];
        if (counter[u] < sizes[union[u]]) break;
        for (let i = 0; i < members.length; i++) at[i] -= strides[i][u] * sizes[union[u]];
        counter[u] = 0;
      }
    }
    const top = greatest(result);
    if (top > 0) {
      for (let i = 0; i < size; i++) result[i] /= top;
      for (let c = 0; c < nClasses; c++) this.logs[c] += Math.log(top);
    }
    return result;
  }

  /* What is left over the kept feature. */
  keptValues() {
    const { sizes, nClasses } = this.network;
    return this.multiply(-1, [this.keep], this.factors, sizes[this.keep] * nClasses);
  }
}
