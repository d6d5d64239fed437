/* The page: what is asked, what is known, and keeping everything shown in step with it. */

const GRAPH_UP_TO = 60; // variables beyond which the list is shown first
const LEVEL = 0.9;
const PATIENCE = 400; // milliseconds that what was shown before stays

class App {
  constructor(data) {
    this.model = new Model(data);
    const { model } = this;
    this.tasks = new Tasks();
    this.target = model.target;
    this.likelihoods = model.nothing.slice();
    this.selected = null;
    this.explained = null;
    this.cards = null;
    this.graph = data.layout === null ? null : new Graph(this, data.layout);
    this.posterior = new PosteriorPanel(this);
    this.view = this.graph !== null && model.names.length <= GRAPH_UP_TO ? "graph" : "list";
    this.bits = model.names.map(() => 0);
    this.mounted = false;
  }

  start() {
    const { model } = this;
    document.title = model.title;
    byId("title").textContent = model.title;
    byId("facts").textContent = facts(model);
    byId("reading").textContent = readingNote(model);
    byId("reading").hidden = byId("reading").textContent === "";
    this.fillSelects();
    this.connect();
    this.posterior.build();
    this.restore();
    this.show(this.view);
  }

  fillSelects() {
    const { model } = this;
    const nodes = model.weighted ? [model.target] : model.names.map((_, node) => node);
    byId("ask").replaceChildren(...nodes.map((node) => h("option", { value: node, text: model.names[node] })));
    byId("ask").disabled = nodes.length < 2;
    this.fillLabels();
  }

  fillLabels() {
    const { model, target } = this;
    const options = model.columns[target].labels.map((label, state) => h("option", { value: state, text: label }));
    byId("label").replaceChildren(h("option", { value: "", text: "most probable" }), ...options);
  }

  /* ------------------------------------------------------------ evidence */

  set(node, likelihood) {
    this.likelihoods[node] = likelihood === null || isVacuous(likelihood) ? null : likelihood;
    this.refresh();
  }

  observe(node, state, value) {
    this.set(node, this.model.observed(node, state, value));
  }

  toggle(node, state) {
    if (hardState(this.likelihoods[node]) === state) this.retract(node);
    else this.observe(node, state);
  }

  /* Rule a state out, or let it in again; the last state that is left cannot go. */
  negate(node, state) {
    const known = this.likelihoods[node];
    const likelihood = known === null || hardState(known) >= 0 ? new Float64Array(this.model.sizes[node]).fill(1) : known.slice();
    likelihood[state] = likelihood[state] === 0 ? 1 : 0;
    if (likelihood.some((v) => v > 0)) this.set(node, likelihood);
  }

  soften(node, state, value) {
    const known = this.likelihoods[node];
    const likelihood = known === null ? new Float64Array(this.model.sizes[node]).fill(1) : known.slice();
    likelihood[state] = value;
    if (likelihood.some((v) => v > 0)) this.set(node, likelihood);
  }

  retract(node) {
    this.set(node, null);
  }

  clear() {
    this.likelihoods = this.model.nothing.slice();
    this.refresh();
  }

  /* ------------------------------------------------------------ what is shown */

  ask(node) {
    this.target = node;
    byId("ask").value = node;
    this.explained = null;
    this.fillLabels();
    this.posterior.build();
    this.refresh();
  }

  select(node) {
    this.selected = this.selected === node ? null : node;
    const open = this.selected !== null;
    byId("selected-section").hidden = !open;
    this.detail = open ? new Card(this, node) : null;
    if (open) {
      byId("selected").replaceChildren(this.detail.element, selectedNotes(this, node));
      this.detail.update(this.found);
      if (window.matchMedia("(max-width: 1180px)").matches) this.detail.element.scrollIntoView({ block: "nearest" });
    }
    if (this.view === "graph") this.graph.update(this.found);
    else this.cards.forEach((card) => card.update(this.found));
  }

  show(view) {
    this.view = view === "graph" && this.graph === null ? "list" : view;
    const graph = this.view === "graph";
    byId("graph-view").hidden = !graph;
    byId("list-view").hidden = graph;
    byId("zoom").hidden = !graph;
    byId("sort").hidden = graph;
    for (const name of ["graph", "list"]) {
      byId(`tab-${name}`).setAttribute("aria-selected", name === this.view);
      byId(`tab-${name}`).tabIndex = name === this.view ? 0 : -1;
    }
    if (graph) this.graph.mount(byId("graph-view"));
    else if (this.cards === null) this.buildList();
    this.refresh();
  }

  buildList() {
    this.cards = this.model.names.map((_, node) => new Card(this, node));
    byId("list-view").replaceChildren(...this.cards.map((card) => card.element));
  }

