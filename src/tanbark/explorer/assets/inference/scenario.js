/* The evidence as part of the page's address, so that a scenario can be sent on: name=label for a state,
   name==13.5 for a number, name=!label,label for states that are ruled out, name=~1,0.4 for likelihoods, @ask=name for
   another question, @model=1f2e3d4c for the model that it was written with. */

function writeScenario(model, target, likelihoods, modelId = "") {
  const parts = target === model.target ? [] : [`@ask=${encodeURIComponent(model.keys[target])}`];
  likelihoods.forEach((likelihood, node) => {
    if (likelihood !== null) parts.push(`${encodeURIComponent(model.keys[node])}=${writeLikelihood(model, node, likelihood)}`);
  });
  if (parts.length && modelId) parts.push(`@model=${modelId}`);
  return parts.join("&");
}

function writeLikelihood(model, node, likelihood) {
  const label = (state) => escapeMark(encodeURIComponent(model.columns[node].labels[state]));
  const state = hardState(likelihood);
  if (likelihood.value !== undefined) return `=${likelihood.value}`;
  if (state >= 0) return label(state);
  if (likelihood.every((value) => value === 0 || value === 1)) {
    const out = [...likelihood.keys()].filter((s) => likelihood[s] === 0);
    return `!${out.map(label).join(",")}`;
  }
  return `~${Array.from(likelihood, (value) => String(+value.toFixed(4))).join(",")}`;
}

/* A label that begins like a mark is escaped. */
function escapeMark(text) {
  return text.replace(/^[!~]/, (mark) => (mark === "!" ? "%21" : "%7E"));
}

/* Read what writeScenario wrote; what this model does not know is left out and named. */
function readScenario(model, text) {
  const found = { target: model.target, likelihoods: model.nothing.slice(), unknown: [], modelId: null };
  for (const part of text.replace(/^#/, "").split("&").filter(Boolean)) {
    const at = part.indexOf("=");
    try {
      if (at < 0) throw new Error(part);
      takePart(model, part.slice(0, at), part.slice(at + 1), found);
    } catch {
      found.unknown.push(readable(part));
    }
  }
  return found;
}

function takePart(model, key, value, found) {
  if (key === "@ask") {
    found.target = nodeNamed(model, decodeURIComponent(value));
    return;
  }
  if (key === "@model") {
    found.modelId = value;
    return;
  }
  const node = nodeNamed(model, decodeURIComponent(key));
  const likelihood = readLikelihood(model, node, value);
  if (![...likelihood].every((v) => Number.isFinite(v) && v >= 0 && v <= 1) || !likelihood.some((v) => v > 0)) throw new Error(value);
  found.likelihoods[node] = isVacuous(likelihood) ? null : likelihood;
}

function readLikelihood(model, node, value) {
  const size = model.sizes[node];
  if (value[0] === "~") {
    const numbers = value.slice(1).split(",").map((n) => (n === "" ? NaN : Number(n)));
    if (numbers.length !== size) throw new Error(value);
    return Float64Array.from(numbers);
  }
  if (value[0] === "=") {
    const state = codeValue(model.columns[node], value.slice(1));
    if (typeof state !== "number" || model.columns[node].kind !== "interval") throw new Error(value);
    return model.observed(node, state, Number(value.slice(1)));
  }
  const out = value[0] === "!";
  const likelihood = new Float64Array(size).fill(out ? 1 : 0);
  for (const label of (out ? value.slice(1) : value).split(",")) {
    const state = model.columns[node].labels.indexOf(decodeURIComponent(label));
    if (state < 0) throw new Error(value);
    likelihood[state] = out ? 0 : 1;
  }
  return likelihood;
}

function nodeNamed(model, name) {
  const node = model.keys.indexOf(name);
  if (node < 0) throw new Error(name);
  return node;
}

function readable(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/* A sentence where an address does not fit this model, or null. */
function scenarioReport(app, { unknown, modelId, likelihoods }) {
  const other = modelId !== null && modelId !== app.modelId;
  if (!unknown.length && !other) return null;
  const taken = likelihoods.filter((likelihood) => likelihood !== null).length;
  const head = other ? `This link was made with another model (${modelId}; this is ${app.modelId}). ` : "";
  if (!unknown.length) return `${head}All ${taken} of its values exist here as well and are taken; check that they mean the same.`;
  return `${head}${taken} of ${taken + unknown.length} values of the link are taken. Not known to this model and left out: ${unknown.join("; ")}`;
}
