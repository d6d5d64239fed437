/* Making elements. Names come from the model and enter the page as text only, never as markup. */

function h(tag, options = {}, ...children) {
  return fill(document.createElement(tag), options, children);
}

function svg(tag, options = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), options, children);
}

function fill(element, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name === "class" ? "class" : name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/* Whether the window is as narrow as that of a telephone; style.css has the same bound. */
function isNarrow() {
  return window.innerWidth < 600;
}

const ALMOST_ONE = 1 - 1e-12;

/* A probability for people: more digits near 0 and 1, and in words beyond. */
function percent(p, short = false) {
  if (p === 0) return "0 %";
  if (p === 1) return "100 %";
  if (p < 1e-4) return short ? "< 0.01 %" : "below 0.01 %";
  if (p > 1 - 1e-4) return short ? "> 99.99 %" : "above 99.99 %";
  const value = 100 * p;
  return `${value.toFixed(value < 1 || value > 99 ? 2 : 1)} %`;
}

/* The probability of a state beside the others: it is not 100 % where another is possible, even if it rounds to 1. */
function beside(probabilities, state) {
  const p = probabilities[state];
  return p === 1 && probabilities.some((other, s) => s !== state && other > 0) ? ALMOST_ONE : p;
}

/* A credible interval in words; its ends are drawn, so that neither is certain. */
function rangeText([low, high], short = false) {
  if (low > 1 - 1e-4) return percent(ALMOST_ONE, short);
  if (high < 1e-4) return percent(1 - ALMOST_ONE, short);
  return `${percent(Math.max(low, 1 - ALMOST_ONE), short)} to ${percent(Math.min(high, ALMOST_ONE), short)}`;
}

/* A probability in a sentence. */
function roundPercent(p) {
  return p < 0.01 || p > 0.99 ? percent(p) : `${Math.round(100 * p)} %`;
}

function signed(value, digits = 2) {
  if (value === Infinity) return "+∞";
  if (value === -Infinity) return "−∞";
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

function count(value) {
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toLocaleString("en", { maximumFractionDigits: 1 });
}

function setWidth(element, fraction) {
  element.style.width = `${Math.max(0, Math.min(1, fraction)) * 100}%`;
}
