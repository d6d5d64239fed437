/* List: all variables as cards, of which only those in view are in the page. Heights are known beforehand. */

const CARD_LEAST = 270; // pixels of width
const CARD_SPACE = 12;
const CARD_HEAD = 46; // as in the style sheet
const STATE_HEIGHT = 28;
const MOST_STATES = 12; // beyond, the states of a card scroll
const TITLE_HEIGHT = 40; // of a group
const BEYOND = 500; // pixels above and below the window that are kept ready

class ListView {
  constructor(app) {
    this.app = app;
    this.cards = new Map();
    this.sort = "model";
    this.matches = null;
    app.events.addEventListener("bits", () => app.view === "list" && this.sort === "information" && this.arrange());
    window.addEventListener("scroll", () => app.view === "list" && this.draw(), { passive: true });
  }

  mount(element) {
    const options = { model: "in the model's order", information: "most informative first", change: "most changed first", name: "by name" };
    this.choice = h("select", { id: "sort", "aria-label": "Order of the list", onchange: (event) => this.sortBy(event.target.value) },
      Object.entries(options).map(([value, text]) => h("option", { value, text })));
    this.space = h("div", { id: "list", class: "list" });
    element.replaceChildren(h("div", { class: "list-bar" }, this.choice), this.space);
    this.arrange();
  }

  sortBy(sort) {
    this.sort = sort;
    this.arrange();
  }

  search(matches) {
    this.matches = matches;
    this.arrange();
  }

  resize() {
    this.arrange();
  }

  update() {
    if (this.sort === "change" || (this.sort === "information" && this.app.bits !== null)) this.arrange();
    else this.draw();
  }

  order() {
    const { model, bits, found } = this.app;
    const nodes = model.data.arranged.filter((node) => this.matches === null || this.matches[node]);
    if (this.sort === "name") return nodes.sort((a, b) => model.names[a].localeCompare(model.names[b]));
    if (this.sort === "information" && bits !== null) return nodes.sort((a, b) => bits[b] - bits[a] || a - b);
    if (this.sort !== "change") return nodes;
    const change = nodes.map((node) => found.marginals[node].reduce((all, p, s) => all + Math.abs(p - model.priors[node][s]), 0));
    const place = new Map(nodes.map((node, k) => [node, change[k]]));
    return nodes.sort((a, b) => place.get(b) - place.get(a) || a - b);
  }

  /* The nodes group by group where the page has groups and the list has no other order. */
  parts() {
    const groups = this.app.model.data.groups ?? [];
    if (this.sort !== "model" || !groups.length) return [{ title: null, nodes: this.ordered }];
    const { target } = this.app.model.data;
    const grouped = new Set(groups.flatMap(({ nodes }) => nodes));
    const rest = this.ordered.filter((node) => !grouped.has(node));
    const parts = groups.map(({ title, nodes }) => ({ title, nodes: this.ordered.filter((node) => nodes.includes(node)) }));
    parts.push({ title: "Others", nodes: rest.filter((node) => node !== target) }, { title: "Class", nodes: rest.filter((node) => node === target) });
    return parts.filter(({ nodes }) => nodes.length);
  }

  /* Where every card stands: as many columns as there is room for, each line as high as its highest card. */
  arrange() {
    if (this.space === undefined) return;
    const { model } = this.app;
    this.columns = Math.max(1, Math.floor((this.space.clientWidth + CARD_SPACE) / (CARD_LEAST + CARD_SPACE)));
    this.ordered = this.order();
    this.lines = [];
    let top = 0;
    for (const { title, nodes } of this.parts()) {
      if (title !== null) {
        this.lines.push({ top, title, nodes: [] });
        top += TITLE_HEIGHT;
      }
      for (let k = 0; k < nodes.length; k += this.columns) {
        const line = nodes.slice(k, k + this.columns);
        this.lines.push({ top, title: null, nodes: line });
        top += Math.max(...line.map((node) => CARD_HEAD + STATE_HEIGHT * Math.min(MOST_STATES, model.sizes[node]))) + CARD_SPACE;
      }
    }
    this.space.style.height = `${top}px`;
    this.drawn = new Map();
    this.draw();
  }

  /* Put the cards that are in view into the page, and update them. */
  draw() {
    const { app, lines } = this;
    const offset = this.space.getBoundingClientRect().top;
    const [from, to] = [-offset - BEYOND, window.innerHeight - offset + BEYOND];
    const width = (this.space.clientWidth + CARD_SPACE) / this.columns;
    const shown = new Set();
    const titles = [];
    lines.forEach(({ top, title, nodes }, k) => {
      if ((lines[k + 1]?.top ?? Infinity) < from || top > to) return;
      if (title !== null) titles.push({ title: this.titleAt(title, top), first: lines[k + 1].nodes[0] });
      nodes.forEach((node, column) => {
        shown.add(node);
        this.show(node, top, column * width, width - CARD_SPACE);
      });
    });
    for (const node of this.drawn.keys()) if (!shown.has(node)) this.drawn.delete(node);
    for (const element of [...this.space.children]) if (!shown.has(Number(element.dataset.node ?? -1))) element.remove();
    for (const { title, first } of titles) {
      if (shown.has(first)) this.cards.get(first).element.before(title);
      else this.space.append(title);
    }
    for (const node of shown) if (this.drawn.get(node) !== app.found) this.updateCard(node);
  }

  titleAt(text, top) {
    const title = h("h2", { class: "group-title", text });
    title.style.top = `${top}px`;
    return title;
  }

  show(node, top, left, width) {
    if (!this.cards.has(node)) this.cards.set(node, new Card(this.app, node));
    const { element } = this.cards.get(node);
    Object.assign(element.style, { top: `${top}px`, left: `${left}px`, width: `${width}px` });
    if (!element.isConnected) this.space.append(element);
  }

  updateCard(node) {
    this.cards.get(node).update(this.app.found);
    this.drawn.set(node, this.app.found);
  }

  focus(node) {
    const line = this.lines.find(({ nodes }) => nodes.includes(node));
    if (line === undefined) return;
    const top = this.space.getBoundingClientRect().top + window.scrollY + line.top;
    window.scrollTo({ top: top - window.innerHeight / 3 });
    this.draw();
    this.cards.get(node)?.focus(0);
  }
}

VIEWS.push({ id: "list", title: "List", place: 30, make: (app) => new ListView(app) });
