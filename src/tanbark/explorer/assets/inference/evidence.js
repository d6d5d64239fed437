/* Evidence as values: a likelihood of each state of a column, or null; in words, and as messages to a worker. */

/* The state that evidence puts a column into, or -1 where it leaves more than one. */
function hardState(likelihood) {
  if (likelihood === null) return -1;
  let found = -1;
  for (let s = 0; s < likelihood.length; s++) {
    if (likelihood[s] === 0) continue;
    if (found >= 0 || likelihood[s] !== 1) return -1;
    found = s;
  }
  return found;
}

/* Whether a likelihood says nothing. */
function isVacuous(likelihood) {
  return likelihood.cells === undefined && likelihood.every((value) => value === 1);
}

/* Whether evidence only rules states out. */
function isExclusion(likelihood) {
  return likelihood.every((value) => value === 0 || value === 1);
}

/* "= red", but intervals as they are. */
function is(model, node, state) {
  const label = model.label(node, state);
  return model.columns[node].kind === "interval" && /^[≤>] | to /.test(label) ? label : `= ${label}`;
}

function describe(model, node, likelihood) {
  const state = hardState(likelihood);
  if (likelihood.value !== undefined) return `= ${likelihood.value}${model.unit(node)}`;
  if (state >= 0) return is(model, node, state);
  if (isExclusion(likelihood)) {
    return `≠ ${[...likelihood.keys()].filter((s) => likelihood[s] === 0).map((s) => model.label(node, s)).join(", ")}`;
  }
  return `~ ${[...likelihood.keys()].map((s) => `${model.label(node, s)} ${likelihood[s]}`).join(", ")}`;
}

/* A message keeps the numbers of an array but not the properties beside them. */
function packEvidence(likelihoods) {
  return likelihoods.flatMap((likelihood, node) => (likelihood === null ? [] : [[node, Array.from(likelihood), likelihood.value, likelihood.cells]]));
}

function unpackEvidence(model, packed) {
  const found = model.nothing.slice();
  for (const [node, values, value, cells] of packed) {
    found[node] = Float64Array.from(values);
    if (value !== undefined) found[node].value = value;
    if (cells !== undefined) found[node].cells = cells;
  }
  return found;
}

function sameEvidence(a, b) {
  if (a === null || b === null) return a === b;
  return a.value === b.value && a.every((value, s) => value === b[s]);
}
