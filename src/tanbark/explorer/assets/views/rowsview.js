/* Rows: a file of cases, answered all at once. Only the lines in view are in the page. */

const LINE_HEIGHT = 34; // as in the style sheet
const LINES_BEYOND = 6;
const NOTE_NAMES = 6;

class RowsView {
  constructor(app) {
    this.app = app;
    this.many = null;
    this.tasks = new Tasks();
    this.work = null; // of a file that is being read
    this.opened = -1;
  }

  mount(element) {
    this.element = element;
    this.input = h("input", { type: "file", id: "rows-file", class: "unseen", "aria-label": "File of rows", tabindex: -1, accept: ".csv,.tsv,.txt,text/csv,text/tab-separated-values", onchange: (event) => event.target.files.length && this.open(event.target.files[0]) });
    const choose = h("button", { type: "button", class: "primary", text: "Choose a file", onclick: () => this.input.click() });
    this.drop = h("div", { class: "drop", id: "drop" }, h("p", {}, choose, " or drop a CSV file here."),
      h("p", { class: "small", text: "A line of column names, then a row for each case. Empty fields, NA and ? are not known. Up to 250,000 rows; nothing leaves this page." }), this.input);
    this.error = h("p", { class: "error", id: "rows-error", role: "alert" });
    this.state = h("p", { id: "rows-state", role: "status" });
    this.bar = h("progress", { max: 1, value: 0, hidden: true });
    this.cancel = h("button", { type: "button", text: "Cancel", hidden: true, onclick: () => this.stop() });
    this.download = h("button", { type: "button", text: "Download the answers", hidden: true, onclick: () => this.save() });
    this.notes = h("ul", { class: "row-notes small", id: "rows-notes" });
    this.table = new RowsTable(this);
    element.replaceChildren(this.drop, this.error, h("div", { class: "rows-state" }, this.bar, this.state, this.cancel, this.download), this.notes, this.table.element);
  }

  update() {
    this.table.again();
  }

  resize() {
    this.table.draw();
  }

  /* ------------------------------------------------------------ reading */

  open(file, renamed = []) {
    this.stop();
    this.input.value = "";
    this.error.textContent = "";
    this.element.dataset.state = "reading";
    const work = (this.work = this.app.startWork());
    this.begun = performance.now();
    let many = null;
    const told = (part) => {
      if (many !== null) many.take(part);
      else {
        many = this.many = new ManyRows(this.app.model, file, part);
        many.renamed = renamed;
        this.begin();
      }
      this.progress();
    };
    const failed = ({ name, message }) => {
      this.error.textContent = name === "NotReadableError" || name === "NotFoundError" ? `${file.name} can no longer be read: it was changed or removed. What was predicted stays.` : message;
      this.finished(many);
    };
    work.run("rows", { file, renamed, most: this.most ?? mostRows(this.app.model) }, () => this.finished(many), { told, failed });
  }

  begin() {
    this.opened = -1;
    this.table.show(this.many);
    this.working(true);
    this.notes.replaceChildren(...this.remarks());
  }

  /* Stop reading; what was predicted stays. */
  stop() {
    if (this.work === null) return;
    this.close();
    this.working(false);
    this.element.dataset.state = "stopped";
    if (this.many !== null) this.report(`Stopped after ${count(this.many.size)} rows, which stay below.`);
  }

  close() {
    this.work.close();
    this.work = null;
  }

  working(on) {
    this.bar.hidden = this.cancel.hidden = !on;
    this.download.hidden = on || this.many === null || this.many.size === 0;
  }

  progress() {
    const { many } = this;
    const part = Math.max(Math.min(1, many.bytes / many.file.size), 1e-3);
    this.bar.value = part;
    const left = Math.ceil(((performance.now() - this.begun) / part / 1000) * (1 - part));
    this.state.textContent = `${count(many.size)} rows, ${percent(part)} of the file; about ${left} s left.`;
    this.table.draw();
  }

