/* The page of a classifier of texts: a text is a bag of words, and every word that the model knows lights up. */

const TOKEN = /[\p{L}\p{N}_]+/gu;
const WORDS_SHOWN = 25;

/* Multinomial naive Bayes: log P(class) and, for every word, log P(word | class), the classes fastest. */
class TextModel {
  constructor(data) {
    this.data = data;
    this.labels = data.column.shown;
    this.logPrior = unpack(data.log_prior);
    this.logs = unpack(data.logs);
    this.place = new Map(data.words.map((word, k) => [word, k]));
    const lengths = data.words.map((word) => word.split(" ").length);
    this.longest = lengths.reduce((most, n) => Math.max(most, n), 1);
    this.single = data.words.some((word) => /^[\p{L}\p{N}_]$/u.test(word)); // whether words of one letter count
    this.lower = data.words.every((word) => word === word.toLowerCase());
  }

  /* The words of a text in order, and every phrase of several words that the model knows, with the place in the text. */
  read(text) {
    const tokens = [...text.matchAll(TOKEN)].map((found) => ({ word: this.lower ? found[0].toLowerCase() : found[0], start: found.index, end: found.index + found[0].length }))
      .filter(({ word }) => this.single || [...word].length > 1);
    const found = [];
    for (let n = 1; n <= this.longest; n++) {
      for (let k = 0; k + n <= tokens.length; k++) {
        const word = tokens.slice(k, k + n).map((token) => token.word).join(" ");
        if (n === 1 || this.place.has(word)) found.push({ word, n, first: k, known: this.place.get(word) ?? -1 });
      }
    }
    return { tokens, found };
  }

  /* log P(class, words). */
  logJoint(found) {
    const n = this.logPrior.length;
    const logs = Array.from(this.logPrior);
    for (const { known } of found) if (known >= 0) for (let c = 0; c < n; c++) logs[c] += this.logs[known * n + c];
    return logs;
  }

  /* The posterior, and how every word changes the log-odds of one class against the rest, in the order of the text. A text
     that is impossible has the prior. */
  explain(found, label) {
    const logs = Array.from(this.logPrior);
    const n = logs.length;
    let before = oddsOf(logs, label);
    const parts = [];
    for (const word of found.filter(({ known }) => known >= 0)) {
      for (let c = 0; c < n; c++) logs[c] += this.logs[word.known * n + c];
      const after = oddsOf(logs, label);
      parts.push({ ...word, nats: after === before ? 0 : after - before });
      before = after;
    }
    return parts;
  }

  posterior(found) {
    const { probabilities } = normalise(this.logJoint(found));
    return { probabilities: probabilities ?? normalise(Array.from(this.logPrior)).probabilities, impossible: probabilities === null };
  }
}

function oddsOf(logs, label) {
  const rest = logs.filter((_, c) => c !== label);
  const odds = logs[label] - (rest.length ? normalise(rest).log : -Infinity);
  return Number.isNaN(odds) ? 0 : odds;
}

class TextApp {
  constructor(data, modelId) {
    Object.assign(this, { data, modelId, model: new TextModel(data), chosen: "" });
  }

  start() {
    const { data, model } = this;
    document.title = data.title;
    byId("title").textContent = data.title;
    const facts = [data.title.startsWith(data.kind) ? null : data.kind, `learnt from ${count(data.rows)} texts`, `${count(data.words.length)} words`].filter(Boolean).join(" · ");
    byId("facts").textContent = facts;
    byId("label").replaceChildren(h("option", { value: "", text: "the most probable" }), ...model.labels.map((text, c) => h("option", { value: c, text })));
    byId("label").addEventListener("change", (event) => ((this.chosen = event.target.value), this.update()));
    byId("text").addEventListener("input", () => this.changed());
    window.addEventListener("hashchange", () => this.restore());
    byId("about").replaceChildren(h("h2", { class: "about-head", text: "About" }), aboutBody(data, {
      kind: facts, modelId: this.modelId, labels: model.labels, own: data.column.labels,
      missing: "A word that was not in training is left out: it says nothing about the class.",
    }));
    this.restore();
  }

