/* About: what the model is for, where it comes from, how good it is, and what it must not be used for. */

const FACT_NAMES = { source: "Data", population: "Population", date: "Date", authors: "Authors", contact: "Contact", licence: "Licence" };
const MEASURE_NAMES = { accuracy: "Accuracy", balanced_accuracy: "Balanced accuracy", auc: "AUC", log_loss: "Log-loss", brier: "Brier score" };
const MEASURE_HELP = {
  accuracy: "the fraction of rows whose most probable class is right",
  balanced_accuracy: "the mean over the classes of the fraction that is found",
  auc: "how often a row of a class gets a higher probability of it than a row of another",
  log_loss: "the mean of −ln of the probability of the true class; 0 is perfect",
  brier: "the mean squared error of the probabilities; 0 is perfect",
};
const PLOT = { size: 300, left: 46, bottom: 42, top: 8, right: 10 };

class AboutView {
  constructor(app) {
    this.app = app;
  }

  mount(element) {
    const { model, modelId } = this.app;
    element.replaceChildren(aboutBody(model.data, {
      kind: facts(model),
      modelId,
      missing: missingText(model),
      labels: model.data.target < 0 ? [] : model.columns[model.data.target].shown,
      own: model.data.target < 0 ? [] : model.columns[model.data.target].labels,
    }));
  }

  update() {}
}

/* Sections of texts; the page of a classifier of texts has them too. */
function aboutBody(data, { kind, modelId, missing, labels, own }) {
  const { about, performance } = data;
  const paragraphs = (text) => [text].flat().map((part) => h("p", { text: part }));
  const section = (title, ...content) => h("section", {}, h("h2", { text: title }), ...content.flat());
  const pairs = Object.entries(FACT_NAMES).filter(([key]) => about[key] !== undefined).map(([key, name]) => [name, [about[key]].flat().join("; ")]);
  if (data.rows !== null) pairs.push(["Training rows", count(data.rows)]);
  pairs.push(["Model", kind], ["Identifier", modelId]);
  return h("div", { class: "about" },
    section("Purpose", about.purpose === undefined ? h("p", { class: "small", text: "Nothing was written about what this model is for. Ask whoever made the page before you rely on it." }) : paragraphs(about.purpose)),
    about.not_for === undefined ? null : h("section", { class: "not-for" }, h("h2", { text: "Not to be used for" }), list(about.not_for)),
    section("Where it comes from", h("dl", { class: "facts" }, pairs.map(([name, text]) => h("div", {}, h("dt", { text: name }), h("dd", { text }))))),
    section("How good it is", performance === null ? h("p", { class: "small", text: "No measurement came with this page, so it does not say how often the model is right." }) : performanceBody(performance, { labels, own })),
    section("Missing values", h("p", { text: missing })),
    about.limits === undefined ? null : section("Limits", list(about.limits)),
    about.notes === undefined ? null : section("Notes", paragraphs(about.notes)),
    h("p", { class: "small", text: "Every number is computed in this page; nothing that is entered leaves it. The probabilities are those of the model: they hold for cases like those it was learnt from." }),
  );
}

function list(texts) {
  const all = [texts].flat();
  return all.length === 1 ? h("p", { text: all[0] }) : h("ul", {}, all.map((text) => h("li", { text })));
}

/* How values that are not known enter the answer. */
function missingText(model) {
  const { data } = model;
  const own = model.columns.flatMap((column, node) => (column.missing ? [model.names[node]] : []));
  const states = own.length ? ` In ${own.slice(0, 8).join(", ")}${own.length > 8 ? ", …" : ""} "missing" is a state of its own, because it was told apart in training: choose it where a value is known to be missing.` : "";
  if (model.weighted) return `A value that is not known drops out.${states}`;
  const faded = model.pool?.corrected || model.correction !== null ? " The correction by what the networks leave unexplained counts less the more values are missing." : "";
  const how = data.average === null && data.pool === null ? "the answer is the exact posterior of the network given what is known" : "it is summed out in every network";
  return `A value that is not known is not guessed: ${how}. A category that training did not have counts as not known.${faded}${states}`;
}

/* ------------------------------------------------------------ how good it is */