  /* All rows are answered, or none can be any more; those that were are compared with rows drawn from the network. */
  finished(many) {
    this.working(false);
    const compare = many !== null && many.comparable && many.size > 0;
    this.element.dataset.state = compare ? "comparing" : "done";
    if (many !== null) {
      const seconds = (performance.now() - this.begun) / 1000;
      this.report(many.size === 0 ? `${many.file.name} has a line of names and no row below it.` : `${count(many.size)} rows of ${many.file.name} in ${seconds < 1 ? "under a second" : `${seconds.toFixed(0)} s`}.`);
    }
    if (compare) {
      this.work.run("odds", { patterns: many.patterns }, (draws) => {
        many.draws = draws;
        this.element.dataset.state = "done";
        this.close();
        this.table.again();
      });
    } else this.close();
  }

  report(text) {
    const { many } = this;
    const right = many.labelled ? ` Of ${count(many.labelled)} rows with a known ${many.model.names[many.target]}, ${percent(many.right / many.labelled)} are predicted right.` : "";
    this.state.textContent = text + right;
    this.notes.replaceChildren(...this.remarks());
    this.table.draw();
  }

  /* What the reader should know of the file: columns that are not used or absent, values that are not known. */
  remarks() {
    const { many } = this;
    const { model } = many;
    const few = (names) => `${names.slice(0, NOTE_NAMES).join(", ")}${names.length > NOTE_NAMES ? ` and ${names.length - NOTE_NAMES} more` : ""}`;
    const item = (...content) => h("li", {}, content);
    const found = [];
    const most = this.most ?? mostRows(model);
    if (many.more || many.expected > 1.02 * most) {
      found.push(item(`The file has about ${count(Math.max(many.expected, most + 1))} rows; the page answers the first ${count(most)}, to stay within the memory of a browser. For all of them: tanbark predict MODEL ${many.file.name}.`));
    }
    const meant = many.columns.unknown.filter(({ near }) => near !== null);
    for (const { field, near } of meant.slice(0, NOTE_NAMES)) {
      found.push(item(`The column "${field}" is not in the model. Did you mean "${model.keys[near]}"? `, h("button", { type: "button", class: "link", text: `Read it as ${model.keys[near]}`, onclick: () => this.rename(field, near) })));
    }
    const others = many.columns.unknown.filter(({ near }) => near === null).map(({ field }) => field);
    if (others.length) found.push(item(`Not in the model, and not read: ${few(others)}.`));
    if (many.columns.absent.length) found.push(item(`Not in the file, so not known in any row: ${few(many.columns.absent.map((node) => model.keys[node]))}.`));
    for (const [node, { times, value }] of [...many.unknown].slice(0, NOTE_NAMES)) {
      found.push(item(`${model.names[node]} has ${count(times)} values that the model does not know, such as "${value.trim().slice(0, 40)}"; they count as not known.`));
    }
    if (many.skipped.length) found.push(item(`${count(many.skipped.length)} lines were left out: they have another number of fields than the line of names, which has ${many.fields.length}. The first is row ${many.skipped[0].row}, with ${many.skipped[0].fields}.`));
    return found;
  }

  rename(field, node) {
    const { many } = this;
    this.open(many.file, [...many.renamed, [field, many.model.keys[node]]]);
  }

  /* ------------------------------------------------------------ one row, and all answers */

  async openCase(row) {
    const { many, app } = this;
    try {
      const { evidence } = codeFields(many.model, many.columns.nodes, await many.fieldsOf(row));
      if (app.target !== many.target) app.ask(many.target);
      app.setAll(evidence, { sentence: `The case is row ${row + 1} of ${many.file.name}.` });
      this.opened = row;
      this.table.draw();
    } catch {
      this.error.textContent = `${many.file.name} can no longer be read: it was changed or removed. Its answers stay; drop it again to open a row.`;
    }
  }

