/* Tables of P(variable | parents) on demand. */

const ROWS_SHOWN = 300;

function showTableOf(app, node) {
  const { model } = app;
  const axes = model.data.axes[node].filter((axis) => axis !== node);
  byId("table-head").textContent = axes.length
    ? `P(${model.names[node]} | ${axes.map((axis) => model.names[axis]).join(", ")})`
    : `P(${model.names[node]})`;
  const configurations = listConfigurations(app, node, axes);
  const fitting = configurations.filter(({ fits }) => fits);
  const shown = configurations.length > ROWS_SHOWN ? [...fitting, ...configurations.filter(({ fits }) => !fits)].slice(0, ROWS_SHOWN) : configurations;
  const head = h("tr", {},
    axes.map((axis) => h("th", { scope: "col", class: "given", text: model.names[axis] })),
    model.columns[node].shown.map((label) => h("th", { scope: "col", text: label })),
    model.data.counts === null ? null : h("th", { scope: "col", text: "rows" }),
  );
  const notes = [];
  if (shown.length < configurations.length) notes.push(`${shown.length} of ${count(configurations.length)} parent configurations, those that fit the evidence first.`);
  if (model.weighted) notes.push(`The probabilities are raised to the weight ${model.data.exponents[node].toPrecision(4)}.`);
  if (fitting.length < configurations.length) notes.push("Marked lines fit the evidence.");
  byId("table").replaceChildren(
    h("div", { class: "scroll" }, h("table", { class: "cpt" }, h("thead", {}, head), h("tbody", {}, shown.map((line) => tableRow(app, node, axes, line))))),
    ...notes.map((text) => h("p", { class: "small", text })),
  );
  byId("table-dialog").showModal();
}

/* Every configuration of the parents, with where its entries are, and whether the evidence allows it. */
function listConfigurations(app, node, axes) {
  const { model } = app;
  const all = model.data.axes[node];
  const step = (axis) => product(all.slice(all.indexOf(axis) + 1), model.sizes);
  let found = [{ states: [], start: 0, fits: true }];
  for (const axis of axes) {
    found = found.flatMap((line) =>
      [...Array(model.sizes[axis]).keys()].map((state) => ({
        states: [...line.states, state],
        start: line.start + state * step(axis),
        fits: line.fits && (app.likelihoods[axis] === null || app.likelihoods[axis][state] > 0),
      })),
    );
  }
  return found.map((line) => ({ ...line, step: step(node) }));
}

function tableRow(app, node, axes, { states, start, step, fits }) {
  const { model } = app;
  const cells = model.columns[node].labels.map((_, state) => start + state * step);
  const open = axes.some((axis) => app.likelihoods[axis] !== null);
  return h("tr", { class: fits && open ? "fits" : "" },
    states.map((state, k) => h("th", { scope: "row", class: "given", text: model.label(axes[k], state) })),
    cells.map((place) => {
      const p = model.data.tables[node][place];
      const cell = h("td", { class: "value", text: p.toPrecision(4).replace(/\.?0+$/, (end) => (end.startsWith(".") ? "" : end)), title: `${p}` });
      cell.style.setProperty("--p", p);
      return cell;
    }),
    model.data.counts === null ? null : h("td", { class: "value rows", text: count(cells.reduce((all, place) => all + model.data.counts[node][place], 0)) }),
  );
}
