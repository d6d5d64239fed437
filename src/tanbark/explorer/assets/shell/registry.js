/* What the page is made of: views (tabs), panels (beside them) and jobs (long computations). Each file adds its own. */

const VIEWS = [];
const PANELS = [];

/* Generators by name: (model, { target, likelihoods, … }) to a plain value. They run in a worker and know no document. */
const JOBS = {};
