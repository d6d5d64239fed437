/* The panels beside the variables. */

const NEXT_SHOWN = 8;
const WHY_SHOWN = 14;
const BEST_SHOWN = 12;

/* The variable asked for: posterior over prior for every state, with its credible interval. */
class PosteriorPanel {
  constructor(app) {
    this.app = app;
    this.place = byId("posterior");
    this.rows = [];
  }

  build() {
    const { model, target } = this.app;
    this.rows = model.columns[target].labels.map((label, state) => {
      const row = { fill: h("span", { class: "fill" }), before: h("span", { class: "fill" }), value: h("output", { class: "big" }), prior: h("span"), range: h("span", { class: "range" }), interval: h("span") };
      row.element = h(
        "div",
        { class: "answer", "data-state": state },
        h("div", { class: "answer-head" }, h("span", { class: "answer-label", text: label, title: label }), row.value),
        h("div", { class: "track now", "aria-hidden": "true" }, row.fill, row.range),
        h("div", { class: "track then", "aria-hidden": "true" }, row.before),
        h("div", { class: "small answer-foot" }, row.prior, row.interval),
      );
      return row;
    });
    const other = model.pool !== null && !model.pooled(target);
    const note = other ? [h("p", { class: "small", text: "From the network to read." })] : [];
    this.place.replaceChildren(...this.rows.map((row) => row.element), ...note);
  }

  update(found) {
    const { model, target } = this.app;
    const best = found.probabilities.indexOf(Math.max(...found.probabilities));
    this.rows.forEach((row, state) => {
      const p = found.probabilities[state];
      row.element.classList.toggle("best", state === best);
      setWidth(row.fill, p);
      setWidth(row.before, model.priors[target][state]);
      row.value.textContent = percent(p);
      row.value.title = `${p}`;
      row.value.dataset.exact = p;
      row.prior.textContent = `before ${percent(model.priors[target][state])}`;
    });
  }

  showIntervals(ranges) {
    this.rows.forEach((row, state) => {
      row.range.hidden = ranges === null;
      row.interval.textContent = ranges === null ? "" : `90 % interval ${percent(ranges[state][0])} to ${percent(ranges[state][1])}`;
      if (ranges === null) return;
      row.range.style.left = `${ranges[state][0] * 100}%`;
      row.range.style.width = `${(ranges[state][1] - ranges[state][0]) * 100}%`;
    });
  }
}

/* What is set, each piece with a way to take it back. */
function showEvidence(app) {
  const { model } = app;
  const items = app.likelihoods.flatMap((likelihood, node) => {
    if (likelihood === null) return [];
    const text = describe(model, node, likelihood);
    return [
      h(
        "li",
        {},
        h("button", { type: "button", class: "link", text: `${model.names[node]} ${text}`, onclick: () => app.select(node) }),
        h("button", { type: "button", class: "remove", text: "×", title: "Take back", "aria-label": `Take back ${model.names[node]} ${text}`, onclick: () => app.retract(node) }),
      ),
    ];
  });
  byId("evidence").replaceChildren(...(items.length ? items : [h("li", { class: "small", text: "Nothing is observed. Click a state." })]));
  byId("clear").disabled = items.length === 0;
}

/* "= red", but "≤ 18" as it is. */
function is(label) {
  return /^[≤>] /.test(label) ? label : `= ${label}`;
}

function describe(model, node, likelihood) {
  const state = hardState(likelihood);
  if (likelihood.value !== undefined) return `= ${likelihood.value}`;
  if (state >= 0) return is(model.label(node, state));
  if (likelihood.every((v) => v === 0 || v === 1)) {
    return `≠ ${[...likelihood.keys()].filter((s) => likelihood[s] === 0).map((s) => model.label(node, s)).join(", ")}`;
  }
  return `~ ${[...likelihood.keys()].map((s) => `${model.label(node, s)} ${likelihood[s]}`).join(", ")}`;
}

/* How many training rows had what is set, at most. */
function showSupport(app) {
  const { model } = app;
  const least = support(model, app.likelihoods);
  const place = byId("support");
  if (least === null) {
    place.textContent = "";
    return null;
  }
  const few = least.rows < 5;
  place.classList.toggle("few", few);
  place.textContent =
    least.node === null
      ? model.pool === null ? `Learnt from ${count(least.rows)} rows.` : ""
      : supportText(model, app.likelihoods, least);
  return least;
}

function supportText(model, likelihoods, { rows, node }) {
  const set = likelihoods.filter((likelihood) => hardState(likelihood) >= 0).length;
  const support = `${count(rows)} of ${count(model.rows)} training rows`;
  if (set < 2) return `${support} had this value.`;
  const parents = (model.pool === null ? model.parents[node] : []).filter((parent) => parent !== model.target && hardState(likelihoods[parent]) >= 0);
  const part = [node, ...parents].map((n) => `${model.names[n]} ${describe(model, n, likelihoods[n])}`).join(" with ");
  return `At most ${support} had all of this. The rarest part: ${part}.`;
}

