/* Predictions of the rows of a file, a piece at a time. Only answers are kept, and where each row is in the file. */

const MOST_ROWS = 250_000;
const MOST_NUMBERS = 5_000_000; // probabilities that are kept
const PIECE = 1 << 20; // bytes
const MOST_PATTERNS = 40; // sets of observed columns for which rows are drawn, to say how odd a row is

class ManyRows {
  constructor(model, file) {
    Object.assign(this, { model, file });
    this.target = model.data.target;
    this.n = model.sizes[this.target];
    this.most = Math.min(MOST_ROWS, Math.floor(MOST_NUMBERS / this.n));
    this.renamed = new Map(); // fields that the reader says are a column
    this.reset();
  }

  reset() {
    this.size = 0;
    this.capacity = 0;
    this.grow(1024);
    this.patterns = new Map();
    this.draws = [];
    this.unknown = new Map();
    this.skipped = [];
    this.done = false;
    this.more = false;
    this.bytes = 0;
    this.right = 0;
    this.labelled = 0;
  }

  /* Room for so many rows. */
  grow(capacity) {
    const larger = (make, old, width = 1) => {
      const found = new make(capacity * width);
      if (old !== undefined) found.set(old.subarray(0, this.size * width));
      return found;
    };
    this.probabilities = larger(Float64Array, this.probabilities, this.n);
    this.supports = larger(Float64Array, this.supports);
    this.logs = larger(Float64Array, this.logs);
    this.starts = larger(Float64Array, this.starts);
    this.ends = larger(Float64Array, this.ends);
    this.best = larger(Uint16Array, this.best);
    this.labels = larger(Int32Array, this.labels);
    this.kinds = larger(Uint32Array, this.kinds);
    this.capacity = capacity;
  }

  /* Read the first bytes, find the separator and the columns. Throws with a sentence for the reader. */
  async open() {
    const first = new Uint8Array(await this.file.slice(0, PIECE).arrayBuffer());
    const wrong = wrongKind(first, this.file.name);
    if (wrong !== null) throw new Error(wrong);
    this.decoder = decoderFor(first);
    const offset = first[0] === 0xef && first[1] === 0xbb ? 3 : 0; // the mark of UTF-8
    this.separator = findSeparator(this.decoder.decode(first.subarray(offset, offset + 20_000)));
    const head = new LineSplitter(this.separator).push(first.subarray(offset), first.length === this.file.size)[0];
    if (head === undefined) throw new Error(`${this.file.name} has no line that ends; it is not a table.`);
    this.fields = splitLine(this.decoder.decode(head.bytes), this.separator);
    this.columns = matchColumns(this.model, this.fields.map((field) => this.renamed.get(field.trim()) ?? field));
    this.offset = offset;
  }

  /* Predict row after row; yields between pieces, and while a piece is worked on. */
  async *run() {
    const splitter = new LineSplitter(this.separator);
    let head = true;
    for (let at = this.offset; at < this.file.size && !this.more; at += PIECE) {
      const piece = new Uint8Array(await this.file.slice(at, at + PIECE).arrayBuffer());
      this.bytes = at + piece.length;
      const lines = splitter.push(piece, at + PIECE >= this.file.size);
      let end = performance.now() + SLICE;
      for (const line of lines) {
        if (head) {
          head = false;
          continue;
        }
        if (this.size >= this.most) {
          this.more = true;
          break;
        }
        this.add(line);
        if (performance.now() < end) continue;
        yield;
        end = performance.now() + SLICE;
      }
      yield;
    }
    this.done = true;
  }

  add({ start, end, bytes }) {
    const fields = splitLine(this.decoder.decode(bytes), this.separator);
    if (fields.length !== this.fields.length) {
      if (fields.length > 1 || fields[0].trim() !== "") this.skipped.push({ row: this.size + this.skipped.length + 1, fields: fields.length });
      return;
    }
    if (this.size === this.capacity) this.grow(Math.min(this.most, 2 * this.capacity));
    const { evidence, label } = this.code(fields, true);
    const row = this.size++;
    this.starts[row] = this.offset + start;
    this.ends[row] = this.offset + end;
    this.predict(row, evidence);
    this.labels[row] = label ?? -1;
    if (label === null) return;
    this.labelled += 1;
    this.right += this.best[row] === label;
  }

  /* The evidence of a row; values that training did not have count as not known, and are counted. */
  code(fields, counting = false) {
    const { model, target } = this;
    const evidence = model.nothing.slice();
    let label = null;
    fields.forEach((value, k) => {
      const node = this.columns.nodes[k];
      if (node < 0 || (model.data.transformed ?? []).includes(node)) return;
      const state = codeValue(model.columns[node], value);
      if (node === target) label = typeof state === "number" ? state : null;
      else if (typeof state === "number") {
        const likelihood = model.observed(node, state, NUMBER.test(value.trim()) ? Number(value) : NaN);
        evidence[node] = isVacuous(likelihood) ? null : likelihood;
      } else if (counting && state === "unknown") this.unknown.set(node, { times: (this.unknown.get(node)?.times ?? 0) + 1, value });
    });
    return { evidence, label };
  }

  predict(row, evidence) {
    const { model, target, n } = this;
    const found = normalise(model.logJoint(target, evidence));
    const probabilities = found.probabilities ?? classPosterior(model, model.nothing);
    this.probabilities.set(probabilities, row * n);
    this.best[row] = argmax(probabilities);
    this.supports[row] = support(model, evidence)?.rows ?? NaN;
    this.logs[row] = model.weighted ? NaN : model.isPlain(target) ? found.log : model.engine.logEvidence(evidence);
    const key = evidence.map((likelihood) => (likelihood === null ? "0" : "1")).join("");
    if (!this.patterns.has(key)) this.patterns.set(key, this.patterns.size);
    this.kinds[row] = this.patterns.get(key);
  }

  /* ------------------------------------------------------------ how odd rows are */

  get comparable() {
    return !this.model.weighted && this.patterns.size <= MOST_PATTERNS;
  }

  /* Rows drawn from the network, with the same columns observed: their log-probabilities in order. */
  *drawOdds() {
    if (!this.comparable) return;
    for (const [key, kind] of this.patterns) {
      if (this.draws[kind] !== undefined) continue;
      const random = makeRandom(7);
      const logs = new Float64Array(DRAWS);
      const part = new Part(this.model, [...key].flatMap((mark, node) => (mark === "1" ? [node] : [])));
      for (let draw = 0; draw < DRAWS; draw++) {
        const states = drawRow(part, random);
        const evidence = part.nodes.map((node, k) => (key[node] === "1" ? this.model.observed(node, states[k]) : null));
        logs[draw] = part.engine.logEvidence(evidence);
        yield;
      }
      this.draws[kind] = logs.sort();
    }
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

  /* ------------------------------------------------------------ one row, and all */

  probability(row) {
    return this.probabilities[row * this.n + this.best[row]];
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
