/* The class posterior of an ensemble. Its networks have their own intervals, all merged from the cells of one fine grid;
   their log-likelihoods are weighted and added, and a correction may be added that fades with missing values.

   Evidence is an array by column of the network to read: null, or a likelihood of each of its states. A likelihood may
   also have `cells`, the first and the last cell of the grid: one cell for a number that is known. An interval is the set
   of its cells; a network whose own interval it splits takes the fraction of the cells, which have about equally many
   rows. The correction reads single values only, and counts anything else as missing. */

class Pool {
  constructor(data, columns, target) {
    Object.assign(this, { columns, target });
    for (const name of ["networks", "usual_missing", "fade", "temperature", "plain_temperature", "grid"]) this[name] = data[name];
    this.logPrior = unpack(data.log_prior);
    this.reading = data.reading.map(unpack);
    this.kinds = data.kinds.map(({ lookups, sizes }) => ({ lookups: lookups.map(unpack), sizes }));
    this.valueCounts = data.value_counts;
    this.classShapes = data.class_shapes === null ? null : unpack(data.class_shapes);
    this.rows = Math.max(0, ...data.value_counts.map(sum));
    this.members = data.members.map((member) => ({
      kind: member.kind,
      weight: member.weight,
      columns: member.columns,
      network: new SparseNetwork(member, member.columns.map((column) => this.kinds[member.kind].sizes[column]), this.logPrior.length, data.limits),
    }));
    this.trees = data.correction === null ? null : new Trees(data.correction);
    this.corrected = this.trees !== null;
  }

  /* The cell of the grid that a number is in. */
  cell(column, value) {
    return this.grid[column].filter((cut) => cut < value).length;
  }

  /* What is known of a column in the intervals of one kind: a likelihood of each state. */
  likelihood(kind, column, given) {
    if (this.grid[column] === null) return given;
    const [first, last] = given.cells ?? [0, Infinity];
    const reading = this.reading[column];
    const cells = new Float64Array(this.kinds[kind].sizes[column]);
    const found = new Float64Array(cells.length);
    this.kinds[kind].lookups[column].forEach((state, cell) => {
      cells[state] += 1;
      if (cell >= first && cell <= last) found[state] += given[reading[cell]];
    });
    return found.map((value, state) => value / cells[state]);
  }

  /* The evidence of one kind of intervals: a state, else -1 and perhaps a likelihood. */
  entered(kind, evidence) {
    const states = new Int32Array(this.target).fill(MISSING_STATE);
    const soft = new Array(this.target).fill(null);
    for (let column = 0; column < this.target; column++) {
      if (evidence[column] === null) continue;
      const likelihood = this.likelihood(kind, column, evidence[column]);
      const open = [...likelihood.keys()].filter((state) => likelihood[state] > 0);
      if (open.length === 1) states[column] = open[0];
      else if (likelihood.some((value) => value !== likelihood[0])) soft[column] = likelihood;
    }
    return { states, soft };
  }

  /* The state of a column on the grid, or -1 where it is not known to be a single value. */
  exactState(column, given) {
    if (given === null) return MISSING_STATE;
    if (this.grid[column] === null) return hardState(given);
    return isNumber(given) ? given.cells[0] : MISSING_STATE;
  }

  /* log P(class | evidence) up to a constant. */
  logits(evidence) {
    return this.combined(this.pooled(this.kinds.map((_, kind) => this.entered(kind, evidence))), this.change(evidence));
  }

  /* The weighted sum of log P(evidence | class) over the networks; the evidence is that of every kind of intervals. */
  pooled(entered) {
    const found = new Float64Array(this.logPrior.length);
    for (const { kind, weight, columns, network } of this.members) {
      const { logs } = network.infer(...chosen(entered[kind], columns));
      for (let c = 0; c < found.length; c++) found[c] += weight * logs[c];
    }
    return found;
  }

  /* The correction and its factor, which falls with every value that is missing beyond the usual number, and is
     none where nothing is observed. */
  change(evidence) {
    if (!this.corrected) return null;
    const states = evidence.slice(0, this.target).map((given, column) => this.exactState(column, given));
    const missing = states.filter((state) => state < 0).length;
    const correction = this.trees.add(states, new Float64Array(this.logPrior.length));
    return { correction, full: missing < this.target ? this.fade ** Math.max(missing - this.usual_missing, 0) : 0 };
  }

  /* Prior, networks and correction. */
  combined(pooled, change, logPrior = this.logPrior) {
    const { temperature, plain_temperature: plain } = this;
    if (change === null) return Array.from(pooled, (value, c) => logPrior[c] + plain * value);
    const { correction, full } = change;
    return Array.from(pooled, (value, c) => logPrior[c] + (1 - full) * plain * value + full * temperature * (value + correction[c]));
  }

  /* Drawn posteriors of the class. Each takes one network, by its weight, in place of the pool; entries of its CPTs and the
     class prior are drawn, weights and correction are held. A feature with evidence varies as its distribution given the
     parents before the first missing one does, as in Python's predict_proba_interval. */
  *drawn(evidence, draws, random) {
    const change = this.change(evidence);
    const entered = this.kinds.map((_, kind) => this.entered(kind, evidence));
    const members = this.members.filter(({ network }) => network !== null);
    const total = sum(members.map(({ weight }) => weight));
    const prepared = new Map();
    const found = [];
    for (let draw = 0; draw < draws; draw++) {
      let logs = new Float64Array(this.logPrior.length);
      if (members.length) {
        const member = members[drawState(members.map(({ weight }) => weight / total), random)];
        if (!prepared.has(member)) prepared.set(member, this.prepare(member, entered));
        logs = drawLogs(prepared.get(member), random).map((log) => total * log);
      }
      const prior = this.classShapes === null ? this.logPrior : drawCells(Array.from(this.classShapes), random, 1).map(Math.log);
      const { probabilities } = normalise(this.withClass(this.combined(logs, change, prior), evidence));
      if (probabilities !== null) found.push(probabilities);
      yield;
    }
    return found;
  }

