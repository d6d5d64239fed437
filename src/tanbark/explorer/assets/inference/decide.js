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
JOBS.worth = function* (model, { target, likelihoods, costs, price = 0 }) {
  const found = yield* outcomes(model, target, likelihoods);
  const worth = found.map((one) => ({ node: one.node, value: expectedFall(one, (probabilities) => leastCost(probabilities, costs)) }));
  worth.sort((a, b) => b.value - a.value || a.node - b.node);
  const best = found.find(({ node }) => node === worth[0]?.node);
  if (best !== undefined && model.isPlain(target)) worth[0].region = askingRegion(best, costs, price);
  return worth;
};

/* Of two classes: the least and the greatest probability of the second at which it is worth more than its price to see a column
   before deciding; null where it never is. P(state of the column | class) is held. The worth rises from 0 up to the threshold
   and falls after it, because the expected cost of deciding later is concave. */
function askingRegion({ before, states }, costs, price) {
  const threshold = costs.length === 2 ? costThreshold(costs, 1) : null;
  if (threshold === null || before.some((p) => p === 0)) return null;
  const given = states.filter(({ chance }) => chance > 0).map(({ chance, probabilities }) => probabilities.map((p, c) => (chance * p) / before[c]));
  const worth = (p) => leastCost([1 - p, p], costs) - sum(given.map(([a, b]) => leastCost([(1 - p) * a, p * b], costs)));
  const least = Math.max(price, 1e-12);
  if (!(worth(threshold) > least)) return null;
  const border = (outside) => {
    let [out, inside] = [outside, threshold];
    for (let k = 0; k < 60; k++) {
      const middle = (out + inside) / 2;
      if (worth(middle) > least) inside = middle;
      else out = middle;
    }
    return inside;
  };
  return [border(0), border(1)];
}

JOBS.sensitivity = function* (model, { target, likelihoods, label }) {
  return yield* sensitivity(model, target, likelihoods, label);
};

JOBS.counterfactual = function* (model, { target, likelihoods, ...options }) {
  return yield* counterfactual(model, target, likelihoods, options);
};
