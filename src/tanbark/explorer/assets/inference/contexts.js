/* Packed numbers, context trees, corrections of families and boosted trees: what the page reads of pooled and of corrected networks. */

const GOES_BOTH_WAYS = 2;
const PACKED = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float64: Float64Array };

/* Read an array that Python has packed: little-endian bytes in base 64. */
function unpack({ type, data }) {
  const text = atob(data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return new PACKED[type](bytes.buffer);
}

/* The distributions of all contexts of a tree: counts and the distribution of the context above, weighted by the
   concentration of the level. Context v of level l has its child for the state s of the next parent at
   children[starts[l] + (v - levels[l]) * states[l] + s], or -1. */
function growTree(packed, size) {
  const { states, levels } = packed;
  const starts = [0];
  states.forEach((n, level) => starts.push(starts[level] + (levels[level + 1] - levels[level]) * n));
  const children = new Int32Array(starts[states.length]).fill(-1);
  const above = new Int32Array(levels[levels.length - 1]);
  unpack(packed.places).forEach((place, k) => (children[place] = k + 1));
  for (let level = 0; level < states.length; level++) {
    for (let at = starts[level]; at < starts[level + 1]; at++) {
      if (children[at] >= 0) above[children[at]] = levels[level] + Math.floor((at - starts[level]) / states[level]);
    }
  }
  return { children, starts, concentrations: unpack(packed.concentrations), ...shrink(packed, size, above) };
}

/* The distributions of the contexts, and the rows of each. */
function shrink(packed, size, above) {
  const { levels } = packed;
  const [held, heldStates, concentrations] = [unpack(packed.held), unpack(packed.held_states), unpack(packed.concentrations)];
  const found = new Float64Array(levels[levels.length - 1] * size);
  const totals = new Float64Array(held.length);
  found.set(unpack(packed.root));
  totals[0] = sum(unpack(packed.counts[0]));
  let place = held[0];
  for (let level = 1; level < packed.counts.length; level++) {
    const values = unpack(packed.counts[level]);
    const c = concentrations[level];
    let next = 0;
    for (let v = levels[level]; v < levels[level + 1]; v++) {
      for (let k = 0; k < held[v]; k++) totals[v] += values[next + k];
      for (let s = 0; s < size; s++) found[v * size + s] = c * found[above[v] * size + s];
      for (let k = 0; k < held[v]; k++) found[v * size + heldStates[place + k]] += values[next + k];
      for (let s = 0; s < size; s++) found[v * size + s] /= totals[v] + c;
      next += held[v];
      place += held[v];
    }
  }
  return { probabilities: found, totals };
}

/* Corrections of the log-posterior: one for every family, that of the longest context which was seen. */
class Correction {
  constructor(packed) {
    const { columns, spans, states, firsts, starts } = packed;
    Object.assign(this, { columns, spans, states, firsts, starts });
    this.sums = unpack(packed.sums);
    this.children = new Int32Array(packed.n_children).fill(-1);
    const roots = new Set(spans.slice(0, -1).map((entry) => firsts[entry]));
    let context = 0;
    for (const place of unpack(packed.places)) {
      while (roots.has(context)) context++;
      this.children[place] = context++;
    }
  }

  /* Add the corrections to the classes, given states by column, -1 for none: of a family, those before the first that
     is missing count. Return the fraction of the families that have all of them. */
  add(states, classes) {
    const { columns, spans, firsts, starts, children, sums } = this;
    let whole = 0;
    for (let family = 0; family < spans.length - 1; family++) {
      const root = firsts[spans[family]];
      let context = root;
      let entry = spans[family];
      for (let missing = false; entry < spans[family + 1]; entry++) {
        const state = states[columns[entry]];
        if (state < 0) break;
        if (missing) continue;
        const deeper = children[starts[entry] + (context - firsts[entry]) * this.states[entry] + state];
        if (deeper < 0) missing = true;
        else context = deeper;
      }
      whole += entry === spans[family + 1];
      if (context > root) for (let c = 0; c < classes.length; c++) classes[c] += sums[context * classes.length + c];
    }
    return spans.length > 1 ? whole / (spans.length - 1) : 1;
  }
}

/* Boosted trees: the values of a row's leaves are added to the last classes, to the second of two. */
class Trees {
  constructor(packed) {
    for (const name of ["roots", "columns", "bounds", "lefts", "missing", "fractions", "masks", "values"]) this[name] = unpack(packed[name]);
    Object.assign(this, { width: packed.width, ordered: packed.ordered, n: this.values.length / this.columns.length });
  }

  /* Add the values of all trees to the classes, given states by column, -1 for none. Where no missing value was seen in
     training, both children count by their rows. */
  add(states, classes) {
    for (const root of this.roots) this.walk(root, 1, states, classes);
    return classes;
  }

  walk(node, fraction, states, classes) {
    const { columns, lefts, missing, fractions, values, n } = this;
    while (columns[node] > 0) {
      const state = states[columns[node] - 1];
      const left = lefts[node];
      if (state < 0 && missing[node] === GOES_BOTH_WAYS) {
        this.walk(left + 1, fraction * (1 - fractions[node]), states, classes);
        fraction *= fractions[node];
        node = left;
      } else if (state < 0) node = left + missing[node];
      else node = this.goesLeft(node, state) ? left : left + 1;
    }
    for (let c = 0; c < n; c++) classes[classes.length - n + c] += fraction * values[node * n + c];
  }

  goesLeft(node, state) {
    const bound = this.bounds[node];
    return this.ordered[this.columns[node] - 1] ? state < bound : this.masks[(bound - 1) * this.width + state] > 0;
  }
}
