/* Exact inference: a junction tree with tables in plain arrays.
   Cliques stand children before parents; a table's last column runs fastest. */

const SMALL = 1e-150; // a clique whose greatest entry falls below is scaled up again

class JunctionTree {
  constructor({ sizes, cliques, above, home, axes }) {
    Object.assign(this, { sizes, cliques, above, home, axes });
    this.lengths = cliques.map((scope) => product(scope, sizes));
    this.work = this.lengths.map((length) => new Float64Array(length));
    this.links = cliques.map((scope, k) => (above[k] < 0 ? null : this.link(scope, cliques[above[k]])));
    this.places = sizes.map((_, node) => this.place(node));
  }

  /* Where the entries of a clique and of its parent fall in the table of their separator. */
  link(scope, over) {
    const shared = scope.filter((column) => over.includes(column));
    const length = product(shared, this.sizes);
    return {
      length,
      own: spread(scope, shared, this.sizes),
      up: spread(over, shared, this.sizes),
      sum: new Float64Array(length),
      next: new Float64Array(length),
    };
  }

  /* Which clique holds a column, and how its states lie in that clique's table. */
  place(node) {
    const clique = this.home[node];
    const scope = this.cliques[clique];
    const inner = product(scope.slice(scope.indexOf(node) + 1), this.sizes);
    return { clique, inner, size: this.sizes[node] };
  }

  /* Multiply the tables of the families into their cliques; `found` may hold other potentials that are no longer needed. */
  potentials(tables, found = this.lengths.map((length) => new Float64Array(length))) {
    for (const values of found) values.fill(1);
    this.where ??= tables.map((_, node) => spread(this.cliques[this.home[node]], this.axes[node], this.sizes));
    tables.forEach((table, node) => {
      const clique = this.home[node];
      const where = this.where[node];
      const values = found[clique];
      for (let i = 0; i < values.length; i++) values[i] *= table[where[i]];
    });
    return found;
  }

  /* Enter likelihoods (an array by column, null for none) and pass messages up; give log P(evidence). */
  collect(base, likelihoods, best = false) {
    const { work, above, links, cliques } = this;
    base.forEach((table, k) => work[k].set(table));
    likelihoods.forEach((likelihood, node) => likelihood && this.enter(node, likelihood));
    let log = 0;
    for (let k = 0; k < cliques.length; k++) {
      const link = links[k];
      if (link === null) {
        const total = best ? greatest(work[k]) : sum(work[k]);
        if (!(total > 0)) return -Infinity;
        log += Math.log(total);
        continue;
      }
      (best ? maximise : marginalise)(work[k], link.own, link.sum);
      const top = greatest(link.sum);
      if (!(top > 0)) return -Infinity;
      for (let s = 0; s < link.length; s++) link.next[s] = link.sum[s] / top;
      log += Math.log(top) + multiply(work[above[k]], link.up, link.next);
    }
    return log;
  }

  enter(node, likelihood) {
    const { clique, inner, size } = this.places[node];
    const values = this.work[clique];
    for (let i = 0; i < values.length; ) {
      for (let state = 0; state < size; state++) {
        for (let end = i + inner; i < end; i++) values[i] *= likelihood[state];
      }
    }
  }

  /* After collect: pass messages down, so that every clique holds its own posterior. */
  distribute() {
    const { work, above, links } = this;
    for (let k = work.length - 1; k >= 0; k--) {
      const link = links[k];
      if (link === null) {
        const total = sum(work[k]);
        for (let i = 0; i < work[k].length; i++) work[k][i] /= total;
        continue;
      }
      marginalise(work[above[k]], link.up, link.next);
      for (let s = 0; s < link.length; s++) link.next[s] = link.sum[s] > 0 ? link.next[s] / link.sum[s] : 0;
      const values = work[k];
      for (let i = 0; i < values.length; i++) values[i] *= link.next[link.own[i]];
    }
  }

  /* The posterior of one column, after distribute. */
  marginal(node) {
    const { clique, inner, size } = this.places[node];
    const values = this.work[clique];
    const found = new Float64Array(size);
    for (let i = 0; i < values.length; ) {
      for (let state = 0; state < size; state++) {
        for (let end = i + inner; i < end; i++) found[state] += values[i];
      }
    }
    const total = sum(found);
    return found.map((value) => value / total);
  }

  /* The jointly most probable states, with the logarithm of their probability together with the evidence. */
  explain(base, likelihoods) {
    const log = this.collect(base, likelihoods, true);
    if (log === -Infinity) return null;
    const states = new Array(this.sizes.length).fill(-1);
    for (let k = this.cliques.length - 1; k >= 0; k--) this.trace(k, states);
    return { states, log };
  }

  trace(k, states) {
    const scope = this.cliques[k];
    const link = this.links[k];
    let wanted = -1;
    if (link !== null) {
      const shared = scope.filter((column) => this.cliques[this.above[k]].includes(column));
      wanted = shared.reduce((place, column) => place * this.sizes[column] + states[column], 0);
    }
    let found = -1;
    const values = this.work[k];
    for (let i = 0; i < values.length; i++) {
      if ((link === null || link.own[i] === wanted) && (found < 0 || values[i] > values[found])) found = i;
    }
    for (let j = scope.length - 1; j >= 0; j--) {
      states[scope[j]] = found % this.sizes[scope[j]];
      found = Math.floor(found / this.sizes[scope[j]]);
    }
  }
}

function product(columns, sizes) {
  return columns.reduce((total, column) => total * sizes[column], 1);
}

function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i];
  return total;
}

function greatest(values) {
  let top = 0;
  for (let i = 0; i < values.length; i++) if (values[i] > top) top = values[i];
  return top;
}

/* For every entry of a table over `scope`, its place in a table over `part` of those columns, in that order. */
function spread(scope, part, sizes) {
  const steps = scope.map((column) => {
    const at = part.indexOf(column);
    return at < 0 ? 0 : product(part.slice(at + 1), sizes);
  });
  let places = new Int32Array(1);
  scope.forEach((column, axis) => {
    const wider = new Int32Array(places.length * sizes[column]);
    let i = 0;
    for (const place of places) for (let s = 0; s < sizes[column]; s++) wider[i++] = place + s * steps[axis];
    places = wider;
  });
  return places;
}

function marginalise(values, where, out) {
  out.fill(0);
  for (let i = 0; i < values.length; i++) out[where[i]] += values[i];
}

function maximise(values, where, out) {
  out.fill(0);
  for (let i = 0; i < values.length; i++) if (values[i] > out[where[i]]) out[where[i]] = values[i];
}

/* Multiply a message in; where the entries become very small, scale them up and give the logarithm of the scale. */
function multiply(values, where, message) {
  let top = 0;
  for (let i = 0; i < values.length; i++) {
    values[i] *= message[where[i]];
    if (values[i] > top) top = values[i];
  }
  if (top >= SMALL || top === 0) return 0;
  for (let i = 0; i < values.length; i++) values[i] /= top;
  return Math.log(top);
}