  /* Compute and show everything; what takes longer follows in pieces. */
  refresh() {
    this.found = posterior(this.model, this.target, this.likelihoods);
    const { found } = this;
    this.posterior.update(found);
    showEvidence(this);
    this.inform();
    this.thin = showSupport(this);
    showBest(this);
    if (this.detail) this.detail.update(found);
    if (this.view === "graph") this.graph.update(found);
    else this.cards.forEach((card) => card.update(found));
    this.arrange();
    this.follow();
    this.remember();
    this.announce();
  }

  /* What to ask next; of pooled networks it takes a while. */
  inform() {
    const { model, target, found, tasks } = this;
    const show = (bits) => {
      this.bits = bits;
      showNext(this, bits);
      if (this.view === "list" && this.cards !== null) this.sortList();
    };
    if (!model.pooled(target)) {
      tasks.stop("next");
      show(information(model, target, found));
      return;
    }
    tasks.run("next", model.pool.information(this.likelihoods.slice()), show);
    setTimeout(() => tasks.has("next") && byId("next").replaceChildren(h("li", { class: "small", text: "Computing …" })), PATIENCE);
  }

  follow() {
    const { model, tasks, target, likelihoods, found } = this;
    showWarnings(this, { thin: this.thin });
    this.explained = byId("label").value === "" ? found.probabilities.indexOf(Math.max(...found.probabilities)) : Number(byId("label").value);
    tasks.run("why", contributions(model, target, likelihoods, this.explained), (why) => showWhy(this, why));
    tasks.stop("surprise");
    const hard = likelihoods.filter((likelihood) => hardState(likelihood) >= 0).length;
    if (!model.weighted && !found.impossible && hard > 0) {
      tasks.run("surprise", this.wonder(), ({ odd, weakest }) => showWarnings(this, { odd, weakest, thin: this.thin }));
    }
    tasks.stop("intervals");
    this.posterior.showIntervals(null);
    if (hasIntervals(model, target) && !found.impossible) {
      tasks.run("intervals", intervals(model, target, likelihoods.slice(), LEVEL), (ranges) => this.posterior.showIntervals(ranges));
    }
  }

  *wonder() {
    const likelihoods = this.likelihoods.slice();
    const odd = yield* surprise(this.model, likelihoods);
    const weakest = odd.fraction <= 0.01 ? (yield* leaveOneOut(this.model, likelihoods))[0] : null;
    return { odd, weakest };
  }

  /* Order and filter the list, and dim what a search in the drawing does not find. */
  arrange() {
    const words = byId("search").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const { model } = this;
    const texts = (this.texts ??= model.columns.map((column) => [column.name, ...column.labels].join(" ").toLowerCase()));
    const matches = texts.map((text) => words.every((word) => text.includes(word)));
    const boxes = this.view === "graph" ? this.graph.boxes : this.cards;
    boxes.forEach((box, node) => box.element.classList.toggle("missed", !matches[node]));
    const n = matches.filter(Boolean).length;
    const hidden = this.view === "graph" && this.graph.layout.hidden.length > 0;
    const note = hidden ? `The arcs from ${model.names[model.data.target]} are drawn only for the selected variable.` : "";
    byId("found").textContent = words.length ? `${n} of ${model.names.length} variables match.` : note;
    if (this.view === "list") this.sortList();
  }

  sortList() {
    const { model, found, bits } = this;
    const change = (node) => found.marginals[node].reduce((all, p, s) => all + Math.abs(p - model.priors[node][s]), 0);
    const keys = { model: () => 0, information: (node) => -bits[node], change: (node) => -change(node), name: () => 0 };
    const sort = byId("sort").value;
    const order = model.names.map((_, node) => node).sort((a, b) =>
      sort === "name" ? model.names[a].localeCompare(model.names[b]) : keys[sort](a) - keys[sort](b) || a - b,
    );
    order.forEach((node, place) => (this.cards[node].element.style.order = place));
  }

  announce() {
    const { model, found, target } = this;
    const best = found.probabilities.indexOf(Math.max(...found.probabilities));
    byId("live").textContent = `${model.names[target]}: ${model.label(target, best)} ${percent(found.probabilities[best])}`;
  }

  /* ------------------------------------------------------------ the address */

  remember() {
    if (!this.mounted) return;
    const text = writeScenario(this.model, this.target, this.likelihoods);
    try {
      history.replaceState(null, "", text ? `#${text}` : "#");
    } catch {
      /* a frame without an address of its own keeps none */
    }
    this.scenario = text;
  }

