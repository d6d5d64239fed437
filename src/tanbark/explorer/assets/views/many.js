/* Predictions of the rows of a file. They are computed in a worker of their own, piece by piece; the page keeps the answers, and
   where each row is in the file. */

const MOST_ROWS = 250_000;
const MOST_NUMBERS = 5_000_000; // probabilities that are kept
const PIECE = 1 << 20; // bytes
const MOST_PATTERNS = 40; // sets of observed columns for which rows are drawn, to say how odd a row is
const BLOCK_TIME = 120; // milliseconds of work between two messages to the page
const ROW_ARRAYS = { probabilities: Float64Array, supports: Float64Array, logs: Float64Array, starts: Float64Array, ends: Float64Array, best: Uint16Array, labels: Int32Array, kinds: Uint32Array };

/* How many rows of a model are answered. */
function mostRows(model) {
  return Math.min(MOST_ROWS, Math.floor(MOST_NUMBERS / model.sizes[model.data.target]));
}

/* Answer the rows of a file. The first message says how the file is to be read, the others hold answers; a promise is waited for.
   Throws with a sentence for the reader. */
JOBS.rows = function* (model, { file, renamed, most }) {
  const reader = new RowReader(model, file, most);
  yield yield* reader.open(new Map(renamed));
  yield* reader.run();
};

/* Rows drawn from the network, with the same columns observed: their log-probabilities in order, by set of columns. */
JOBS.odds = function* (model, { patterns }) {
  const found = [];
  for (const key of patterns) {
    const random = makeRandom(7);
    const logs = new Float64Array(DRAWS);
    const part = new Part(model, [...key].flatMap((mark, node) => (mark === "1" ? [node] : [])));
    for (let draw = 0; draw < DRAWS; draw++) {
      const states = drawRow(part, random);
      const evidence = part.nodes.map((node, k) => (key[node] === "1" ? model.observed(node, states[k]) : null));
      logs[draw] = part.engine.logEvidence(evidence);
      yield;
    }
    found.push(logs.sort());
  }
  return found;
};

class RowReader {
  constructor(model, file, most) {
    Object.assign(this, { model, file, most, size: 0, patterns: new Map(), skipped: 0, more: false });
    this.target = model.data.target;
    this.begin();
  }

  /* Read the first bytes, find the separator and the columns. */
  *open(renamed) {
    const first = new Uint8Array(yield this.file.slice(0, PIECE).arrayBuffer());
    const wrong = wrongKind(first, this.file.name);
    if (wrong !== null) throw new Error(wrong);
    this.decoder = decoderFor(first);
    this.offset = first[0] === 0xef && first[1] === 0xbb ? 3 : 0; // the mark of UTF-8
    this.separator = findSeparator(this.decoder.decode(first.subarray(this.offset, this.offset + 20_000)));
    const lines = new LineSplitter(this.separator).push(first.subarray(this.offset), first.length === this.file.size);
    if (lines.length === 0) throw new Error(`${this.file.name} has no line that ends; it is not a table.`);
    this.fields = splitLine(this.decoder.decode(lines[0].bytes), this.separator);
    this.columns = matchColumns(this.model, this.fields.map((field) => renamed.get(field.trim()) ?? field));
    const { start, end } = { start: lines[0].end, end: lines[lines.length - 1].end };
    const expected = lines.length < 2 ? 0 : Math.round(((this.file.size - start) / (end - start)) * (lines.length - 1));
    return { encoding: this.decoder.encoding, offset: this.offset, separator: this.separator, fields: this.fields, columns: this.columns, expected };
  }

  /* Predict row after row; yields blocks of answers. */
  *run() {
    const splitter = new LineSplitter(this.separator);
    let head = true;
    let last = performance.now();
    for (let at = this.offset; at < this.file.size && !this.more; at += PIECE) {
      const piece = new Uint8Array(yield this.file.slice(at, at + PIECE).arrayBuffer());
      for (const line of splitter.push(piece, at + PIECE >= this.file.size)) {
        if (head) {
          head = false;
          continue;
        }
        this.more = this.size >= this.most;
        if (this.more) break;
        this.add(line);
        if (performance.now() - last < BLOCK_TIME) yield;
        else {
          yield this.block(this.offset + line.end);
          last = performance.now();
        }
      }
    }
    yield this.block(this.file.size);
  }

  begin() {
    this.answers = Object.fromEntries(Object.keys(ROW_ARRAYS).map((name) => [name, []]));
    Object.assign(this, { unknown: new Map(), wrong: [], newPatterns: [], labelled: 0, right: 0 });
  }

  /* What is new since the last block. */
  block(bytes) {
    const { answers, unknown, wrong, newPatterns, labelled, right, more } = this;
    this.begin();
    const arrays = Object.fromEntries(Object.entries(answers).map(([name, values]) => [name, ROW_ARRAYS[name].from(values)]));
    return { ...arrays, unknown: [...unknown], wrong, newPatterns, labelled, right, more, bytes };
  }

  add({ start, end, bytes }) {
    const { answers } = this;
    const fields = splitLine(this.decoder.decode(bytes), this.separator);
    if (fields.length !== this.fields.length) {
      if (fields.length === 1 && fields[0].trim() === "") return;
      this.skipped += 1;
      this.wrong.push({ row: this.size + this.skipped, fields: fields.length });
      return;
    }
    this.size += 1;
    const { evidence, label } = codeFields(this.model, this.columns.nodes, fields, (node, value) => this.unknown.set(node, { times: (this.unknown.get(node)?.times ?? 0) + 1, value }));
    answers.starts.push(this.offset + start);
    answers.ends.push(this.offset + end);
    const best = this.predict(evidence);
    answers.best.push(best);
    answers.labels.push(label ?? -1);
    if (label === null) return;
    this.labelled += 1;
    this.right += best === label;
  }

