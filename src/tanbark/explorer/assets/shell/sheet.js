/* The page on paper: one sheet with the case, the answer with its interval, why, the model, the date and the link. */

const SHEET_VALUES = 40;

class Sheet {
  constructor(app) {
    this.app = app;
    window.addEventListener("beforeprint", () => this.fill());
  }

  fill() {
    const { app } = this;
    const { model, target, found, ranges, likelihoods } = app;
    const known = likelihoods.flatMap((likelihood, node) => (likelihood === null ? [] : [node]));
    const order = Array.from(found.probabilities.keys()).sort((a, b) => found.probabilities[b] - found.probabilities[a]).slice(0, CLASSES_SHOWN);
    const interval = (state) => (ranges === null ? "" : ` (90 % interval ${rangeText(ranges[state])})`);
    const pair = (name, text) => h("div", {}, h("dt", { text: name }), h("dd", { text }));
    const warnings = [...byId("warnings").children].map((warning) => h("p", { text: [...warning.childNodes].map((part) => part.textContent).join(". ") }));
    byId("sheet").replaceChildren(
      h("h1", { text: model.title }),
      h("p", { text: facts(model) }),
      h("h2", { text: model.names[target] }),
      h("dl", { class: "pairs" }, order.map((state) => pair(model.label(target, state), `${percent(beside(found.probabilities, state))}${interval(state)}`))),
      ...warnings,
      h("h2", { text: known.length ? `The case: ${known.length} values known` : "The case: nothing is known" }),
      h("dl", { class: "pairs columns" }, known.slice(0, SHEET_VALUES).map((node) => pair(model.names[node], describe(model, node, likelihoods[node])))),
      known.length > SHEET_VALUES ? h("p", { text: `and ${known.length - SHEET_VALUES} more.` }) : "",
      h("h2", { text: "Why" }),
      h("p", { text: byId("why-sentence")?.textContent ?? "" }),
      byId("why")?.cloneNode(true) ?? "",
      h("p", { class: "foot", text: `Model ${app.modelId} · printed ${new Date().toISOString().slice(0, 10)} · ${app.link()}` }),
    );
    for (const copy of byId("sheet").querySelectorAll("[id]")) copy.removeAttribute("id");
  }
}