  restore() {
    const read = readScenario(this.model, location.hash);
    this.likelihoods = read.likelihoods;
    if (read.target !== this.target && !this.model.weighted) {
      this.target = read.target;
      byId("ask").value = read.target;
      this.fillLabels();
      this.posterior.build();
    }
    byId("ask").value = this.target;
    this.mounted = true;
    if (read.unknown.length) this.toast(`Not known to this model and left out: ${read.unknown.join("; ")}`);
  }

  async copyLink() {
    const link = `${location.href.split("#")[0]}#${writeScenario(this.model, this.target, this.likelihoods)}`;
    try {
      await navigator.clipboard.writeText(link);
      this.toast("The link with this scenario is copied.");
    } catch {
      this.toast(`This is the link: ${link}`);
    }
  }

  toast(text) {
    document.querySelector(".toast")?.remove();
    const note = h("p", { class: "toast", role: "status", text });
    document.body.append(note);
    setTimeout(() => note.remove(), 6000);
  }

  /* ------------------------------------------------------------ dialogs */

  showTable(node) {
    showTableOf(this, node);
  }

  takeRow() {
    const { model } = this;
    byId("row-error").textContent = "";
    let read;
    try {
      read = readRow(model, byId("row").value);
    } catch (error) {
      byId("row-error").textContent = error.message;
      return;
    }
    this.likelihoods = model.nothing.slice();
    for (const [node, state] of read.states) {
      const likelihood = model.observed(node, state, read.numbers.get(node));
      if (!isVacuous(likelihood)) this.likelihoods[node] = likelihood;
    }
    byId("paste-dialog").close();
    this.refresh();
    this.toast(rowReport(model, read));
  }

  connect() {
    const on = (id, kind, act) => byId(id).addEventListener(kind, act);
    on("ask", "change", (event) => this.ask(Number(event.target.value)));
    on("label", "change", () => this.refresh());
    on("clear", "click", () => this.clear());
    on("unselect", "click", () => this.select(this.selected));
    on("search", "input", () => this.arrange());
    on("sort", "change", () => this.sortList());
    on("smaller", "click", () => this.graph.zoom(this.graph.scale / 1.25));
    on("larger", "click", () => this.graph.zoom(this.graph.scale * 1.25));
    on("fit", "click", () => this.graph.fit());
    on("copy", "click", () => this.copyLink());
    on("print", "click", () => window.print());
    on("paste", "click", () => byId("paste-dialog").showModal());
    on("take", "click", () => this.takeRow());
    on("names", "click", () => this.insertNames());
    on("help", "click", () => byId("help-dialog").showModal());
    on("close-help", "click", () => byId("help-dialog").close());
    on("close-table", "click", () => byId("table-dialog").close());
    window.addEventListener("beforeprint", () => (this.screenScale = this.view === "graph" ? this.graph.fitPaper() : null));
    window.addEventListener("afterprint", () => this.screenScale && this.graph.zoom(this.screenScale));
    window.addEventListener("hashchange", () => this.onAddress());
    document.addEventListener("keydown", (event) => this.onKey(event));
    this.connectTabs();
    if (window.parent !== window) byId("print").hidden = byId("copy").hidden = true; // a closed frame can do neither
  }

  connectTabs() {
    const tabs = ["graph", "list"];
    byId("tab-graph").disabled = this.graph === null;
    if (this.graph === null) byId("tab-graph").title = "Too many variables for a drawing";
    tabs.forEach((name, k) => {
      byId(`tab-${name}`).addEventListener("click", () => this.show(name));
      byId(`tab-${name}`).addEventListener("keydown", (event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        const other = byId(`tab-${tabs[1 - k]}`);
        if (!other.disabled) this.show(tabs[1 - k]), other.focus();
      });
    });
  }

  onAddress() {
    if (location.hash.replace(/^#/, "") === this.scenario) return;
    this.restore();
    this.ask(this.target);
  }

  onKey(event) {
    const typing = event.target.closest?.("input, textarea, select, dialog");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      byId("search").focus();
    } else if (event.key === "Escape" && event.target === byId("search")) {
      byId("search").value = "";
      this.arrange();
    }
  }

  insertNames() {
    const quote = (name) => (/[",;\t\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const names = this.model.names.filter((_, node) => node !== this.model.data.target).map(quote).join(",");
    byId("row").value = `${names}\n${byId("row").value}`;
    byId("row").focus();
  }
}

const tanbark = {
  Model, Tasks, posterior, information, contributions, leaveOneOut, surprise, intervals, support, finish, readRow, codeValue, parseLines,
  writeScenario, readScenario, hardState,
};
window.tanbark = tanbark;
const holder = document.getElementById("model");
if (holder !== null) {
  tanbark.app = new App(JSON.parse(holder.textContent));
  tanbark.app.start();
}