  predict(evidence) {
    const { model, target, answers } = this;
    const found = normalise(model.logJoint(target, evidence));
    const probabilities = found.probabilities ?? classPosterior(model, model.nothing);
    for (const p of probabilities) answers.probabilities.push(p);
    answers.supports.push(support(model, evidence)?.rows ?? NaN);
    answers.logs.push(model.weighted ? NaN : model.isPlain(target) ? found.log : model.engine.logEvidence(evidence));
    const key = evidence.map((likelihood) => (likelihood === null ? "0" : "1")).join("");
    if (!this.patterns.has(key)) {
      this.patterns.set(key, this.patterns.size);
      if (this.patterns.size <= MOST_PATTERNS + 1) this.newPatterns.push(key);
    }
    answers.kinds.push(this.patterns.get(key));
    return argmax(probabilities);
  }
}

/* The evidence of a row; values that training did not have count as not known, and are told. */
function codeFields(model, nodes, fields, tell = () => {}) {
  const evidence = model.nothing.slice();
  let label = null;
  fields.forEach((value, k) => {
    const node = nodes[k];
    if (node < 0 || (model.data.transformed ?? []).includes(node)) return;
    const state = codeValue(model.columns[node], value);
    if (node === model.data.target) label = typeof state === "number" ? state : null;
    else if (typeof state === "number") {
      const likelihood = model.observed(node, state, NUMBER.test(value.trim()) ? Number(value) : NaN);
      evidence[node] = isVacuous(likelihood) ? null : likelihood;
    } else if (state === "unknown") tell(node, value);
  });
  return { evidence, label };
}

/* The answers, in the page. */
class ManyRows {
  constructor(model, file, read) {
    Object.assign(this, { model, file, ...read, decoder: new TextDecoder(read.encoding) });
    Object.assign(this, { size: 0, bytes: 0, right: 0, labelled: 0, more: false, skipped: [], patterns: [], draws: [], unknown: new Map() });
    this.target = model.data.target;
    this.n = model.sizes[this.target];
    this.grow(1024);
  }

  /* Room for so many rows. */
  grow(capacity) {
    for (const [name, make] of Object.entries(ROW_ARRAYS)) {
      const width = name === "probabilities" ? this.n : 1;
      const larger = new make(capacity * width);
      if (this.size > 0) larger.set(this[name].subarray(0, this.size * width));
      this[name] = larger;
    }
    this.capacity = capacity;
  }

  /* Add a block of answers. */
  take({ unknown, wrong, newPatterns, labelled, right, more, bytes, ...arrays }) {
    const size = this.size + arrays.best.length;
    if (size > this.capacity) this.grow(Math.max(size, 2 * this.capacity));
    for (const name of Object.keys(ROW_ARRAYS)) this[name].set(arrays[name], this.size * (name === "probabilities" ? this.n : 1));
    for (const [node, { times, value }] of unknown) this.unknown.set(node, { times: (this.unknown.get(node)?.times ?? 0) + times, value });
    Object.assign(this, { size, more, bytes, labelled: this.labelled + labelled, right: this.right + right });
    this.skipped.push(...wrong);
    this.patterns.push(...newPatterns);
  }

  /* Whether rows are drawn to compare with. */
  get comparable() {
    return !this.model.weighted && this.patterns.length <= MOST_PATTERNS;
  }

  /* The fraction of drawn rows that are at most as probable; NaN where none were drawn. */
  oddness(row) {
    const logs = this.draws[this.kinds[row]];
    if (logs === undefined) return NaN;
    let [low, high] = [0, logs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (logs[middle] <= this.logs[row] + 1e-9) low = middle + 1;
      else high = middle;
    }
    return low / logs.length;
  }

  probability(row) {
    return beside(this.probabilities.subarray(row * this.n, (row + 1) * this.n), this.best[row]);
  }

  /* The fields of a row, read from the file again. */
  async fieldsOf(row) {
    const bytes = new Uint8Array(await this.file.slice(this.starts[row], this.ends[row]).arrayBuffer());
    return splitLine(this.decoder.decode(bytes), this.separator);
  }

  /* The answers as CSV, in pieces: the class, the probabilities to the last digit, support and surprise. */
  *answers() {
    const { model, n } = this;
    const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const labels = model.columns[this.target].labels;
    const odd = this.draws.length > 0;
    const name = model.keys[this.target];
    const head = ["row", name, ...labels.map((label) => `P(${name}=${label})`), "support", ...(odd ? ["surprise"] : [])];
    const parts = [`${head.map(quote).join(",")}\n`];
    for (let low = 0; low < this.size; low += 2000) {
      let text = "";
      for (let row = low; row < Math.min(low + 2000, this.size); row++) {
        const values = this.probabilities.subarray(row * n, (row + 1) * n);
        const rest = [Number.isNaN(this.supports[row]) ? "" : this.supports[row], ...(odd ? [this.oddness(row)] : [])];
        text += `${row + 1},${quote(labels[this.best[row]])},${values.join(",")},${rest.join(",")}\n`;
      }
      parts.push(text);
      yield;
    }
    return parts;
  }
}
