/* The part of a network that a posterior depends on: some columns and their ancestors. All else sums to one. */

class Part {
  constructor(model, columns) {
    const { data } = model;
    this.model = model;
    const inside = ancestors(model, columns);
    this.nodes = model.order.filter((node) => inside[node]).sort((a, b) => a - b);
    this.place = new Map(this.nodes.map((node, k) => [node, k]));
    const own = (list) => list.map((node) => this.place.get(node));
    this.sizes = this.nodes.map((node) => model.sizes[node]);
    const { cliques, above, home } = restrictedCliques(data, inside);
    const axes = this.nodes.map((node) => own(data.axes[node]));
    const parts = { cliques: cliques.map(own), above, home: this.nodes.map((node) => home[node]), axes, tables: this.nodes.map((node) => data.tables[node]) };
    this.engine = new NetworkEngine(parts, this.sizes);
    this.order = own(model.order.filter((node) => inside[node]));
    this.axes = axes;
  }

  /* An array by column of the network, as one by column of the part. */
  take(values) {
    return this.nodes.map((node) => values[node]);
  }

  /* log P(target = c, evidence) as the model has it, from the part with these potentials. */
  logJoint(target, likelihoods, base = this.engine.base) {
    const at = this.place.get(target);
    const known = this.take(likelihoods);
    const prior = () => this.engine.logJoint(at, known.map(() => null), base);
    return this.model.corrected(target, likelihoods, this.engine.logJoint(at, known, base), prior);
  }
}

/* Mark columns and all that they descend from. */
function ancestors(model, columns) {
  const inside = new Uint8Array(model.sizes.length);
  const open = [...columns];
  while (open.length) {
    const node = open.pop();
    if (inside[node]) continue;
    inside[node] = 1;
    open.push(...model.parents[node]);
  }
  return inside;
}

/* The junction tree over some of the columns. A clique that its parent contains is merged into it. */
function restrictedCliques({ cliques, above, home }, inside) {
  const scopes = cliques.map((scope) => scope.filter((node) => inside[node]));
  const into = scopes.map((scope, k) => (above[k] >= 0 && scope.every((node) => scopes[above[k]].includes(node)) ? above[k] : k));
  const last = (k) => {
    while (into[k] !== k) k = into[k];
    return k;
  };
  const kept = into.flatMap((other, k) => (other === k ? [k] : []));
  const place = new Map(kept.map((k, at) => [k, at]));
  return {
    cliques: kept.map((k) => scopes[k]),
    above: kept.map((k) => (above[k] < 0 ? -1 : place.get(last(above[k])))),
    home: home.map((k) => place.get(last(k))),
  };
}
