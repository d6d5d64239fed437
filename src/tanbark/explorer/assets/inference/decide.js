/* Decisions by their expected costs, and whether another question is worth more than deciding now. costs[c][d] is what the
   decision d costs where the class is c. */

function expectedCosts(probabilities, costs) {
  return costs[0].map((_, d) => probabilities.reduce((all, p, c) => all + p * costs[c][d], 0));
}

function leastCost(probabilities, costs) {
  return Math.min(...expectedCosts(probabilities, costs));
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

/* For every column without evidence, by how much the expected cost is expected to fall when it is seen; the best first. */
JOBS.worth = function* (model, { target, likelihoods, costs }) {
  const found = yield* outcomes(model, target, likelihoods);
  const worth = found.map((one) => ({ node: one.node, value: expectedFall(one, (probabilities) => leastCost(probabilities, costs)) }));
  return worth.sort((a, b) => b.value - a.value || a.node - b.node);
};

JOBS.sensitivity = function* (model, { target, likelihoods, label }) {
  return yield* sensitivity(model, target, likelihoods, label);
};

JOBS.counterfactual = function* (model, { target, likelihoods, ...options }) {
  return yield* counterfactual(model, target, likelihoods, options);
};
