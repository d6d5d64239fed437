/* The jobs of the shell: what to ask next, why, credible intervals, the most typical case, and odd evidence. */

const LEVEL = 0.9;

JOBS.information = function* (model, { target, likelihoods }) {
  return yield* expectedInformation(model, target, likelihoods);
};

JOBS.why = function* (model, { target, likelihoods, label }) {
  return yield* contributions(model, target, likelihoods, label);
};

JOBS.intervals = function* (model, { target, likelihoods }) {
  return yield* intervals(model, target, likelihoods, LEVEL);
};

/* The jointly most probable states with the target in one of them, and the target's state in the best of all. */
JOBS.typical = function* (model, { target, likelihoods, label }) {
  const fixed = withState(likelihoods, target, label, model.sizes[target]);
  const best = fixed === null ? null : model.engine.mostProbable(fixed);
  yield;
  const joint = model.engine.mostProbable(likelihoods);
  yield;
  return best === null ? null : { ...best, joint: joint.states[target], evidence: model.engine.logEvidence(fixed) };
};

JOBS.surprise = function* (model, { likelihoods }) {
  const odd = yield* surprise(model, likelihoods);
  const weakest = odd.fraction <= 0.01 ? (yield* leaveOneOut(model, likelihoods))[0] : null;
  return { odd, weakest };
};