  restore() {
    try {
      const text = decodeURIComponent(location.hash.replace(/^#text=/, ""));
      if (text !== byId("text").value && location.hash !== "") byId("text").value = text;
    } catch {
      /* an address that was cut off holds no text */
    }
    this.update();
  }

  changed() {
    try {
      history.replaceState(null, "", byId("text").value ? `#text=${encodeURIComponent(byId("text").value)}` : "#");
    } catch {
      /* a closed frame, or a text that is too long for an address, has none */
    }
    this.update();
  }

  update() {
    const { model } = this;
    const text = byId("text").value;
    const { tokens, found } = model.read(text);
    const { probabilities, impossible } = model.posterior(found);
    const best = probabilities.indexOf(Math.max(...probabilities));
    const label = this.chosen === "" ? best : Number(this.chosen);
    const parts = model.explain(found, label);
    this.showAnswer(probabilities, best, impossible);
    this.mark(text, tokens, parts);
    byId("key-label").textContent = model.labels[label];
    const unknown = [...new Set(found.filter(({ known, n }) => n === 1 && known < 0).map(({ word }) => word))];
    byId("unknown").textContent = tokens.length === 0 ? "Nothing is typed yet: this is the prior." : `${count(parts.length)} words and phrases count. ${unknown.length ? `Not in the model: ${unknown.slice(0, 12).join(", ")}${unknown.length > 12 ? ", …" : ""}.` : ""}`;
    this.showWhy(parts, label);
    byId("live").textContent = `${model.labels[best]} ${percent(probabilities[best])}`;
  }

  showAnswer(probabilities, best, impossible) {
    const { model, data } = this;
    const fill = h("span", { class: "fill" });
    setWidth(fill, probabilities[best]);
    const order = [...probabilities.keys()].sort((a, b) => probabilities[b] - probabilities[a] || a - b);
    const second = order[1];
    const { threshold } = data;
    const against = threshold !== null && (threshold.label === best) !== (probabilities[threshold.label] >= threshold.value);
    const decided = threshold === null ? "" : probabilities[threshold.label] >= threshold.value ? `from ${percent(threshold.value)} on: ${model.labels[threshold.label]}` : `below ${percent(threshold.value)}: not ${model.labels[threshold.label]}`;
    byId("answer").replaceChildren(h("div", { class: "answer-line" },
      h("span", { class: "answer-best" }, h("strong", { class: "answer-label", text: model.labels[best] }), " ", h("span", { class: "answer-value", text: percent(probabilities[best]) })),
      h("span", { class: "track scale", "aria-hidden": "true" }, fill),
      h("span", { class: "answer-rest" }, h("span", { class: "answer-second" }, second === undefined ? [] : [h("span", { class: "second-label", text: `then ${model.labels[second]}`, title: model.labels[second] }), h("span", { class: "second-value", text: percent(probabilities[second]) })]),
      h("span", { class: `answer-words${impossible || against ? " unsure" : ""}`, text: impossible ? "impossible text: this is the prior" : decided }))));
    byId("answer").classList.toggle("sure", !impossible && !against);
    byId("posterior").replaceChildren(...order.slice(0, 30).map((c) => {
      const bar = h("span", { class: "fill" });
      setWidth(bar, probabilities[c]);
      return h("li", { class: "text-class", "data-state": c }, h("span", { class: "label", text: model.labels[c] }), h("span", { class: "track", "aria-hidden": "true" }, bar), h("output", { text: percent(probabilities[c]), "data-exact": probabilities[c] }));
    }));
  }

  /* The text with the words that count, as strong as their part in the log-odds. */
  mark(text, tokens, parts) {
    const nats = new Float64Array(tokens.length);
    const known = new Uint8Array(tokens.length);
    for (const part of parts) {
      for (let k = part.first; k < part.first + part.n; k++) {
        nats[k] += part.nats / part.n;
        known[k] = 1;
      }
    }
    const most = Math.max(1, ...Array.from(nats, (value) => (Number.isFinite(value) ? Math.abs(value) : 0)));
    const pieces = [];
    let at = 0;
    tokens.forEach(({ start, end }, k) => {
      pieces.push(text.slice(at, start));
      at = end;
      if (!known[k]) {
        pieces.push(text.slice(start, end));
        return;
      }
      const word = h("span", { class: nats[k] < 0 ? "lit against" : "lit for", text: text.slice(start, end), title: `${signed(nats[k])} nats` });
      word.style.setProperty("--strength", `${Math.round(10 + 30 * Math.min(1, Math.abs(nats[k]) / most))}%`);
      pieces.push(word);
    });
    pieces.push(text.slice(at));
    byId("marked").replaceChildren(...pieces);
  }

  showWhy(parts, label) {
    const { model } = this;
    const sums = new Map();
    for (const { word, nats } of parts) {
      const now = sums.get(word) ?? { word, times: 0, nats: 0 };
      sums.set(word, { word, times: now.times + 1, nats: now.nats + nats });
    }
    const prior = { word: "(prior)", times: 1, nats: oddsOf(Array.from(model.logPrior), label) };
    const sorted = [...sums.values()].sort((a, b) => Math.abs(b.nats) - Math.abs(a.nats));
    const most = Math.max(1e-9, ...[prior, ...sorted].map(({ nats }) => (Number.isFinite(nats) ? Math.abs(nats) : 0)));
    const line = ({ word, times, nats }) => {
      const bar = h("span", { class: nats < 0 ? "against" : "for" });
      setWidth(bar, Math.min(1, Math.abs(nats) / most) / 2);
      return h("tr", {}, h("th", { scope: "row", text: times > 1 ? `${word} × ${times}` : word }), h("td", { class: "two-sided", "aria-hidden": "true" }, bar), h("td", { class: "value", text: signed(nats), "data-exact": nats }));
    };
    const total = [prior, ...sorted].reduce((all, { nats }) => all + nats, 0);
    byId("why").replaceChildren(h("tbody", {}, [prior, ...sorted.slice(0, WORDS_SHOWN)].map(line)),
      h("tfoot", {}, h("tr", {}, h("th", { scope: "row", text: sorted.length > WORDS_SHOWN ? `log-odds, with ${sorted.length - WORDS_SHOWN} weaker words` : "log-odds" }), h("td"), h("td", { class: "value", text: signed(total), "data-exact": total }))));
  }
}

window.tanbark = { TextModel, app: new TextApp(JSON.parse(byId("model").textContent), byId("model").dataset.id) };
window.tanbark.app.start();
