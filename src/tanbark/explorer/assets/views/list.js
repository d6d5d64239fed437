/* List: all variables as cards, of which only those in view are in the page. Heights are known beforehand. */

const CARD_LEAST = 270; // pixels of width
const CARD_SPACE = 12;
const CARD_HEAD = 46; // as in the style sheet
const STATE_HEIGHT = 28;
const MOST_STATES = 12; // beyond, the states of a card scroll
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

  /* Where every card stands: as many columns as there is room for, each row as high as its highest card. */
  arrange() {
    if (this.space === undefined) return;
    const { model } = this.app;
    this.columns = Math.max(1, Math.floor((this.space.clientWidth + CARD_SPACE) / (CARD_LEAST + CARD_SPACE)));
    this.ordered = this.order();
    this.tops = [];
    let top = 0;
    for (let k = 0; k < this.ordered.length; k += this.columns) {
      this.tops.push(top);
      const row = this.ordered.slice(k, k + this.columns);
      top += Math.max(...row.map((node) => CARD_HEAD + STATE_HEIGHT * Math.min(MOST_STATES, model.sizes[node]))) + CARD_SPACE;
    }
    this.space.style.height = `${top}px`;
    this.drawn = new Map();
    this.draw();
  }

  /* Put the cards that are in view into the page, and update them. */
  draw() {
    const { app } = this;
    const offset = this.space.getBoundingClientRect().top;
    const [from, to] = [-offset - BEYOND, window.innerHeight - offset + BEYOND];
    const width = (this.space.clientWidth + CARD_SPACE) / this.columns;
    const shown = new Set();
    for (let row = 0; row < this.tops.length; row++) {
      if ((this.tops[row + 1] ?? Infinity) < from || this.tops[row] > to) continue;
      for (let k = row * this.columns; k < Math.min((row + 1) * this.columns, this.ordered.length); k++) {
        const node = this.ordered[k];
        shown.add(node);
        this.show(node, this.tops[row], (k % this.columns) * width, width - CARD_SPACE);
      }
    }
    for (const node of this.drawn.keys()) if (!shown.has(node)) this.drawn.delete(node);
    for (const element of [...this.space.children]) if (!shown.has(Number(element.dataset.node))) element.remove();
    for (const node of shown) if (this.drawn.get(node) !== app.found) this.updateCard(node);
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
    const k = this.ordered.indexOf(node);
    if (k < 0) return;
    const top = this.space.getBoundingClientRect().top + window.scrollY + this.tops[Math.floor(k / this.columns)];
    window.scrollTo({ top: top - window.innerHeight / 3 });
    this.draw();
    this.cards.get(node)?.focus(0);
  }
}

VIEWS.push({ id: "list", title: "List", place: 30, make: (app) => new ListView(app) });
