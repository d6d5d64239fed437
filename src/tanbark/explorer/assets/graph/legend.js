/* What the colours, widths and marks of the drawing stand for. */

function makeLegend(view) {
  const { app, drawing } = view;
  const { model } = app;
  const items = [];
  const item = (picture, ...text) => items.push(h("div", { class: "legend-item" }, picture, h("span", {}, ...text)));
  if (!drawing.full) {
    const columns = model.columns;
    const named = Math.max(0, ...columns.filter((column) => !isRamp(column)).map((column) => column.labels.length - (column.missing ? 1 : 0)));
    const ramps = columns.some(isRamp);
    if (named) item(swatches(CATEGORY_COLOURS.slice(0, named)), "Categories, first to last");
    if (ramps) item(swatches([0, 0.25, 0.5, 0.75, 1].map(rampColour)), "Numbers, low to high");
    if (columns.some((column) => column.missing)) item(swatches([MISSING_COLOUR]), "Missing, as a state");
  } else item(sample("state-fill"), "Probability now; the line: before any evidence. Click a state to observe it.");
  if (view.strongest > 0) {
    const widths = svg("svg", { width: 44, height: 14, viewBox: "0 0 44 14" }, svg("path", { class: "legend-arc", d: `M0,${7 - THINNEST / 2} L44,${7 - WIDEST / 2} L44,${7 + WIDEST / 2} L0,${7 + THINNEST / 2} z` }));
    item(widths, `Arc width: conditional mutual information given the other parents, up to ${bitsText(view.strongest)}`);
  }
  if (drawing.hidden.length) item(sample("of-class"), `Child of ${model.names[model.data.target]} (arc drawn on focus)`);
  item(sample("observed"), "Has evidence");
  return h("div", { class: "legend", role: "group", "aria-label": "Legend" }, items);
}

function swatches(colours) {
  return svg("svg", { width: 44, height: 12, viewBox: `0 0 44 12` }, colours.map((fill, k) => svg("rect", { fill, x: (44 * k) / colours.length, y: 1, width: 44 / colours.length, height: 10 })));
}

function sample(kind) {
  return h("span", { class: `legend-sample ${kind}` });
}
