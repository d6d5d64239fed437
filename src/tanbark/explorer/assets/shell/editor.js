/* One variable at the place where it was asked for: its states, its neighbours, its CPT. */

class Editor {
  constructor(app) {
    this.app = app;
    this.node = null;
    this.card = null;
    this.anchor = null;
    this.element = h("div", { id: "editor", role: "dialog", "aria-label": "Variable", hidden: true });
    document.body.append(this.element);
    document.addEventListener("pointerdown", (event) => this.onPress(event));
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    window.addEventListener("resize", () => this.close());
    app.events.addEventListener("change", () => this.card?.update(app.found));
  }

  open(node, anchor) {
    const { app } = this;
    this.close();
    Object.assign(this, { node, anchor, card: new Card(app, node) });
    this.element.replaceChildren(h("button", { type: "button", class: "close", text: "×", "aria-label": "Close", onclick: () => this.close() }), this.card.element, selectedNotes(app, node));
    this.element.setAttribute("aria-label", app.model.names[node]);
    this.element.hidden = false;
    this.card.update(app.found);
    this.place();
    app.select(node);
    this.element.querySelector("input, .pick[tabindex='0']")?.focus({ preventScroll: true });
  }

  /* Beside the anchor where there is room, never over the answer; on a phone at the lower edge. */
  place() {
    const { element, anchor } = this;
    if (isNarrow()) {
      element.style.left = element.style.top = "";
      return;
    }
    const bar = byId("answer").getBoundingClientRect().bottom + 6;
    const at = anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = element;
    const below = at.bottom + 6;
    const top = below + height <= window.innerHeight ? below : at.top - height - 6;
    element.style.top = `${Math.max(bar, Math.min(top, window.innerHeight - height - 6))}px`;
    element.style.left = `${Math.max(6, Math.min(at.left, window.innerWidth - width - 6))}px`;
  }

  onPress(event) {
    if (!this.element.hidden && !this.element.contains(event.target) && !event.target.closest?.("#answer, .toast, dialog")) this.close();
  }

  close() {
    if (this.element.hidden) return;
    const within = this.element.contains(document.activeElement);
    this.element.hidden = true;
    this.element.replaceChildren();
    this.card = null;
    this.app.select(null);
    if (within && this.anchor.isConnected) this.anchor.focus({ preventScroll: true });
  }
}
