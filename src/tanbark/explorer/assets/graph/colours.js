/* Colours of states that do not repeat within a variable and that people with any colour vision can tell apart:
   the palette of Okabe and Ito for categories, steps of viridis for numbers and for many categories. */

const CATEGORY_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"];
const RAMP = [[59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]; // viridis from a quarter of its length on
const MISSING_COLOUR = "#8c8c8c";

function isOrdered(column) {
  return column.kind === "interval" || (column.levels ?? []).every((level) => typeof level === "number");
}

function isRamp(column) {
  return isOrdered(column) || column.labels.length - (column.missing ? 1 : 0) > CATEGORY_COLOURS.length;
}

/* A colour by state; a state for missing values is grey. */
function stateColours(column) {
  const size = column.labels.length - (column.missing ? 1 : 0);
  const ramp = isRamp(column);
  const colours = Array.from({ length: size }, (_, state) => (ramp ? rampColour(size === 1 ? 0 : state / (size - 1)) : CATEGORY_COLOURS[state]));
  return column.missing ? [...colours, MISSING_COLOUR] : colours;
}

function rampColour(place) {
  const at = place * (RAMP.length - 1);
  const low = Math.min(Math.floor(at), RAMP.length - 2);
  const mixed = RAMP[low].map((value, k) => Math.round(value + (RAMP[low + 1][k] - value) * (at - low)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
