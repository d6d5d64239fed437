/* Decisions by their expected costs, and whether another question is worth more than deciding now. costs[c][d] is what the
   decision d costs where the class is c. */

function expectedCosts(probabilities, costs) {
  return costs[0].map((_, d) => probabilities.reduce((all, p, c) => all + p * costs[c][d], 0));
}

/* The decision of least expected cost; ties go to the first. */
function decide(probabilities, costs) {
  const expected = expectedCosts(probabilities, costs);
  const cost = Math.min(...expected);
  return { decision: expected.indexOf(cost), cost, expected };
}

/* The probability of one of two classes from which on deciding for it costs less (Elkan, 2001, equation 2); null where one
   decision never costs less. */
function costThreshold(costs, state) {
  const other = 1 - state;
  const alarm = costs[other][state] - costs[other][other];
  const miss = costs[state][other] - costs[state][state];
  return alarm >= 0 && miss >= 0 && alarm + miss > 0 ? alarm / (alarm + miss) : null;
}

/* What a column is worth to be seen before deciding: once a state is seen, the expected cost of the decision that would be made
   now, less that of the best one then. Answers that change no decision save nothing. */
function saving({ before, states }, costs) {
  if (states.length < 2) return 0;
  const { decision } = decide(before, costs);
  const one = (probabilities) => {
    const then = decide(probabilities, costs);
    return then.expected[decision] - then.cost;
  };
  return states.reduce((all, { chance, probabilities }) => (chance > 0 ? all + chance * one(probabilities) : all), 0);
}

const LEAST_WORTH = 1e-12; // less is rounding

/* For every column without evidence what it is worth, the best first, ties to the more telling and then to the first; and of two
   states of the target the probabilities at which asking is worth more than deciding. A question costs its price. */
JOBS.worth = function* (model, { target, likelihoods, costs, price = 0 }) {
  const found = yield* outcomes(model, target, likelihoods);
  const worth = found.map((one) => ({ node: one.node, value: saving(one, costs), bits: expectedBits(one) }));
  const order = ({ value }) => (value > LEAST_WORTH ? value : 0);
  worth.sort((a, b) => order(b) - order(a) || b.bits - a.bits || a.node - b.node);
  const best = new Map(worth.map(({ node }, place) => [node, place]));
  found.sort((a, b) => best.get(a.node) - best.get(b.node));
  return { worth, region: costs.length === 2 ? yield* askingRegion(found, costs, price) : null };
};

const REGION_POINTS = { steps: 1024, furthest: 16 }; // in log-odds

/* From which to which probability of the second of two classes it is worth more than its price to see some column first. What the
   columns tell is held: P(state | class), and by how much a state moves the log-odds. Looked for at points equally spaced in
   log-odds, at the thresholds and at the present probability, with borders by bisection; as in Python. */
function* askingRegion(found, costs, price) {
  const before = found[0]?.before;
  if (before === undefined || before.some((p) => p === 0)) return [];
  const questions = found.map(({ states }) => heldStates(states, before)).filter((states) => states.length);
  const inside = (p) => {
    const { decision } = decide([1 - p, p], costs);
    return questions.some((states) => sum(states.map((state) => savedAfter(state, p, costs, decision))) > price + LEAST_WORTH);
  };
  const { steps, furthest } = REGION_POINTS;
  const regular = Array.from({ length: steps + 1 }, (_, k) => 1 / (1 + Math.exp(furthest - (2 * furthest * k) / steps)));
  const points = [...new Set([...regular, ...thresholds(costs), before[1]])].sort((a, b) => a - b);
  const border = (outer, inner) => {
    for (let k = 0; k < 60; k++) {
      const middle = (outer + inner) / 2;
      if (inside(middle)) inner = middle;
      else outer = middle;
    }
    return inner;
  };
  const parts = [];
  let open = null;
  for (let k = 0; k <= points.length; k++) {
    const within = k < points.length && inside(points[k]);
    if (within && open === null) open = k === 0 ? points[0] : border(points[k - 1], points[k]);
    if (!within && open !== null) {
      parts.push([open, k === points.length ? points[k - 1] : border(points[k], points[k - 1])]);
      open = null;
    }
    if (k % 32 === 0) yield;
  }
  return parts;
}

/* The states of a column that may be seen: P(state | class), and the ratio of the posterior of each class after and before it. */
function heldStates(states, before) {
  if (states.length < 2) return [];
  return states.filter(({ chance }) => chance > 0).map(({ likelihoods, probabilities }) => ({ given: likelihoods, ratios: probabilities.map((p, c) => p / before[c]) }));
}

/* What a state saves, times how probable it is, where the second class has the probability p. */
function savedAfter({ given, ratios }, p, costs, decision) {
  const [first, second] = [(1 - p) * ratios[0], p * ratios[1]];
  const all = first + second;
  const then = decide(all > 0 ? [first / all, second / all] : [1 - p, p], costs);
  return ((1 - p) * given[0] + p * given[1]) * (then.expected[decision] - then.cost);
}

/* The probabilities of the second class at which two decisions cost the same. */
function thresholds(costs) {
  const [first, second] = costs;
  const pairs = first.flatMap((_, a) => first.map((__, b) => [first[a] - first[b], second[a] - second[b]]));
  return pairs.filter(([a, b]) => a * b < 0).map(([a, b]) => a / (a - b));
}

JOBS.sensitivity = function* (model, { target, likelihoods, label }) {
  return yield* sensitivity(model, target, likelihoods, label);
};

JOBS.counterfactual = function* (model, { target, likelihoods, ...options }) {
  return yield* counterfactual(model, target, likelihoods, options);
};