  save() {
    const { many } = this;
    const done = (parts) => {
      const address = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
      const link = h("a", { href: address, download: `${many.file.name.replace(/\.[^.]*$/, "")}-answers.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    };
    this.tasks.run("save", many.answers(), { done, failed: (error) => (this.error.textContent = error.message) });
  }
}

/* The answers as a table that can be sorted. */
class RowsTable {
  constructor(view) {
    this.view = view;
    this.sort = { key: "row", down: false };
    this.ranges = new Map();
    this.asked = null;
    this.head = h("div", { class: "lines-head", role: "row" });
    this.space = h("div", { class: "lines-space" });
    this.box = h("div", { class: "lines", tabindex: 0, role: "rowgroup", "aria-label": "Answers", onscroll: () => this.draw() }, this.space);
    this.element = h("div", { class: "rows-table", id: "rows-table", role: "table", "aria-label": "Answers to the rows of the file", hidden: true }, h("div", { role: "rowgroup" }, this.head), this.box);
  }

  show(many) {
    this.many = many;
    this.ranges.clear();
    this.asked = null;
    this.sort = { key: "row", down: false };
    this.order = null;
    this.element.hidden = false;
    this.box.scrollTop = 0;
    this.makeHead();
    this.draw();
  }

  columns() {
    const { many } = this;
    const { model, target } = many;
    return [
      { key: "row", title: "Row", value: (row) => row, text: (row) => `${row + 1}` },
      { key: "best", title: model.names[target], value: (row) => many.best[row], text: (row) => model.label(target, many.best[row]) },
      { key: "probability", title: "Probability", value: (row) => many.probability(row), text: (row) => percent(many.probability(row), true), number: true },
      { key: "interval", title: "90 % interval", value: null, text: (row) => this.rangeText(row), number: true, there: hasIntervals(model, target) },
      { key: "support", title: "Support", help: "the most training rows that had all these values", value: (row) => many.supports[row], text: (row) => count(many.supports[row]), number: true, there: support(model, model.nothing) !== null },
      { key: "odd", title: "Surprise", help: "the fraction of rows drawn from the network that are at most as probable", value: (row) => many.oddness(row), text: (row) => this.oddText(row), number: true, there: !model.weighted },
      { key: "label", title: "In the file", value: (row) => many.labels[row], text: (row) => this.labelText(row), there: many.columns.nodes.includes(target) },
    ].filter(({ there }) => there ?? true);
  }

  makeHead() {
    this.shown = this.columns();
    this.element.style.setProperty("--columns", this.shown.map(({ key, number }) => (key === "row" ? "4.5rem" : key === "interval" ? "minmax(8.5rem, 1.2fr)" : number ? "minmax(5.5rem, 1fr)" : "minmax(7rem, 2fr)")).join(" "));
    this.head.replaceChildren(...this.shown.map((column) => {
      const down = this.sort.key === column.key ? (this.sort.down ? "descending" : "ascending") : "none";
      const mark = { none: "", ascending: " ▲", descending: " ▼" }[down];
      const name = column.value === null ? h("span", { text: column.title }) : h("button", { type: "button", class: "link", text: column.title + mark, title: column.help, onclick: () => this.sortBy(column) });
      return h("span", { role: "columnheader", "aria-sort": down, class: column.number ? "number-cell" : "" }, name);
    }));
  }

  sortBy(column) {
    const { sort } = this;
    this.sort = { key: column.key, down: sort.key === column.key ? !sort.down : Boolean(column.number && column.key === "probability") };
    this.makeHead();
    this.arrange();
    this.box.scrollTop = 0;
    this.draw();
  }

  arrange() {
    const column = this.shown.find(({ key }) => key === this.sort.key);
    const side = this.sort.down ? -1 : 1;
    const values = Float64Array.from({ length: this.many.size }, (_, row) => column.value(row));
    const last = (value) => (Number.isNaN(value) ? Infinity : side * value);
    this.order = Uint32Array.from({ length: this.many.size }, (_, row) => row).sort((a, b) => last(values[a]) - last(values[b]) || a - b);
  }

  /* Something about the rows is new. */
  again() {
    if (this.many === undefined) return;
    this.asked = null;
    if (this.sort.key === "odd") this.arrange();
    this.draw();
  }

  draw() {
    if (this.many === undefined || this.element.hidden) return;
    const { many, box } = this;
    if (this.order !== null && this.order.length !== many.size) this.arrange();
    this.element.setAttribute("aria-rowcount", many.size + 1);
    this.space.style.height = `${many.size * LINE_HEIGHT}px`;
    const first = Math.max(0, Math.floor(box.scrollTop / LINE_HEIGHT) - LINES_BEYOND);
    const end = Math.min(many.size, Math.ceil((box.scrollTop + box.clientHeight) / LINE_HEIGHT) + LINES_BEYOND);
    this.visible = Array.from({ length: Math.max(0, end - first) }, (_, k) => (this.order === null ? first + k : this.order[first + k]));
    const focused = this.space.contains(document.activeElement) ? Number(document.activeElement.closest("[data-row]").dataset.row) : -1;
    this.space.replaceChildren(...this.visible.map((row, k) => this.line(row, first + k)));
    if (focused >= 0) this.space.querySelector(`[data-row="${focused}"] button`)?.focus({ preventScroll: true });
    this.askNext();
  }

  line(row, place) {
    const { many } = this;
    const wrong = many.labels[row] >= 0 && many.labels[row] !== many.best[row];
    const classes = ["line", row === this.view.opened ? "opened" : "", wrong ? "wrong" : ""].filter(Boolean).join(" ");
    const element = h("div", { class: classes, role: "row", "aria-rowindex": place + 2, "data-row": row, onclick: () => this.view.openCase(row) },
      this.shown.map((column, k) => h("span", { role: "cell", class: column.number ? "number-cell" : "", "data-key": column.key },
        k === 0 ? h("button", { type: "button", class: "link", text: column.text(row), "aria-label": `Open row ${row + 1}` }) : column.text(row))));
    element.style.top = `${place * LINE_HEIGHT}px`;
    return element;
  }

  rangeText(row) {
    const range = this.ranges.get(row)?.[this.many.best[row]];
    return range === undefined ? "…" : shortRange(range);
  }

  oddText(row) {
    const fraction = this.many.oddness(row);
    return Number.isNaN(fraction) ? (this.many.comparable ? "…" : "–") : fraction === 0 ? `< ${percent(1 / DRAWS)}` : percent(fraction);
  }

  labelText(row) {
    const { model, target, labels } = this.many;
    return labels[row] < 0 ? "" : model.label(target, labels[row]);
  }

  /* The interval of the next visible row that has none, one after the other. */
  async askNext() {
    const { many, view } = this;
    if (this.asked !== null || view.element.dataset.state === "reading" || !this.shown.some(({ key }) => key === "interval")) return;
    const row = this.visible.find((other) => !this.ranges.has(other));
    if (row === undefined) return;
    const asked = (this.asked = { row });
    let evidence;
    try {
      ({ evidence } = codeFields(many.model, many.columns.nodes, await many.fieldsOf(row)));
    } catch {
      return;
    }
    if (this.asked !== asked || this.many !== many) return;
    view.app.work.run("row interval", { job: "intervals", target: many.target, likelihoods: evidence }, (ranges) => {
      if (this.asked !== asked) return;
      this.ranges.set(row, ranges);
      this.asked = null;
      const cell = this.space.querySelector(`[data-row="${row}"] [data-key="interval"]`);
      if (cell !== null) cell.textContent = this.rangeText(row);
      this.askNext();
    });
  }
}

/* "79 – 100 %" */
function shortRange([low, high]) {
  if (low > 1 - 1e-4) return "> 99.99 %";
  if (high < 1e-4) return "< 0.01 %";
  const text = (p) => (100 * p).toFixed(p > 1e-4 && p < 1 - 1e-4 ? (p < 0.01 || p > 0.99 ? 2 : 1) : 0);
  return `${text(low)} – ${text(high)} %`;
}

VIEWS.push({ id: "rows", title: "Rows", place: 40, make: (app) => new RowsView(app), available: (model) => (model.data.target >= 0 ? true : "A network without a class has no column to answer") });

/* A file may be dropped anywhere on the page. */
if (typeof document !== "undefined") {
  document.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
  document.addEventListener("drop", (event) => {
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    tanbark.app.show("rows");
    tanbark.app.shell.views.find(({ id }) => id === "rows").made?.open(file);
  });
}
