/* The frame of the page: tabs with views, panels beside them, buttons, keys, messages. */

class Shell {
  constructor(app) {
    this.app = app;
    const { model } = app;
    const byPlace = (a, b) => a.place - b.place;
    this.views = VIEWS.slice().sort(byPlace).map((view) => ({ ...view, possible: view.available?.(model) ?? true, made: null }));
    this.panels = PANELS.slice().sort(byPlace).filter((panel) => panel.available?.(model) ?? true).map((panel) => ({ ...panel, made: null }));
    this.matches = null;
  }

  build() {
    const { app } = this;
    document.title = app.model.title;
    byId("title").textContent = app.model.title;
    byId("facts").textContent = facts(app.model);
    byId("reading").textContent = readingNote(app.model);
    byId("reading").hidden = byId("reading").textContent === "";
    this.buildTabs();
    this.buildPanels();
    this.connect();
    new ResizeObserver(() => this.resized()).observe(document.documentElement);
  }

  /* ------------------------------------------------------------ views */

  buildTabs() {
    for (const view of this.views) {
      view.tab = h("button", { type: "button", role: "tab", id: `tab-${view.id}`, "aria-controls": `view-${view.id}`, text: view.title, onclick: () => this.show(view.id) });
      view.tab.disabled = view.possible !== true;
      if (view.tab.disabled) view.tab.title = view.possible;
      view.place = h("div", { id: `view-${view.id}`, role: "tabpanel", "aria-labelledby": `tab-${view.id}`, hidden: true });
    }
    byId("tabs").replaceChildren(...this.views.map(({ tab }) => tab));
    byId("views").replaceChildren(...this.views.map(({ place }) => place));
    byId("tabs").addEventListener("keydown", (event) => this.onTabKey(event));
  }

  onTabKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    const open = this.views.filter(({ tab }) => !tab.disabled);
    const at = open.findIndex(({ id }) => id === this.app.view);
    const next = open[(at + step + open.length) % open.length];
    this.show(next.id);
    next.tab.focus();
  }

  current() {
    return this.views.find(({ id }) => id === this.app.view) ?? null;
  }

  show(id) {
    const { app } = this;
    const view = this.views.find((other) => other.id === id);
    if (view === undefined || view.possible !== true) return;
    app.closeEditor();
    this.current()?.made?.hide?.();
    app.view = id;
    for (const other of this.views) {
      other.place.hidden = other !== view;
      other.tab.setAttribute("aria-selected", other === view);
      other.tab.tabIndex = other === view ? 0 : -1;
    }
    if (app.found === undefined) app.refresh();
    else this.updateView(app.found);
  }

  update(found) {
    this.updateView(found);
    for (const panel of this.panels) if (panel.element.open) this.updatePanel(panel, found);
  }

  updateView(found) {
    const view = this.current();
    if (view === null || document.documentElement.clientWidth === 0) return; // a frame that is not shown has no sizes
    if (view.made === null) {
      view.made = view.make(this.app);
      view.made.mount(view.place);
    }
    view.made.update(found);
  }

  /* The page has another size, or a frame that was hidden is shown. */
  resized() {
    if (document.documentElement.clientWidth === 0) return;
    if (this.current() !== null && this.current().made === null && this.app.found !== undefined) this.updateView(this.app.found);
    document.documentElement.style.setProperty("--bar", `${byId("answer").offsetHeight}px`);
    this.current()?.made?.resize?.();
    for (const panel of this.panels) if (panel.element.open) panel.made?.resize?.();
  }

  /* Bring a variable into the view. */
  focus(node) {
    this.current()?.made?.focus?.(node);
  }

  search(text) {
    const words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const { model } = this.app;
    this.texts ??= model.columns.map((column) => [column.name, column.title ?? "", ...column.labels, ...column.shown].join(" ").toLowerCase());
    this.matches = words.length ? this.texts.map((found) => words.every((word) => found.includes(word))) : null;
    byId("found").textContent = this.matches === null ? "" : `${this.matches.filter(Boolean).length} of ${model.names.length} variables match.`;
    this.current()?.made?.search?.(this.matches);
  }

  /* ------------------------------------------------------------ panels */

  buildPanels() {
    for (const panel of this.panels) {
      panel.body = h("div", { class: "panel-body" });
      panel.element = h("details", { id: `panel-${panel.id}`, class: "panel", open: panel.open ?? false }, h("summary", {}, h("h2", { text: panel.title })), panel.body);
      panel.element.addEventListener("toggle", () => panel.element.open && this.app.found !== undefined && this.updatePanel(panel, this.app.found));
    }
    byId("panels").replaceChildren(...this.panels.map(({ element }) => element));
  }

  updatePanel(panel, found) {
    if (panel.made === null) {
      panel.made = panel.make(this.app);
      panel.made.mount(panel.body);
    }
    panel.made.update(found);
  }

  openPanel(id) {
    const panel = this.panels.find((other) => other.id === id);
    if (panel !== undefined) panel.element.open = true;
  }

  /* ------------------------------------------------------------ messages */

  toast(text, action) {
    document.querySelector(".toast")?.remove();
    const note = h("p", { class: "toast", role: "status" }, h("span", { text }));
    if (action !== null) note.append(" ", h("button", { type: "button", text: action.text, onclick: () => (note.remove(), action.act()) }));
    document.body.append(note);
    setTimeout(() => note.remove(), 7000);
  }

  /* A sentence that stays until it is closed. */
  notice(text) {
    const note = h("p", { class: "notice", role: "status" }, h("span", { text }), h("button", { type: "button", class: "quiet", text: "Close", onclick: () => note.remove() }));
    byId("notices").replaceChildren(note);
  }

  addAction(text, act, options = {}) {
    const button = h("button", { type: "button", text, onclick: act, ...options });
    byId("actions").append(button);
    return button;
  }

  /* ------------------------------------------------------------ buttons and keys */

  connect() {
    const { app } = this;
    const on = (id, kind, act) => byId(id).addEventListener(kind, act);
    on("clear", "click", () => app.clear());
    on("undo", "click", () => app.undo());
    on("redo", "click", () => app.redo());
    on("pin", "click", () => app.pin());
    on("search", "input", (event) => this.search(event.target.value));
    on("copy", "click", () => app.copyLink());
    on("print", "click", () => window.print());
    on("paste", "click", () => byId("paste-dialog").showModal());
    on("take", "click", () => app.takeRow());
    on("names", "click", () => this.insertNames());
    on("help", "click", () => byId("help-dialog").showModal());
    on("close-help", "click", () => byId("help-dialog").close());
    on("close-table", "click", () => byId("table-dialog").close());
    document.addEventListener("keydown", (event) => this.onKey(event));
    if (window.parent !== window) byId("print").hidden = byId("copy").hidden = true; // a closed frame can do neither
  }

  onKey(event) {
    const typing = event.target.closest?.("input, textarea, select, dialog");
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) {
      event.preventDefault();
      if (event.shiftKey) this.app.redo();
      else this.app.undo();
    } else if (event.key === "/" && !typing) {
      event.preventDefault();
      byId("search").focus();
    } else if (event.key === "Escape" && event.target === byId("search")) {
      byId("search").value = "";
      this.search("");
    } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) this.current()?.made?.onKey?.(event);
  }

  insertNames() {
    const { model } = this.app;
    const quote = (name) => (/[",;\t\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
    const names = model.keys.filter((_, node) => node !== model.data.target).map(quote).join(",");
    byId("row").value = `${names}\n${byId("row").value}`;
    byId("row").focus();
  }
}
