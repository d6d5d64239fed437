/* The case: what is known as chips, how many training rows had it, and what to beware of. */

const CHIPS_SHOWN = 12;
const CHIPS_ON_PHONE = 4;
const FEW_ROWS = 5;

class CaseStrip {
  constructor(app) {
    this.app = app;
    this.all = false;
  }

  update() {
    const { app } = this;
    const known = app.likelihoods.flatMap((likelihood, node) => (likelihood === null ? [] : [node]));
    const most = isNarrow() ? CHIPS_ON_PHONE : CHIPS_SHOWN;
    const shown = this.all ? known : known.slice(0, most);
    const items = shown.map((node) => this.chip(node));
    if (known.length > most) {
      const text = this.all ? "show fewer" : `${known.length - most} more`;
      items.push(h("li", {}, h("button", { type: "button", class: "chip more", text, onclick: () => this.toggle() })));
    }
    if (!known.length) items.push(h("li", { class: "small nothing", text: "Nothing is known of the case yet." }));
    byId("evidence").replaceChildren(...items);
    byId("clear").disabled = known.length === 0 && app.skipped.size === 0;
    byId("undo").disabled = app.steps.at === 0;
    byId("redo").disabled = app.steps.at >= app.steps.list.length - 1;
    byId("pin").disabled = known.length === 0;
    this.showSupport();
    this.showWarnings();
  }

  toggle() {
    this.all = !this.all;
    this.update();
  }

  chip(node) {
    const { app } = this;
    const text = `${app.model.names[node]} ${describe(app.model, node, app.likelihoods[node])}`;
    const open = h("button", { type: "button", class: "chip-text", text, title: `Change ${text}`, "data-node": node, onclick: () => app.edit(node, open) });
    return h("li", { class: "chip" }, open,
      h("button", { type: "button", class: "remove", text: "×", title: "Remove", "aria-label": `Remove ${text}`, onclick: () => app.retract(node) }));
  }

  /* How many training rows had what is set, at most. */
  showSupport() {
    const { thin, model, likelihoods } = this.app;
    const place = byId("support");
    place.textContent = thin === null || thin.node === null ? "" : supportText(model, likelihoods, thin);
  }

  showWarnings({ odd = null, weakest = null } = {}) {
    const texts = warningTexts(this.app, odd, weakest);
    const wide = window.innerWidth >= 600;
    byId("warnings").replaceChildren(...texts.map(([head, text]) => h("details", { class: "warning", role: "alert", open: wide }, h("summary", { text: head }), text)));
  }
}

function supportText(model, likelihoods, { rows, node }) {
  const set = likelihoods.filter((likelihood) => hardState(likelihood) >= 0).length;
  const support = `${count(rows)} of ${count(model.rows)} training rows`;
  if (set < 2) return `${support} had this value.`;
  const parents = (model.pool === null ? model.parents[node] : []).filter((parent) => parent !== model.target && hardState(likelihoods[parent]) >= 0);
  const part = [node, ...parents].map((n) => `${model.names[n]} ${describe(model, n, likelihoods[n])}`).join(" with ");
  return `At most ${support} had all of this. The rarest part: ${part}.`;
}

/* Impossible evidence, odd evidence, thin support: each a few words and a sentence. */
function warningTexts(app, odd, weakest) {
  const { model, found, thin } = app;
  const texts = [];
  if (found.impossible) texts.push(["Impossible evidence", "The model gives this evidence probability zero, so the prior is shown. Change or remove a value; nothing is lost."]);
  if (odd !== null && odd.fraction <= 0.01) {
    const fraction = odd.fraction === 0 ? `fewer than 1 in ${odd.draws}` : `about ${percent(odd.fraction)}`;
    const who = weakest && weakest.probability < 0.05 ? ` The oddest part is ${model.names[weakest.node]} ${describe(model, weakest.node, app.likelihoods[weakest.node])}: ${percent(weakest.probability)} given the rest.` : "";
    texts.push(["Surprising evidence", `Of rows drawn from the ${model.pool === null ? "model" : "network to read"}, ${fraction} are this improbable.${who}`]);
  }
  if (thin !== null && thin.node !== null && thin.rows < FEW_ROWS) texts.push(["Thin support", `At most ${count(thin.rows)} training ${thin.rows === 1 ? "row" : "rows"} had these values, so the result depends on the prior of the CPTs.`]);
  return texts;
}