/* Unobserved variables by their information on the variable asked for. */
function showNext(app, bits) {
  const { model, target } = app;
  const place = byId("next");
  const open = bits.map((value, node) => ({ node, value })).filter(({ node }) => node !== target && app.likelihoods[node] === null);
  open.sort((a, b) => b.value - a.value);
  const most = Math.max(...open.map(({ value }) => value), 1e-12);
  const shown = open.slice(0, NEXT_SHOWN).filter(({ value }) => value > 5e-5);
  const items = shown.map(({ node, value }) => {
    const fill = h("span", { class: "fill" });
    setWidth(fill, value / most);
    return h(
      "li",
      {},
      h("button", { type: "button", class: "link", text: model.names[node], onclick: () => app.select(node) }),
      h("span", { class: "track", "aria-hidden": "true" }, fill),
      h("span", { class: "value", text: `${value < 0.01 ? value.toFixed(4) : value.toPrecision(2)} bits`, title: `${value}` }),
    );
  });
  place.replaceChildren(...(items.length ? items : [h("li", { class: "small", text: "No unobserved variable carries further information." })]));
}

/* The log-odds of a state as a sum. */
function showWhy(app, { parts, total }) {
  const { model, target, explained } = app;
  const place = byId("why");
  if (parts.some(({ nats }) => !Number.isFinite(nats)) || app.found.impossible) {
    place.replaceChildren(h("p", { class: "small", text: app.found.impossible ? "The evidence is impossible: the prior alone decides." : "Some state is impossible under the evidence, so that the odds are infinite." }));
    return;
  }
  const [prior, ...rest] = parts;
  rest.sort((a, b) => Math.abs(b.nats) - Math.abs(a.nats));
  const shown = rest.slice(0, WHY_SHOWN);
  const weak = rest.slice(WHY_SHOWN);
  if (weak.length) shown.push({ node: -1, nats: weak.reduce((all, { nats }) => all + nats, 0), text: `${weak.length} others` });
  const most = Math.max(...[prior, ...shown].map(({ nats }) => Math.abs(nats)), 1e-9);
  const rows = [prior, ...shown].map((part) => whyRow(app, part, most));
  const p = 1 / (1 + Math.exp(-total));
  place.replaceChildren(
    h("table", { class: "why" },
      h("thead", { class: "unseen" }, h("tr", {}, h("th", { text: "evidence", scope: "col" }), h("th", { text: "picture", scope: "col" }), h("th", { text: "nats", scope: "col" }))),
      h("tbody", {}, rows),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row", text: "log-odds" }), h("td"), h("td", { class: "value", text: signed(total), title: `${total}`, "data-exact": total }))),
    ),
    h("p", { class: "small", text: `Natural logarithms of odds for ${model.label(target, explained)} against the rest; ${signed(total)} is ${percent(p)}.` }),
  );
}

function whyRow(app, part, most) {
  const { model } = app;
  const text = part.text ?? (part.node === null ? "prior" : `${model.names[part.node]} ${describe(model, part.node, app.likelihoods[part.node])}`);
  const bar = h("span", { class: part.nats < 0 ? "against" : "for" });
  setWidth(bar, Math.abs(part.nats) / most / 2);
  return h(
    "tr",
    {},
    h("th", { scope: "row", text, title: text }),
    h("td", { class: "two-sided", "aria-hidden": "true" }, bar),
    h("td", { class: "value", text: signed(part.nats), title: `${part.nats}`, "data-exact": part.nats }),
  );
}

/* The jointly most probable states of all that is not observed. */
function showBest(app) {
  const { model, likelihoods } = app;
  const place = byId("best");
  if (model.weighted) {
    place.replaceChildren(h("p", { class: "small", text: "The weighted CPTs are not normalised, so there is no joint distribution to maximise." }));
    return;
  }
  const best = model.engine.mostProbable(likelihoods);
  if (best === null) {
    place.replaceChildren(h("p", { class: "small", text: "The evidence is impossible." }));
    return;
  }
  const open = model.names.map((_, node) => node).filter((node) => hardState(likelihoods[node]) < 0 && model.sizes[node] > 1);
  open.sort((a, b) => (b === app.target) - (a === app.target));
  const item = (node) => h("div", {}, h("dt", { text: model.names[node] }), h("dd", { text: model.label(node, best.states[node]) }));
  const more = open.slice(BEST_SHOWN);
  place.replaceChildren(
    h("dl", { class: "pairs" }, open.slice(0, BEST_SHOWN).map(item)),
    ...(more.length ? [h("details", {}, h("summary", { text: `${more.length} more` }), h("dl", { class: "pairs" }, more.map(item)))] : []),
    h("p", { class: "small", text: `The best states together, not each alone${model.pool === null ? "" : ", in the network to read"}; their probability is ${percent(Math.exp(best.log - app.found.log))}.`, "data-exact": best.log }),
  );
}

/* Warnings: impossible evidence, odd evidence, thin support. */
function showWarnings(app, { odd = null, weakest = null, thin = null } = {}) {
  const { model, found } = app;
  const texts = [];
  if (found.impossible) texts.push("The model gives this evidence probability zero. The class prior is shown.");
  if (odd !== null && odd.fraction <= 0.01) {
    const fraction = odd.fraction === 0 ? `fewer than 1 in ${odd.draws}` : `about ${percent(odd.fraction)}`;
    const who = weakest && weakest.probability < 0.05 ? ` The oddest part is ${model.names[weakest.node]} ${describe(model, weakest.node, app.likelihoods[weakest.node])}: ${percent(weakest.probability)} given the rest.` : "";
    texts.push(`Surprising evidence: of rows drawn from the ${model.pool === null ? "model" : "network to read"}, ${fraction} are this improbable.${who}`);
  }
  if (thin !== null && thin.node !== null && thin.rows < 5) texts.push(`Thin support: at most ${count(thin.rows)} training rows had these values, so the result depends on the prior of the CPTs.`);
  byId("warnings").replaceChildren(...texts.map((text) => h("p", { class: "warning", role: "alert", text })));
}
