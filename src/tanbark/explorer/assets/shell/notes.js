/* Sentences about the model, a variable, and a row that was pasted. */

/* What the page computes from which model, where that is more than the network that it draws. */
function readingNote(model) {
  const name = model.names[model.data.target];
  if (model.correction !== null) {
    return `The posterior of ${name} and its explanation have a correction beyond this network. Posteriors of other variables, the most typical case and the tables are those of the network alone.`;
  }
  if (model.pool === null) return "";
  const pooled = model.pool.corrected ? `${model.pool.networks} networks and a correction` : `${model.pool.networks} networks`;
  return `The graph is one network to read. The posterior of ${name}, why, and what to ask next come from ${pooled}, ${model.data.average === null ? "pooled" : "averaged"}. Posteriors of other variables, the most typical case and the tables come from the network to read.`;
}

function facts(model) {
  const { data } = model;
  const parts = model.title.startsWith(data.kind) ? [] : [data.kind];
  if (model.pool !== null) parts.push(`${model.pool.networks} ${data.average === null ? "pooled" : "averaged"} networks${model.pool.corrected ? ", corrected" : ""}`);
  if (data.rows !== null) parts.push(`learnt from ${count(data.rows)} rows`);
  const features = data.target >= 0 ? model.names.length - 1 : model.names.length;
  parts.push(data.target >= 0 ? `${features} features` : `${features} variables`);
  if (model.pool === null) parts.push(`${data.parents.reduce((all, parents) => all + parents.length, 0)} arcs`);
  if (model.correction !== null) parts.push("corrected");
  if (model.weighted || data.weights) parts.push("weighted features");
  if (data.temperature !== 1) parts.push(`temperature ${data.temperature.toPrecision(3)}`);
  return parts.join(" · ");
}

/* Who stands around a variable. */
function selectedNotes(app, node) {
  const { model } = app;
  const list = (title, nodes) =>
    nodes.length === 0 ? null : h("p", { class: "small" }, `${title}: `, nodes.flatMap((other, k) => [k ? ", " : "", h("button", { type: "button", class: "link", text: model.names[other], onclick: (event) => app.edit(other, app.editor.anchor ?? event.currentTarget) })]));
  const weight = model.weighted ? h("p", { class: "small", text: `Weight ${model.data.exponents[node].toPrecision(4)}` }) : null;
  const ask = node === app.target || model.weighted ? null : h("button", { type: "button", class: "quiet", text: `What is ${model.names[node]}?`, title: "Ask for this variable instead", onclick: () => (app.closeEditor(), app.ask(node)) });
  const { description } = model.columns[node];
  const told = description === undefined ? null : h("p", { class: "small", text: description });
  return h("div", { class: "notes" }, told, list("Parents", model.parents[node]), list("Children", model.children[node].slice(0, 40)), weight, ask);
}

function rowReport(model, read) {
  const parts = [`${read.states.size} values set`];
  if (read.missing.length) parts.push(`${read.missing.length} not observed`);
  if (read.unknown.length) {
    const shown = read.unknown.slice(0, 3).map(({ node, value }) => `${model.names[node]} = ${value}`).join(", ");
    parts.push(`${read.unknown.length} not known and left open (${shown}${read.unknown.length > 3 ? ", …" : ""})`);
  }
  if (read.ignored) parts.push(`${read.ignored} columns are not in the model`);
  if (read.label !== null) parts.push(`the label of the row is ${model.label(model.data.target, read.label)}`);
  if (read.more > 0) parts.push("only the first row was taken");
  return `${parts.join("; ")}.`;
}
