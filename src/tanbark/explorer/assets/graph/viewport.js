/* What part of a drawing is seen: a point (x, y) of the drawing is shown at (x * scale + left, y * scale + top).
   Drag pans, the wheel and two fingers zoom about where they are. */

const PRESS = 4; // pixels before a press becomes a drag
const GLIDE = 220; // milliseconds of a movement
const LARGEST = 4;
const EDGE = 14; // pixels around a drawing that fits
const KEPT = 60; // pixels of the drawing that stay in view

class Viewport {
  constructor(element, size, changed) {
    Object.assign(this, { element, size, changed, left: 0, top: 0, scale: 1, room: [0, 0], fitted: true });
    this.pointers = new Map();
    this.dragged = false;
    this.glide = null;
    element.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.onDown(event));
    element.addEventListener("pointermove", (event) => this.onMove(event));
    for (const end of ["pointerup", "pointercancel"]) element.addEventListener(end, (event) => this.onUp(event));
    element.addEventListener("click", (event) => this.onClick(event), true);
  }

  get fitting() {
    const [width, height] = this.room;
    return Math.max(0.02, Math.min(1.2, (width - 2 * EDGE) / this.size[0], (height - 2 * EDGE) / this.size[1]));
  }

  get smallest() {
    return Math.min(0.2, this.fitting);
  }

  /* Take the size of the element; give back whether there is any room. */
  measure() {
    this.room = [this.element.clientWidth, this.element.clientHeight];
    return this.room[0] > 20 && this.room[1] > 20;
  }

  place(left, top, scale, fitted = false) {
    const bounded = Math.max(this.smallest, Math.min(LARGEST, scale));
    const keep = (value, room, length) => Math.max(KEPT - length * bounded, Math.min(room - KEPT, value));
    this.left = keep(left, this.room[0], this.size[0]);
    this.top = keep(top, this.room[1], this.size[1]);
    this.scale = bounded;
    this.fitted = fitted;
    this.changed();
  }

  /* Go to a place in some steps, or at once where motion is not wanted. */
  go(left, top, scale, fitted = false) {
    cancelAnimationFrame(this.glide);
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.place(left, top, scale, fitted);
      return;
    }
    const from = [this.left, this.top, this.scale];
    const start = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, now - start) / GLIDE);
      const eased = t * (2 - t);
      const zoomed = from[2] * (scale / from[2]) ** eased;
      const part = scale === from[2] ? eased : (zoomed - from[2]) / (scale - from[2]);
      this.place(from[0] + (left - from[0]) * part, from[1] + (top - from[1]) * part, zoomed, fitted);
      this.glide = t < 1 ? requestAnimationFrame(step) : null;
    };
    this.glide = requestAnimationFrame(step);
  }

  /* Show the whole drawing, in its width and its height. */
  fit({ glide = false } = {}) {
    const scale = this.fitting;
    const [left, top] = this.room.map((room, k) => (room - this.size[k] * scale) / 2);
    if (glide) this.go(left, top, scale, true);
    else this.place(left, top, scale, true);
  }

  /* Show the surroundings of a box at a scale, without room beyond the edges of the drawing that could show more of it. */
  begin([x, y, width, height], scale) {
    const along = (k, middle) => {
      const [room, length] = [this.room[k], this.size[k] * scale];
      if (length < room) return (room - length) / 2;
      return Math.max(room - length - EDGE, Math.min(EDGE, room / 2 - middle * scale));
    };
    this.place(along(0, x + width / 2), along(1, y + height / 2), scale);
  }

  /* Show a part of the drawing, no larger than it is. */
  show([x, y, width, height]) {
    const scale = Math.max(this.smallest, Math.min(1, (this.room[0] - 60) / width, (this.room[1] - 60) / height));
    this.go(this.room[0] / 2 - (x + width / 2) * scale, this.room[1] / 2 - (y + height / 2) * scale, scale);
  }

  /* Move as little as needed to have a box in view, above what covers the lower edge. */
  reveal([x, y, width, height], covered = 0) {
    const into = (at, length, room) => {
      const first = at * this.scale;
      const last = (at + length) * this.scale;
      return [12 - first, room - 12 - last];
    };
    const clamp = (value, [low, high]) => (low > high ? (low + high) / 2 : Math.max(low, Math.min(high, value)));
    const left = clamp(this.left, into(x, width, this.room[0]));
    const top = clamp(this.top, into(y, height, this.room[1] - covered));
    if (left !== this.left || top !== this.top) this.go(left, top, this.scale);
  }

  zoom(factor, [x, y] = this.room.map((room) => room / 2)) {
    cancelAnimationFrame(this.glide);
    const scale = Math.max(this.smallest, Math.min(LARGEST, this.scale * factor));
    const grown = scale / this.scale;
    this.place(x - (x - this.left) * grown, y - (y - this.top) * grown, scale);
  }

  pan(right, down) {
    cancelAnimationFrame(this.glide);
    this.place(this.left + right, this.top + down, this.scale);
  }

  /* Whether a box is in view, at least in part. */
  sees([x, y, width, height]) {
    const { left, top, scale, room } = this;
    return (x + width) * scale + left > 0 && x * scale + left < room[0] && (y + height) * scale + top > 0 && y * scale + top < room[1];
  }

  /* ------------------------------------------------------------ hands */

  at(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  onWheel(event) {
    event.preventDefault();
    const unit = [1, 16, this.room[1]][event.deltaMode];
    const step = Math.max(-120, Math.min(120, event.deltaY * unit));
    this.zoom(Math.exp(-step * (event.ctrlKey ? 0.01 : 0.0022)), this.at(event));
  }

  onDown(event) {
    if (event.button !== 0) return;
    if (this.pointers.size === 0) this.dragged = false;
    this.pointers.set(event.pointerId, { start: this.at(event), last: this.at(event) });
  }

  onMove(event) {
    const pointer = this.pointers.get(event.pointerId);
    if (pointer === undefined) return;
    const now = this.at(event);
    if (!this.dragged && Math.hypot(now[0] - pointer.start[0], now[1] - pointer.start[1]) < PRESS) return;
    if (!this.dragged) {
      this.dragged = true;
      for (const id of this.pointers.keys()) this.element.setPointerCapture(id);
    }
    const before = [...this.pointers.values()].map(({ last }) => last);
    pointer.last = now;
    const after = [...this.pointers.values()].map(({ last }) => last);
    if (after.length > 1) this.pinch(before, after);
    else this.pan(after[0][0] - before[0][0], after[0][1] - before[0][1]);
  }

  pinch(before, after) {
    const spread = ([a, b]) => Math.max(10, Math.hypot(a[0] - b[0], a[1] - b[1]));
    const middle = ([a, b]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    const [from, to] = [middle(before), middle(after)];
    this.zoom(spread(after) / spread(before), from);
    this.pan(to[0] - from[0], to[1] - from[1]);
  }

  onUp(event) {
    this.pointers.delete(event.pointerId);
  }

  /* The click that ends a drag is none. */
  onClick(event) {
    if (!this.dragged) return;
    this.dragged = false;
    event.stopPropagation();
    event.preventDefault();
  }
}
