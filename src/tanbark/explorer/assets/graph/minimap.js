/* The whole drawing, small, with what is in view; a press or drag moves the view there. */

const MAP_WIDTH = 168;
const MAP_HEIGHT = 116;

class Minimap {
  constructor(view) {
    this.view = view;
    const { size, boxes } = view.drawing;
    const scale = Math.min(MAP_WIDTH / size[0], MAP_HEIGHT / size[1]);
    this.marks = boxes.map(([x, y, width, height]) => svg("rect", { class: "map-node", x, y, width, height }));
    this.frame = svg("rect", { class: "map-view", "vector-effect": "non-scaling-stroke" });
    this.element = svg("svg", { class: "minimap", viewBox: `0 0 ${size[0]} ${size[1]}`, width: Math.round(size[0] * scale), height: Math.round(size[1] * scale), "aria-hidden": "true" }, this.marks, this.frame);
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      this.centre(event);
    });
    this.element.addEventListener("pointermove", (event) => event.buttons & 1 && this.centre(event));
  }

  centre(event) {
    const { viewport, drawing } = this.view;
    const box = this.element.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * drawing.size[0];
    const y = ((event.clientY - box.top) / box.height) * drawing.size[1];
    viewport.place(viewport.room[0] / 2 - x * viewport.scale, viewport.room[1] / 2 - y * viewport.scale, viewport.scale);
  }

  /* Follow the view; there is no map where everything is in view. */
  move() {
    const { viewport, drawing } = this.view;
    const { left, top, scale, room } = viewport;
    const whole = left >= 0 && top >= 0 && left + drawing.size[0] * scale <= room[0] && top + drawing.size[1] * scale <= room[1];
    this.element.toggleAttribute("hidden", whole);
    if (whole) return;
    const values = { x: -left / scale, y: -top / scale, width: room[0] / scale, height: room[1] / scale };
    for (const [name, value] of Object.entries(values)) this.frame.setAttribute(name, value.toFixed(1));
  }

  mark(kind, chosen) {
    this.marks.forEach((mark, node) => mark.classList.toggle(kind, chosen(node)));
  }
}
