/* Files of rows: their bytes are split into lines piece by piece, so that a file of any size takes little memory. */

const QUOTE = 34;
const LINE_FEED = 10;
const RETURN = 13;
const SPACE = 32;
const LONGEST_LINE = 1_000_000; // bytes; beyond, a quote was probably left open
const ALIKE = 0.6; // of two names, from which on one may be meant by the other

/* Split bytes at the ends of lines that are outside quotes. A quote opens at the beginning of a field only. */
class LineSplitter {
  constructor(separator) {
    this.separator = separator.charCodeAt(0);
    this.rest = new Uint8Array(0);
    this.restAt = 0; // where the rest begins in the file
    this.line = 0;
  }

  /* Lines as {start, end, bytes}; those that are not whole stay for the next piece. */
  push(piece, last) {
    const bytes = new Uint8Array(this.rest.length + piece.length);
    bytes.set(this.rest);
    bytes.set(piece, this.rest.length);
    const found = [];
    let [start, quoted, opening] = [0, false, true];
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i];
      if (quoted) {
        if (byte !== QUOTE) continue;
        if (bytes[i + 1] === QUOTE) i++;
        else quoted = false;
      } else if (byte === QUOTE && opening) quoted = true;
      else if (byte === this.separator) opening = true;
      else if (byte === LINE_FEED || byte === RETURN) {
        this.take(found, bytes, start, i);
        start = i + 1;
        opening = true;
      } else if (byte !== SPACE) opening = false;
    }
    if (last) this.take(found, bytes, start, bytes.length);
    else if (bytes.length - start > LONGEST_LINE) throw new Error(`After line ${this.line + 1} no line ends within a million characters. A quotation mark may have been left open there.`);
    this.rest = last ? new Uint8Array(0) : bytes.slice(start);
    this.restAt += last ? bytes.length : start;
    return found;
  }

  take(found, bytes, start, end) {
    this.line += 1;
    if (end > start) found.push({ start: this.restAt + start, end: this.restAt + end, bytes: bytes.subarray(start, end) });
    else this.line -= Number(end === start && bytes[end] === LINE_FEED && bytes[end - 1] === RETURN);
  }
}

/* Why a file cannot be read as rows, by its first bytes; null where it may be. */
function wrongKind(bytes, name) {
  const begins = (...codes) => codes.every((code, k) => bytes[k] === code);
  const convert = "Save it as CSV and drop it again.";
  if (bytes.length === 0) return `${name} is empty.`;
  if (begins(0x50, 0x4b)) return `${name} is an Excel workbook or another packed file, not a table of text. ${convert}`;
  if (begins(0xd0, 0xcf, 0x11, 0xe0)) return `${name} is an old Excel workbook, not a table of text. ${convert}`;
  if (begins(0x50, 0x41, 0x52, 0x31)) return `${name} is a Parquet file. ${convert} Or predict it with "tanbark predict".`;
  if (begins(0x25, 0x50, 0x44, 0x46)) return `${name} is a PDF file, not a table of text. ${convert}`;
  if (begins(0xff, 0xfe) || begins(0xfe, 0xff)) return `${name} is text in UTF-16. Save it as CSV in UTF-8 and drop it again.`;
  if (bytes.includes(0)) return `${name} is not text. ${convert}`;
  const first = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart();
  if (/^[[{]/.test(first)) return `${name} looks like JSON, not like a table. ${convert}`;
  if (first.startsWith("<")) return `${name} looks like a page of HTML or XML, not like a table. ${convert}`;
  return null;
}

/* UTF-8, or the usual one-byte code of Windows where it is not. */
function decoderFor(bytes) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return new TextDecoder("utf-8");
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/* The fields of one line. */
function splitLine(text, separator) {
  if (!text.includes('"')) return text.split(separator);
  const fields = [];
  let [field, quoted] = ["", false];
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character !== '"') field += character;
      else if (text[i + 1] === '"') field += text[i++];
      else quoted = false;
    } else if (character === '"' && field.trim() === "") [quoted, field] = [true, ""];
    else if (character === separator) {
      fields.push(field);
      field = "";
    } else field += character;
  }
  fields.push(field);
  return fields;
}

/* ------------------------------------------------------------ names of columns */

/* Which column of the model every field is, and what is to be said about it. Throws where the file has none. */
function matchColumns(model, fields) {
  const nodes = fields.map((field) => nodeOf(model, field));
  const known = new Set(nodes.filter((node) => node >= 0));
  const features = model.keys.map((_, node) => node).filter((node) => node !== model.data.target);
  const found = features.filter((node) => known.has(node)).length;
  if (found === 0) {
    const near = fields.map((field) => nearestKey(model, field, known)).find((node) => node !== null);
    const hint = near === undefined ? "" : ` Did you mean "${model.keys[near]}"?`;
    throw new Error(`The first line names no column of the model; it begins with "${fields[0].trim().slice(0, 60)}".${hint} The model has ${features.slice(0, 5).map((node) => model.keys[node]).join(", ")}${features.length > 5 ? ", …" : ""}. Put a line of names above the rows.`);
  }
  const twice = fields.find((_, k) => nodes[k] >= 0 && nodes.indexOf(nodes[k]) < k);
  if (twice !== undefined) throw new Error(`The column "${twice.trim()}" is in the file twice. Remove one of them.`);
  const unknown = fields.flatMap((field, place) => (nodes[place] < 0 && field.trim() !== "" ? [{ place, field: field.trim(), near: nearestKey(model, field, known) }] : []));
  const absent = features.filter((node) => !known.has(node));
  return { nodes, unknown, absent };
}

/* A column by its name in the data, or as it is shown. */
function nodeOf(model, field) {
  const name = field.trim();
  for (const names of [model.keys, model.names]) {
    for (const wanted of [field, name]) if (names.includes(wanted)) return names.indexOf(wanted);
  }
  return -1;
}

/* The column that may be meant by a name that there is not; null where none is alike or all are taken. */
function nearestKey(model, field, taken) {
  let [best, score] = [null, ALIKE];
  model.keys.forEach((key, node) => {
    if (taken.has(node)) return;
    const alike = Math.max(likeness(field.trim(), key), likeness(field.trim(), model.names[node]));
    if (alike > score) [best, score] = [node, alike];
  });
  return best;
}

/* How alike two names are, from 0 to 1: letters that need not be changed (Levenshtein), whatever their case. */
function likeness(one, other) {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, k) => k);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1]));
    row = next;
  }
  return 1 - row[b.length] / Math.max(1, a.length, b.length);
}
