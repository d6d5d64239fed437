/* CPTs drawn from what the counts leave open: Dirichlet distributions, or levels of them, each around the one with a parent
   fewer. Only distributions that the evidence allows are drawn; the others are multiplied by zero. */

class DrawnTable {
  /* `alone`: of a column whose state is known, the entry of that state is enough, which is a beta variate. */
  constructor(model, node, likelihoods, alone) {
    const { tables, counts, mass, weights } = model.data;
    this.table = Float64Array.from(tables[node]);
    this.size = model.sizes[node];
    this.power = weights === null ? 1 : weights[node];
    this.state = alone && this.power === 1 ? hardState(likelihoods[node]) : -1;
    this.levels = null;
    if (mass[node] === null) return;
    const allowed = new Uint8Array(this.table.length);
    for (const { start, step } of openConfigurations(model, node, likelihoods)) for (let s = 0; s < this.size; s++) allowed[start + s * step] = 1;
    if (mass[node].levels) this.makeLevels(mass[node], allowed);
    else this.makeLevel(counts[node], mass[node], allowed, openConfigurations(model, node, model.nothing));
  }

  /* One level: counts and prior mass of every configuration of the parents. */
  makeLevel(counts, mass, allowed, lines) {
    const { size } = this;
    this.places = Int32Array.from({ length: lines.length * size }, (_, i) => lines[Math.floor(i / size)].start + (i % size) * lines[0].step);
    const shapes = Float64Array.from(this.places, (place) => counts[place] + (typeof mass === "number" ? mass : mass[place]));
    this.levels = [this.level(shapes, 0, 1, [...lines.keys()].filter((k) => allowed[this.places[k * size]]))];
  }

  /* Levels of a hierarchical CPT; a configuration is drawn where one below it is. */
  makeLevels({ levels, concentrations, places }, allowed) {
    const { size } = this;
    this.places = places;
    let open = [...Array(places.length / size).keys()].filter((k) => allowed[places[k * size]]);
    this.levels = [];
    for (let l = levels.length - 1; l >= 0; l--) {
      const times = l === 0 ? levels[0].length / size : levels[l].length / levels[l - 1].length; // configurations for each one above
      this.levels.unshift(this.level(levels[l], concentrations[l], times, open));
      open = [...new Set(open.map((k) => Math.floor(k / times)))];
    }
  }

  level(counts, concentration, times, open) {
    const { size } = this;
    const totals = Float64Array.from({ length: counts.length / size }, (_, k) => sum(counts.slice(k * size, (k + 1) * size)));
    return { counts, totals, concentration, times, open, values: new Float64Array(this.state < 0 ? counts.length : totals.length) };
  }

  draw(random) {
    if (this.levels === null) return this.table;
    const { levels, places, size, table, state } = this;
    let above = null;
    for (const level of levels) {
      const power = level === levels[levels.length - 1] ? this.power : 1;
      if (state < 0) this.drawAll(level, above, random, power);
      else this.drawEntries(level, above, random);
      above = level.values;
    }
    for (const k of levels[levels.length - 1].open) {
      if (state >= 0) table[places[k * size + state]] = above[k];
      else for (let s = 0; s < size; s++) table[places[k * size + s]] = above[k * size + s];
    }
    return table;
  }

  drawAll({ counts, concentration, times, open, values }, above, random, power) {
    const { size } = this;
    for (const k of open) {
      const at = k * size;
      const from = Math.floor(k / times) * size;
      let [top, total, known] = [-Infinity, 0, false];
      for (let s = 0; s < size; s++) {
        values[at + s] = counts[at + s] + concentration * (above === null ? 1 / size : above[from + s]);
        known ||= values[at + s] > 0;
      }
      for (let s = 0; s < size; s++) {
        const shape = known ? values[at + s] : 1; // neither a row nor prior mass: any is as likely as any other
        values[at + s] = shape > 0 ? power * drawLogGamma(shape, random) : -Infinity;
        if (values[at + s] > top) top = values[at + s];
      }
      for (let s = 0; s < size; s++) total += values[at + s] = Math.exp(values[at + s] - top);
      for (let s = 0; s < size; s++) values[at + s] /= total;
    }
  }

  drawEntries({ counts, totals, concentration, times, open, values }, above, random) {
    const { size, state } = this;
    for (const k of open) {
      const before = above === null ? 1 / size : above[Math.floor(k / times)];
      let own = counts[k * size + state] + concentration * before;
      let rest = totals[k] - counts[k * size + state] + concentration * (1 - before);
      if (!(own > 0) && !(rest > 0)) [own, rest] = [1, size - 1];
      if (!(own > 0)) values[k] = 0;
      else if (!(rest > 0)) values[k] = 1;
      else values[k] = 1 / (1 + Math.exp(drawLogGamma(rest, random) - drawLogGamma(own, random)));
    }
  }
}

/* The configurations of the parents that the evidence allows: where the distribution of each begins in the CPT, and its step. */
function openConfigurations(model, node, likelihoods) {
  const axes = model.data.axes[node];
  const step = (axis) => product(axes.slice(axes.indexOf(axis) + 1), model.sizes);
  let starts = [0];
  for (const axis of axes) {
    if (axis === node) continue;
    const open = [...Array(model.sizes[axis]).keys()].filter((s) => likelihoods[axis] === null || likelihoods[axis][s] > 0);
    starts = starts.flatMap((start) => open.map((s) => start + s * step(axis)));
  }
  return starts.map((start) => ({ start, step: step(node) }));
}
