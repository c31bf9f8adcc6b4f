"use strict";
// Small SVG charts: axes, lines, bands and bars. They are drawn again when their width changes.
const Charts = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const all = [];
  let onPaper = false;

  function add(parent, name, attributes = {}, text) {
    const node = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  // Round steps with at most `most` ticks between two numbers.
  function ticks(low, high, most) {
    const raw = (high - low) / Math.max(most, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
    return found.map((t) => Number(t.toPrecision(12)));
  }

  const number = (value) => String(Number(value.toPrecision(4))).replace("-", "−");
  const percent = (share) => `${number(100 * share)}%`;

  function frame(host, options) {
    // In print, the drawing is scaled to its column. A smaller drawing keeps its text large.
    const width = Math.max(onPaper ? host.clientWidth * 0.65 : host.clientWidth, 200);
    const left = options.left ?? 44;
    const pad = { left, right: 14, top: 26, bottom: 42 };
    const height = Math.round(Math.min(options.tallest ?? 340, Math.max(width * (options.ratio ?? 0.8), 230)));
    host.replaceChildren();
    const svg = add(host, "svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" });
    const [x0, x1] = options.x, [y0, y1] = options.y;
    const scale = options.scale ?? ((v) => v);
    const X = (v) => pad.left + ((scale(v) - scale(x0)) / (scale(x1) - scale(x0) || 1)) * (width - pad.left - pad.right);
    const Y = (v) => height - pad.bottom - ((v - y0) / (y1 - y0 || 1)) * (height - pad.top - pad.bottom);
    const xTicks = options.xTicks ?? ticks(x0, x1, width < 420 ? 4 : 7);
    const yTicks = ticks(y0, y1, 5);
    for (const t of yTicks) {
      add(svg, "line", { class: "grid-line", x1: X(x0), x2: X(x1), y1: Y(t), y2: Y(t) });
      add(svg, "text", { x: pad.left - 8, y: Y(t) + 4, "text-anchor": "end" }, (options.yFormat ?? percent)(t));
    }
    add(svg, "line", { class: "axis", x1: X(x0), x2: X(x1), y1: Y(y0), y2: Y(y0) });
    let taken = -Infinity; // a label that would overlap the previous one is left out
    for (const t of xTicks) {
      const label = (options.xFormat ?? percent)(t), half = label.length * 3.6;
      add(svg, "line", { class: "axis", x1: X(t), x2: X(t), y1: Y(y0), y2: Y(y0) + 4 });
      if (X(t) - half < taken + 4) continue;
      taken = X(t) + half;
      add(svg, "text", { x: X(t), y: Y(y0) + 18, "text-anchor": "middle" }, label);
    }
    add(svg, "text", { x: X(x1), y: height - 4, "text-anchor": "end" }, options.xLabel);
    add(svg, "text", { x: 0, y: 12 }, options.yLabel);
    return { svg, X, Y, width, height, x: options.x, y: options.y, moving: add(svg, "g") };
  }

  const path = (f, xs, ys) => xs.map((x, i) => `${i ? "L" : "M"}${f.X(x).toFixed(1)} ${f.Y(ys[i]).toFixed(1)}`).join("");

  function line(f, xs, ys, name) {
    const node = add(f.svg, "path", { class: `line ${name}`, d: path(f, xs, ys) });
    f.svg.insertBefore(node, f.moving);
  }

  function band(f, xs, low, high) {
    const d = path(f, xs, high) + path(f, [...xs].reverse(), [...low].reverse()).replace("M", "L") + "Z";
    f.svg.insertBefore(add(f.svg, "path", { class: "band", d }), f.moving);
  }

  // A histogram as one outline.
  function bars(f, edges, heights, name) {
    let d = `M${f.X(edges[0])} ${f.Y(0)}`;
    heights.forEach((h, i) => { d += `V${f.Y(h).toFixed(1)}H${f.X(edges[i + 1]).toFixed(1)}`; });
    f.svg.insertBefore(add(f.svg, "path", { class: name, d: `${d}V${f.Y(0)}Z` }), f.moving);
  }

  function dot(f, x, y, name, radius = 5) {
    f.svg.insertBefore(add(f.svg, "circle", { class: name, cx: f.X(x), cy: f.Y(y), r: radius }), f.moving);
  }

  // Register a chart: `draw(host)` draws it and returns a function that updates the threshold.
  function chart(id, draw) {
    const host = document.getElementById(id);
    if (!host) return;
    const entry = { host, draw, width: 0, move: null };
    all.push(entry);
    new ResizeObserver(() => {
      if (Math.abs(host.clientWidth - entry.width) < 1) return;
      redraw(entry);
    }).observe(host);
    redraw(entry);
  }

  function redraw(entry) {
    entry.width = entry.host.clientWidth;
    entry.move = entry.draw(entry.host) ?? null;
    entry.move?.();
  }

  // Call `choose(x, y)` with the position of a click or drag, in pixels of the drawing.
  function pick(host, choose) {
    if (host.dataset.picks) return;
    host.dataset.picks = "yes";
    host.classList.add("pick");
    const at = (event) => {
      const svg = host.querySelector("svg");
      const box = svg.getBoundingClientRect();
      const zoom = svg.viewBox.baseVal.width / box.width;
      choose((event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom);
    };
    host.addEventListener("pointerdown", (event) => { host.setPointerCapture(event.pointerId); at(event); });
    host.addEventListener("pointermove", (event) => { if (event.buttons) at(event); });
  }

  function print(is) {
    onPaper = is;
    all.forEach(redraw);
  }
  window.addEventListener("beforeprint", () => print(true));
  window.addEventListener("afterprint", () => print(false));

  return {
    add, frame, line, band, bars, dot, chart, pick, percent, number, ticks,
    redrawAll: () => all.forEach(redraw),
    moveAll: () => all.forEach((entry) => entry.move?.()),
  };
})();