  /* log P(evidence | class) of a network, and the moments of the entries of all features with evidence, by class. */
  prepare({ kind, columns, network }, entered) {
    const [states, soft] = chosen(entered[kind], columns);
    const known = [...states.keys()].filter((f) => states[f] >= 0 || soft[f] !== null);
    const moments = known.map((f) => Array.from(this.logPrior, (_, c) => entryMoments(network, f, states, soft[f], c)));
    return { logs: network.infer(states, soft).logs, moments };
  }

  /* A column in every one of its states, other evidence held: the logits of the class, and P(state | evidence, class),
     the weighted average of the networks that have the column. A state is entered as its middle cell of the grid; how
     probable it is comes from all its cells. `known` keeps what was computed of networks without the column. */
  *eachState(evidence, column, known = new Map()) {
    const held = without(evidence, column);
    const entered = this.kinds.map((_, kind) => this.entered(kind, held));
    const states = this.outcomes(column);
    const n = this.logPrior.length;
    const pooled = states.map(() => new Float64Array(n));
    const sums = states.map(() => new Float64Array(n));
    const weights = new Float64Array(n);
    for (const member of this.members) {
      const { kind, weight, columns, network } = member;
      const keep = columns.indexOf(column);
      if (keep < 0) {
        if (!known.has(member)) known.set(member, network.infer(...chosen(entered[kind], columns)).logs);
        for (const logs of pooled) for (let c = 0; c < n; c++) logs[c] += weight * known.get(member)[c];
      } else {
        const { logs, kept } = network.infer(...chosen(entered[kind], columns), keep);
        const totals = new Float64Array(n);
        for (let i = 0; i < kept.length; i++) totals[i % n] += kept[i];
        states.forEach(({ cell, cells }, s) => {
          const t = this.grid[column] === null ? s : this.kinds[kind].lookups[column][cell];
          const inside = this.likelihood(kind, column, cells);
          for (let c = 0; c < n; c++) {
            pooled[s][c] += weight * (logs[c] + Math.log(kept[t * n + c]));
            if (!(totals[c] > 0)) continue;
            for (let u = 0; u < inside.length; u++) sums[s][c] += (weight * inside[u] * kept[u * n + c]) / totals[c];
          }
        });
        for (let c = 0; c < n; c++) if (totals[c] > 0) weights[c] += weight;
      }
      yield;
    }
    return states.map(({ likelihood }, s) => {
      const entering = evidence.slice();
      entering[column] = likelihood;
      return {
        logits: this.withClass(this.combined(pooled[s], this.change(entering)), evidence),
        likelihoods: Array.from(sums[s], (value, c) => (weights[c] > 0 ? value / weights[c] : 0)),
      };
    });
  }

  /* Every state that a column has in the first network: one value of it as evidence, and all its cells. */
  outcomes(column) {
    const size = this.columns[column].labels.length;
    const lookup = this.kinds[0].lookups[column];
    return Array.from({ length: this.kinds[0].sizes[column] }, (_, state) => {
      const likelihood = new Float64Array(size);
      if (this.grid[column] === null) {
        likelihood[state] = 1;
        return { likelihood, cells: likelihood, cell: state };
      }
      const [first, last] = [lookup.indexOf(state), lookup.lastIndexOf(state)];
      const cell = (first + last) >> 1;
      likelihood[this.reading[column][cell]] = 1;
      const cells = Object.assign(new Float64Array(size).fill(1), { cells: [first, last] });
      return { likelihood: Object.assign(likelihood, { cells: [cell, cell] }), cells, cell };
    });
  }

  withClass(logits, evidence) {
    return withClass(logits, evidence[this.target]);
  }

  /* The least number of training rows that had one of the values, as Python's support. */
  support(evidence) {
    let least = { rows: this.rows, node: null };
    for (let column = 0; column < this.target; column++) {
      if (hardState(evidence[column]) < 0) continue;
      const counts = this.valueCounts[column];
      const exact = this.exactState(column, evidence[column]);
      const state = exact < 0 || this.grid[column] === null ? exact : this.kinds[0].lookups[column][exact];
      const likelihood = state < 0 ? this.likelihood(0, column, evidence[column]) : null;
      const had = state < 0 ? sum(counts.map((n, s) => n * likelihood[s])) : counts[state];
      if (had < least.rows) least = { rows: had, node: column };
    }
    return least;
  }
}

/* Whether evidence is a number, not an interval. */
function isNumber(given) {
  return given.cells !== undefined && given.cells[0] === given.cells[1];
}

/* The evidence of some of the columns. */
function chosen({ states, soft }, columns) {
  return [columns.map((column) => states[column]), columns.map((column) => soft[column])];
}

/* Logarithms of likelihoods with their entries drawn: beta variates with the same mean and variance. */
function drawLogs({ logs, moments }, random) {
  const found = logs.slice();
  for (const classes of moments) {
    classes.forEach(({ mean, variance }, c) => {
      if (!(variance > 0)) return;
      const rows = (mean * (1 - mean)) / variance - 1;
      const less = drawLogGamma((1 - mean) * rows, random) - drawLogGamma(mean * rows, random);
      found[c] -= Math.max(less, 0) + Math.log1p(Math.exp(-Math.abs(less))) + Math.log(mean);
    });
  }
  return found;
}
