/* The drawing as a file of its own: its styles become attributes, so that any program shows it alike. */

const KEPT_STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "paint-order", "stroke-linejoin"];
const MOST_PIXELS = 12000; // of a side of a PNG

/* A drawing of its own at its full size, with a background. */
function standalone(world, size) {
  const copy = world.cloneNode(true);
  copy.removeAttribute("transform");
  writeStyles(world, copy);
  const style = getComputedStyle(world.ownerSVGElement);
  const ground = svg("rect", { width: size[0], height: size[1], fill: style.backgroundColor });
  return svg("svg", { viewBox: `0 0 ${size[0]} ${size[1]}`, width: size[0], height: size[1] }, ground, copy);
}

function writeStyles(from, to) {
  const style = getComputedStyle(from);
  if (style.display === "none") {
    to.remove();
    return;
  }
  if (from.localName !== "title") for (const name of KEPT_STYLES) to.setAttribute(name, style.getPropertyValue(name));
  for (const name of ["class", "style", "tabindex", "role", "aria-haspopup", "aria-hidden"]) to.removeAttribute(name);
  [...to.children].forEach((child, k) => writeStyles(from.children[k], child));
}

function serialise(element) {
  return new XMLSerializer().serializeToString(element);
}

/* Draw an SVG into pixels, two for each of its own where that is not too many. */
async function rasterise(text, [width, height]) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await picture.decode();
  const scale = Math.min(2, MOST_PIXELS / Math.max(width, height));
  const canvas = h("canvas", { width: Math.round(width * scale), height: Math.round(height * scale) });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function saveFile(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

function fileName(title, ending) {
  return `${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "network"}.${ending}`;
}
