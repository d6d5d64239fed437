/* A card shows one variable: every state with its probability now and before, and takes evidence on it. */

const DRAG = 5; // pixels before a press becomes a drag
const STEP = 0.1; // what an arrow key changes a likelihood by

class Card {
  constructor(app, node, { compact = false } = {}) {
    this.app = app;
    this.node = node;
    const { model } = app;
    this.rows = model.columns[node].shown.map((label, state) => this.makeRow(label, state));
    this.mark = h("span", { class: "mark" });
    const name = h("button", { type: "button", class: "name", text: model.names[node], title: model.columns[node].description ?? model.names[node], onclick: () => app.edit(node, name) });
    const tools = compact ? [] : this.makeTools();
    this.element = h(
      "div",
      { class: "card", role: "group", "aria-label": model.names[node], "data-node": node },
      h("div", { class: "card-head" }, name, this.mark, tools),
      h("div", { class: "states", onkeydown: (event) => this.onKey(event) }, this.rows.map((row) => row.element)),
    );
    const longest = Math.max(...model.columns[node].shown.map((label) => label.length));
    this.element.style.setProperty("--label", `${Math.min(10.6, 0.9 + 0.53 * longest)}em`);
    this.rows[0].pick.tabIndex = 0;
  }

  makeTools() {
    const { app, node } = this;
    const tools = [];
    if (app.model.columns[node].kind === "interval") {
      tools.push(
        h("input", {
          class: "number",
          inputmode: "decimal",
          placeholder: "value",
          "aria-label": `Value of ${app.model.names[node]}`,
          onchange: (event) => this.typed(event.target),
        }),
      );
    }
    tools.push(
      h("button", { type: "button", class: "quiet", text: "Table", "aria-label": `Table of ${app.model.names[node]}`, onclick: () => app.showTable(node) }),
    );
    return tools;
  }

  makeRow(label, state) {
    const bar = h("span", { class: "fill" });
    const before = h("span", { class: "before" });
    const soft = h("span", { class: "soft" });
    const track = h("span", { class: "track", "aria-hidden": "true" }, bar, before, soft);
    const value = h("span", { class: "value" });
    const pick = h(
      "button",
      { type: "button", class: "pick", tabindex: -1, "aria-pressed": "false", "data-state": state },
      h("span", { class: "label", text: label, title: label }),
      track,
      value,
    );
    const not = h("button", { type: "button", class: "not", tabindex: -1, text: "≠", title: `Rule out ${label}`, "aria-label": `Rule out ${label}`, "aria-pressed": "false" });
    not.addEventListener("click", () => this.app.negate(this.node, state));
    this.listen(pick, track, state);
    return { element: h("div", { class: "state" }, pick, not), pick, not, bar, before, soft, value, label };
  }

  /* A press is a click; a press that moves along the bar is soft evidence. */
  listen(pick, track, state) {
    let start = null;
    let dragged = false;
    let last = -1;
    const move = (event) => {
      if (start === null) return;
      if (!dragged && Math.abs(event.clientX - start) < DRAG) return;
      dragged = true;
      const box = track.getBoundingClientRect();
      const fraction = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
      const value = Math.round(fraction * 100) / 100;
      if (value !== last) this.app.soften(this.node, state, value, { drag: true });
      last = value;
    };
    pick.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      start = event.clientX;
      dragged = false;
      last = -1;
      pick.setPointerCapture(event.pointerId);
    });
    pick.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) pick.addEventListener(end, () => (start = null));
    pick.addEventListener("click", () => {
      if (!dragged) this.app.toggle(this.node, state);
      dragged = false;
    });
  }

  onKey(event) {
    const state = this.rows.findIndex((row) => row.pick === event.target);
    if (state < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const likelihood = this.app.likelihoods[this.node];
    const now = likelihood === null ? 1 : likelihood[state];
    const act = {
      ArrowDown: () => this.focus(state + 1),
      ArrowUp: () => this.focus(state - 1),
      Home: () => this.focus(0),
      End: () => this.focus(this.rows.length - 1),
      ArrowLeft: () => this.app.soften(this.node, state, Math.max(0, round(now - STEP))),
      ArrowRight: () => this.app.soften(this.node, state, Math.min(1, round(now + STEP))),
      n: () => this.app.negate(this.node, state),
      Delete: () => this.app.retract(this.node),
      Backspace: () => this.app.retract(this.node),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  focus(state) {
    const row = this.rows[(state + this.rows.length) % this.rows.length];
    this.rows.forEach(({ pick }) => (pick.tabIndex = pick === row.pick ? 0 : -1));
    row.pick.focus();
  }

  typed(input) {
    const state = codeValue(this.app.model.columns[this.node], input.value);
    input.setAttribute("aria-invalid", state === "unknown");
    if (state === "missing") this.app.retract(this.node);
    else if (state !== "unknown") this.app.observe(this.node, state, Number(input.value));
  }

  /* Show the posterior and the evidence as they are now. */
  update(found) {
    const { app, node } = this;
    const likelihood = app.likelihoods[node];
    const state = hardState(likelihood);
    const soft = likelihood !== null && state < 0 && !likelihood.every((v) => v === 0 || v === 1);
    this.element.classList.toggle("observed", likelihood !== null);
    this.element.classList.toggle("chosen", app.selected === node);
    this.element.classList.toggle("asked", app.target === node);
    this.mark.textContent = likelihood === null || state >= 0 ? "" : soft ? "soft" : "ruled out"; // an observed state stands out
    this.rows.forEach((row, s) => {
      const p = found.marginals[node][s];
      setWidth(row.bar, p);
      row.before.style.left = `${app.model.priors[node][s] * 100}%`;
      row.value.textContent = percent(p, true);
      const out = likelihood !== null && likelihood[s] === 0;
      row.element.classList.toggle("set", s === state);
      row.element.classList.toggle("out", out);
      row.soft.hidden = !soft;
      if (soft) row.soft.style.left = `${likelihood[s] * 100}%`;
      row.pick.setAttribute("aria-pressed", s === state);
      row.not.setAttribute("aria-pressed", out && state < 0);
      const known = s === state ? ", observed" : out ? ", ruled out" : soft ? `, likelihood ${likelihood[s]}` : "";
      row.pick.setAttribute("aria-label", `${app.model.names[node]} ${row.label}: ${percent(p)}, before ${percent(app.model.priors[node][s])}${known}`);
    });
  }
}

function round(value) {
  return Math.round(value * 100) / 100;
}
