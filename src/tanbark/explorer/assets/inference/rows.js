/* Rows as people paste them: a line of CSV, with or without a line of names above. */

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const MISSING = new Set(["", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "?"]);

/* Split text into lines of fields; quotes may hold separators, line ends and doubled quotes. */
function parseLines(text) {
  const separator = findSeparator(text);
  const lines = [];
  let fields = [];
  let field = "";
  let quoted = false;
  const endField = () => (fields.push(field), (field = ""));
  const endLine = () => {
    endField();
    if (fields.length > 1 || fields[0].trim() !== "") lines.push(fields);
    fields = [];
  };
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character !== '"') field += character;
      else if (text[i + 1] === '"') field += text[i++];
      else quoted = false;
    } else if (character === '"' && field.trim() === "") (quoted = true), (field = "");
    else if (character === separator) endField();
    else if (character === "\n" || character === "\r") endLine();
    else field += character;
  }
  endLine();
  return lines;
}

/* The separator that occurs most in the first line, outside quotes. */
function findSeparator(text) {
  const line = text.replace(/"(""|[^"])*"/g, "").trimStart().split(/[\r\n]/, 1)[0];
  const times = ["\t", ";", ","].map((mark) => line.split(mark).length - 1);
  const most = Math.max(...times);
  return most ? ["\t", ";", ","][times.indexOf(most)] : ",";
}

/* Code one value as Python does: its state, "missing", or "unknown". An interval includes its upper end. */
function codeValue(column, text) {
  const shift = column.missing ? 1 : 0;
  const trimmed = plainNumber(column, text.trim());
  const exact = column.kind === "category" ? column.levels.findIndex((level) => sameLevel(level, text, trimmed)) : -1;
  if (exact >= 0) return exact + shift;
  if (MISSING.has(trimmed.toLowerCase())) return shift ? 0 : "missing";
  if (column.kind !== "interval" || !NUMBER.test(trimmed)) return "unknown";
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return "unknown";
  return column.cuts.filter((cut) => cut < value).length + shift;
}

/* Text without the unit and the marks between thousands, as in "$1,234.50", where a column is written so. */
function plainNumber({ written }, text) {
  if (!written) return text;
  const [mark, ...removed] = written;
  return removed.reduce((rest, piece) => (piece ? rest.split(piece).join("") : rest), text).replace(mark, ".");
}

function sameLevel(level, text, trimmed) {
  if (typeof level === "string") return level === text || level === trimmed;
  if (typeof level === "boolean") return trimmed.toLowerCase() === String(level) || (NUMBER.test(trimmed) && Number(trimmed) === Number(level));
  return NUMBER.test(trimmed) && Number(trimmed) === level;
}

/* Read a pasted row: states by column, and what could not be used. Throws with a sentence for the reader. */
function readRow(model, text) {
  const lines = parseLines(text);
  if (!lines.length) throw new Error("There is no row in the box. Paste a line of values.");
  const named = lines.length > 1 && namesIn(model, lines[0]);
  const columns = named ? lines[0].map((name) => findColumn(model, name)) : columnsInOrder(model, lines[0].length);
  const values = lines[named ? 1 : 0];
  if (values.length !== columns.length) {
    throw new Error(`The line of names has ${columns.length} fields and the row below has ${values.length}.`);
  }
  const found = { states: new Map(), numbers: new Map(), missing: [], unknown: [], label: null, ignored: 0, more: lines.length - (named ? 2 : 1) };
  values.forEach((value, k) => takeValue(model, columns[k], value, found));
  return found;
}

function takeValue(model, node, value, found) {
  if (node < 0) {
    found.ignored += 1;
    return;
  }
  const raw = (model.data.transformed ?? []).includes(node);
  const state = raw ? "unknown" : codeValue(model.columns[node], value);
  if (node === model.data.target) found.label = typeof state === "number" ? state : null;
  else if (state === "missing") found.missing.push(node);
  else if (state === "unknown") found.unknown.push({ node, value });
  else {
    found.states.set(node, state);
    found.numbers.set(node, NUMBER.test(value.trim()) ? Number(value) : NaN);
  }
}

function findColumn(model, name) {
  const exact = model.keys.indexOf(name);
  return exact >= 0 ? exact : model.keys.indexOf(name.trim());
}

function namesIn(model, fields) {
  return fields.filter((name) => findColumn(model, name) >= 0).length * 2 > fields.length;
}

/* Without names, a row has every feature in the model's order, and perhaps the class after them. */
function columnsInOrder(model, length) {
  const features = model.names.map((_, node) => node).filter((node) => node !== model.data.target);
  if (length === features.length) return features;
  if (length === model.names.length) return model.names.map((_, node) => node);
  const names = features.slice(0, 4).map((node) => model.keys[node]).join(", ");
  throw new Error(
    `The row has ${length} values; the model has ${features.length} features (${names}${features.length > 4 ? ", …" : ""}). ` +
      "Paste them all, in this order, or put a line of names above.",
  );
}

/* The evidence of a row that was read. */
function rowEvidence(model, read) {
  const found = model.nothing.slice();
  for (const [node, state] of read.states) {
    const likelihood = model.observed(node, state, read.numbers.get(node));
    if (!isVacuous(likelihood)) found[node] = likelihood;
  }
  return found;
}