function performanceBody(performance, { labels, own }) {
  const { measures, folds, rows } = performance;
  const what = folds > 1 ? `${folds}-fold cross-validation${rows === null ? "" : ` of ${count(rows)} rows`}: every fold is predicted by a model that did not see it.` : `Measured on ${count(rows)} rows.`;
  const lines = Object.entries(MEASURE_NAMES).filter(([key]) => measures[key] !== undefined && measures[key][0] !== null).map(([key, name]) => {
    const [mean, spread] = measures[key];
    const text = key.endsWith("accuracy") ? percent(mean) : mean.toFixed(3);
    const range = folds > 1 && spread !== null ? ` ± ${key.endsWith("accuracy") ? (100 * spread).toFixed(1) : spread.toFixed(3)}` : "";
    return h("tr", {}, h("th", { scope: "row", text: name }), h("td", { class: "value", text: text + range, "data-exact": mean }), h("td", { class: "small", text: MEASURE_HELP[key] }));
  });
  const shown = (performance.classes ?? []).map((label) => labels[own.indexOf(label)] ?? label);
  return [
    h("p", { text: what }),
    h("table", { class: "measures" }, h("thead", { class: "unseen" }, h("tr", {}, ["measure", "mean and standard deviation over the folds", "meaning"].map((text) => h("th", { scope: "col", text })))), h("tbody", {}, lines)),
    performance.calibration === null ? null : new CalibrationPlot(performance.calibration, shown).element,
    performance.confusion === null ? null : confusionTable(performance.confusion, shown),
  ];
}

function confusionTable(table, labels) {
  const most = 12;
  if (labels.length > most) return h("p", { class: "small", text: `The table of confusions has ${labels.length} classes and is left out.` });
  return h("div", { class: "scroll" }, h("table", { class: "cpt confusion" },
    h("caption", { class: "small", text: "Rows by their own class (lines) and the predicted one (columns)" }),
    h("thead", {}, h("tr", {}, h("td"), labels.map((label) => h("th", { scope: "col", text: label })))),
    h("tbody", {}, table.map((line, own) => {
      const total = Math.max(1, line.reduce((all, n) => all + n, 0));
      return h("tr", {}, h("th", { scope: "row", class: "given", text: labels[own] }), line.map((n) => {
        const cell = h("td", { class: "value", text: count(n) });
        cell.style.setProperty("--p", n / total);
        return cell;
      }));
    })),
  ));
}

/* How often what was given the probability p came true: a point for every tenth, as large as it has rows. */
class CalibrationPlot {
  constructor(curves, labels) {
    Object.assign(this, { curves, labels });
    const choice = h("select", { "aria-label": "Class of the calibration", onchange: (event) => this.draw(Number(event.target.value)) }, labels.map((label, k) => h("option", { value: k, text: label })));
    choice.value = labels.length === 2 ? 1 : 0;
    this.place = h("div", { class: "plot" });
    this.words = h("p", { class: "small" });
    this.element = h("figure", { class: "calibration" }, h("figcaption", {}, "Calibration of ", choice), this.place, this.words);
    this.draw(labels.length === 2 ? 1 : 0);
  }

  draw(which) {
    const curve = this.curves[which];
    const label = this.labels[which];
    const { size, left, bottom, top, right } = PLOT;
    const x = (p) => left + p * size;
    const y = (p) => top + (1 - p) * size;
    const most = Math.max(1, ...curve.rows);
    const text = (attributes, words) => svg("text", { class: "axis", ...attributes, text: words });
    const ticks = [0, 0.25, 0.5, 0.75, 1];
    const drawing = svg("svg", { viewBox: `0 0 ${left + size + right} ${top + size + bottom}`, role: "img", "aria-label": calibrationWords(curve, label) },
      ticks.map((p) => svg("g", {},
        svg("line", { class: "grid", x1: x(p), x2: x(p), y1: y(0), y2: y(1) }), svg("line", { class: "grid", x1: x(0), x2: x(1), y1: y(p), y2: y(p) }),
        text({ x: x(p), y: y(0) + 16, "text-anchor": "middle" }, `${100 * p}`), text({ x: x(0) - 6, y: y(p) + 4, "text-anchor": "end" }, `${100 * p}`))),
      svg("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
      svg("polyline", { class: "curve", points: curve.predicted.map((p, k) => `${x(p)},${y(curve.observed[k])}`).join(" ") }),
      curve.predicted.map((p, k) => svg("circle", { class: "point", cx: x(p), cy: y(curve.observed[k]), r: 3 + 6 * Math.sqrt(curve.rows[k] / most) },
        svg("title", { text: `${count(curve.rows[k])} rows: predicted ${percent(p)}, observed ${percent(curve.observed[k])}` }))),
      text({ x: x(0.5), y: y(0) + 34, "text-anchor": "middle" }, "predicted probability, %"),
      text({ x: 12, y: y(0.5), "text-anchor": "middle", transform: `rotate(-90 12 ${y(0.5)})` }, "came true, %"));
    this.place.replaceChildren(drawing);
    this.words.textContent = calibrationWords(curve, label);
  }
}

function calibrationWords(curve, label) {
  return `On average the probability of ${label} is ${(100 * curve.error).toFixed(1)} points from the fraction that came true. On the dashed line both are the same; a larger point has more rows.`;
}

if (typeof VIEWS !== "undefined") VIEWS.push({ id: "about", title: "About", place: 50, make: (app) => new AboutView(app) });
