"use strict";
// Draws the charts and updates everything when the threshold changes.
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const { add, frame, line, band, bars, dot, chart, pick, percent, number } = Charts;
  const $ = (id) => document.getElementById(id);
  const T = content.thresholds;
  const last = T.thresholds.length - 1;
  const flaggedAt = (i) => T.true_positives[i] + T.false_positives[i];
  const recallAt = (i) => T.true_positives[i] / T.n_positive;
  const alarmsAt = (i) => T.false_positives[i] / T.n_negative;
  const precisionAt = (i) => (flaggedAt(i) ? T.true_positives[i] / flaggedAt(i) : null);
  const balancedAt = (i) => (1 + recallAt(i) - alarmsAt(i)) / 2;
  const costs = { alarm: T.false_alarm_cost, miss: T.miss_cost };
  const costAt = (i) => costs.alarm * T.false_positives[i] + costs.miss * (T.n_positive - T.true_positives[i]);
  const entries = T.thresholds.map((_, i) => i);
  const whole = content.data.is_weighted ? 2 : 0;
  const count = (n) => n.toLocaleString("en-US", { minimumFractionDigits: 0, maximumFractionDigits: whole });
  const share = (x) => (x === null ? "–" : `${(100 * x).toFixed(1)}%`);
  const money = (x) => x.toLocaleString("en-US", { maximumFractionDigits: 2 });

  // The entry of the largest value. Among adjacent ties, the middle one.
  function best(value) {
    let top = value(0), first = 0, end = 0;
    for (const i of entries.slice(1)) {
      const v = value(i), slack = 1e-12 * Math.abs(top);
      if (v > top + slack) { top = v; first = end = i; } else if (v >= top - slack && i === end + 1) end = i;
    }
    return Math.floor((first + end) / 2);
  }
  const balanced = best(balancedAt);
  let cheapest = best((i) => -costAt(i));
  let current = T.own ?? balanced;

  const named = (i) => T.probabilities ? `${T.thresholds[i]} (a probability of ${T.probabilities[i]})` : String(T.thresholds[i]);

  function set(id, text) { $(id).textContent = text; }

  let speaking;
  function show(entry) {
    current = Math.min(Math.max(entry, 0), last);
    const i = current, tp = T.true_positives[i], fp = T.false_positives[i];
    $("slider").value = last - i;
    const sentence = `At a threshold of ${named(i)}, ${count(flaggedAt(i))} of ${count(T.n_positive + T.n_negative)} rows are flagged. `
      + `${count(tp)} of ${count(T.n_positive)} positive rows are found and ${count(T.n_positive - tp)} are missed; ${count(fp)} flagged rows are negative.`;
    $("slider").setAttribute("aria-valuetext", `${named(i)}: recall ${share(recallAt(i))}, precision ${share(precisionAt(i))}`);
    set("threshold", String(T.thresholds[i]));
    if (T.probabilities) set("probability", String(T.probabilities[i]));
    set("tp", count(tp)); set("fn", count(T.n_positive - tp)); set("fp", count(fp)); set("tn", count(T.n_negative - fp));
    set("recall", share(recallAt(i))); set("precision", share(precisionAt(i)));
    set("alarms", share(alarmsAt(i))); set("balanced", share(balancedAt(i))); set("flagged", count(flaggedAt(i)));
    set("cost", money(costAt(i)));
    set("sentence", sentence);
    set("least", `The lowest possible cost is ${money(costAt(cheapest))}, at a threshold of ${named(cheapest)}.`);
    for (const [id, chosen] of [["to-balanced", balanced], ["to-cheapest", cheapest], ["to-own", T.own]]) {
      $(id)?.setAttribute("aria-pressed", String(chosen === i));
    }
    Charts.moveAll();
    clearTimeout(speaking);
    speaking = setTimeout(() => set("spoken", sentence), 500);
  }

  function nearest(value, distance) {
    return entries.reduce((a, b) => (distance(value(b)) < distance(value(a)) ? b : a), 0);
  }
  // Choose the threshold under the pointer, on a chart whose x axis is the score.
  const pickScore = (host) => pick(host, (x) => show(nearest((i) => host.scoreX(T.thresholds[i]), (v) => Math.abs(v - x))));

  const edges = content.histogram.edges;
  const scoreRange = [edges[0], edges[edges.length - 1]];
  const inRange = (v) => Math.min(Math.max(v, scoreRange[0]), scoreRange[1]);
  const odds = (p) => Math.log(p / (1 - p));
  const probabilities = [1e-5, 1e-4, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];
  const scoreAxis = content.histogram.is_probability
    ? { x: scoreRange, scale: odds, xTicks: probabilities.filter((p) => p >= scoreRange[0] && p <= scoreRange[1]), xFormat: String, xLabel: "probability" }
    : { x: scoreRange, xFormat: number, xLabel: "score" };

  function thresholdLine(f, labelled) {
    return () => {
      const x = f.X(inRange(T.thresholds[current]));
      f.moving.replaceChildren();
      if (labelled) add(f.moving, "rect", { class: "flagged", x, y: f.Y(f.y[1]), width: Math.max(f.X(f.x[1]) - x, 0), height: f.Y(f.y[0]) - f.Y(f.y[1]) });
      add(f.moving, "line", { class: "now-line", x1: x, x2: x, y1: f.Y(f.y[1]) - 4, y2: f.Y(f.y[0]) });
      if (labelled) {
        const end = x > f.width - 150;
        add(f.moving, "text", { class: "label", x: x + (end ? -7 : 7), y: f.Y(f.y[1]) + 6, "text-anchor": end ? "end" : "start" }, end ? "flagged from here →" : "→ flagged from here");
      }
      return x;
    };
  }

  chart("distributions", (host) => {
    const h = content.histogram;
    const top = Math.max(...h.positives, ...h.negatives);
    const f = frame(host, { ...scoreAxis, y: [0, top * 1.08], ratio: 0.62, tallest: 300, yLabel: "share of the class" });
    bars(f, h.edges, h.negatives, "area-neg");
    bars(f, h.edges, h.positives, "area-pos");
    host.scoreX = (v) => f.X(inRange(v));
    pickScore(host);
    return thresholdLine(f, true);
  });

  const shown = entries.slice(1);
  chart("tradeoff", (host) => {
    const f = frame(host, { ...scoreAxis, y: [0, 1], ratio: 0.62, tallest: 260, yLabel: "" });
    const visible = shown.filter((i) => T.thresholds[i] >= scoreRange[0] && T.thresholds[i] <= scoreRange[1]);
    line(f, visible.map((i) => T.thresholds[i]), visible.map(precisionAt), "neg");
    line(f, visible.map((i) => T.thresholds[i]), visible.map(recallAt), "pos");
    host.scoreX = (v) => f.X(inRange(v));
    pickScore(host);
    const move = thresholdLine(f, false);
    return () => {
      const x = move();
      add(f.moving, "circle", { class: "now", cx: x, cy: f.Y(recallAt(current)), r: 5 });
      if (current) add(f.moving, "circle", { class: "now", cx: x, cy: f.Y(precisionAt(current)), r: 5 });
    };
  });

  chart("costs", (host) => {
    const visible = entries.filter((i) => T.thresholds[i] >= scoreRange[0] && T.thresholds[i] <= scoreRange[1]);
    const values = visible.map(costAt);
    const top = Math.max(...values) || 1;
    const f = frame(host, { ...scoreAxis, y: [0, top * 1.05], ratio: 0.62, tallest: 260, yLabel: "", yFormat: (v) => v.toLocaleString("en-US", { notation: "compact" }) });
    line(f, visible.map((i) => T.thresholds[i]), values, "accent");
    dot(f, inRange(T.thresholds[cheapest]), costAt(cheapest), "best", 6);
    host.scoreX = (v) => f.X(inRange(v));
    pickScore(host);
    const move = thresholdLine(f, false);
    return () => add(f.moving, "circle", { class: "now", cx: move(), cy: f.Y(Math.min(costAt(current), f.y[1])), r: 5 });
  });

  function rates(id, curve, options, chance, place, part) {
    chart(id, (host) => {
      const f = frame(host, { x: [0, 1], y: [0, 1], ratio: 0.9, tallest: 420, ...options });
      if (part) f.svg.insertBefore(add(f.svg, "rect", { class: "part", x: f.X(0), y: f.Y(1), width: f.X(part.max_fpr) - f.X(0), height: f.Y(part.min_tpr) - f.Y(1) }), f.moving);
      f.svg.insertBefore(add(f.svg, "path", { class: "chance", d: `M${f.X(0)} ${f.Y(chance[0])}L${f.X(1)} ${f.Y(chance[1])}` }), f.moving);
      band(f, curve.band_x, curve.low, curve.high);
      line(f, curve.x, curve.y, "accent");
      host.placeOf = (i) => { const [x, y] = place(i); return [f.X(x), f.Y(y)]; };
      pick(host, (x, y) => show(nearest(host.placeOf, ([a, b]) => (a - x) ** 2 + (b - y) ** 2)));
      return () => {
        f.moving.replaceChildren();
        const [cx, cy] = host.placeOf(current);
        add(f.moving, "circle", { class: "now", cx, cy, r: 6 });
      };
    });
  }
  rates("roc", content.roc, { xLabel: "false positive rate", yLabel: "recall" }, [0, 1], (i) => [alarmsAt(i), recallAt(i)], content.part);
  const base = T.n_positive / (T.n_positive + T.n_negative);
  rates("precision-recall", content.precision_recall, { xLabel: "recall", yLabel: "precision" }, [base, base], (i) => [recallAt(i), precisionAt(i) ?? 1]);

  chart("calibration", (host) => {
    const c = content.calibration;
    // If all probabilities are small, or all are large, show that corner only.
    const lowest = Math.min(...c.predicted, ...c.low), highest = Math.max(...c.predicted, ...c.high);
    const range = highest < 0.5 ? [0, highest * 1.05] : lowest > 0.5 ? [1 - (1 - lowest) * 1.05, 1] : [0, 1];
    const f = frame(host, { x: range, y: range, ratio: 0.9, tallest: 420, xLabel: "probability", yLabel: "share of positives" });
    f.svg.insertBefore(add(f.svg, "path", { class: "chance", d: `M${f.X(range[0])} ${f.Y(range[0])}L${f.X(range[1])} ${f.Y(range[1])}` }), f.moving);
    c.predicted.forEach((p, i) => f.svg.insertBefore(add(f.svg, "line", { class: "whisker", x1: f.X(p), x2: f.X(p), y1: f.Y(c.low[i]), y2: f.Y(c.high[i]) }), f.moving));
    line(f, c.predicted, c.observed, "accent");
    c.predicted.forEach((p, i) => dot(f, p, c.observed[i], "dot", 4));
  });

  chart("sizes", (host) => {
    const s = content.sizes;
    const every = [...s.low, ...s.high, ...s.train, ...s.cv_auc];
    const low = Math.max(0, Math.min(...every)), high = Math.min(1, Math.max(...every));
    const room = (high - low) * 0.08 || 0.01;
    const sizes = [...s.n_basis, ...s.cv_n_basis];
    const most = Math.max(...sizes), least = Math.min(...sizes);
    const powers = [];
    for (let n = 1; n <= most; n *= 2) if (n >= least) powers.push(n);
    const f = frame(host, {
      x: [least, Math.max(most, least + 1)], y: [low - room, Math.min(1, high + room)], scale: Math.log2, left: 52, ratio: 0.55, tallest: 340,
      xTicks: powers.length > 1 ? powers : [least, most], xFormat: String, yFormat: (v) => String(Number(v.toFixed(4))),
      xLabel: "number of centres", yLabel: "AUC",
    });
    band(f, s.n_basis, s.low, s.high);
    if (s.cv_n_basis.length) line(f, s.cv_n_basis, s.cv_auc, "pos");
    line(f, s.n_basis, s.train, "quiet");
    line(f, s.n_basis, s.test, "accent");
    s.n_basis.forEach((n, i) => dot(f, n, s.test[i], "dot full", 3));
    const i = s.n_basis.indexOf(s.chosen);
    if (i < 0) return;
    const x = f.X(s.chosen), end = x > f.width * 0.7;
    dot(f, s.chosen, s.test[i], "dot", 7);
    const y = f.Y(s.low[i]) + 16 < f.Y(f.y[0]) ? f.Y(s.low[i]) + 16 : f.Y(s.test[i]) + 24;
    add(f.svg, "text", { class: "label", x: x + (end ? 6 : -6), y, "text-anchor": end ? "end" : "start" }, `chosen: ${s.chosen}`);
  });

  // Recall increases along the entries. The first entry with the wanted recall flags the fewest rows.
  function wantRecall() {
    const wanted = Number($("wanted-recall").value) / 100;
    show(entries.find((i) => recallAt(i) >= wanted - 1e-12) ?? last);
  }
  function wantPrecision() {
    const wanted = Number($("wanted-precision").value) / 100;
    const good = shown.filter((i) => precisionAt(i) >= wanted - 1e-12);
    if (good.length) { show(good[good.length - 1]); return; }
    show(best((i) => precisionAt(i) ?? 0));
    set("sentence", `No threshold has a precision of ${$("wanted-precision").value}%. This is the one with the highest precision.`);
  }
  function newCosts() {
    for (const [key, id] of [["alarm", "alarm-cost"], ["miss", "miss-cost"]]) {
      const value = Number($(id).value);
      if ($(id).value !== "" && value >= 0) costs[key] = value;
    }
    cheapest = best((i) => -costAt(i));
    Charts.redrawAll();
    show(current);
  }

  $("slider").max = last;
  $("slider").addEventListener("input", () => show(last - Number($("slider").value)));
  $("to-balanced").addEventListener("click", () => show(balanced));
  $("to-cheapest").addEventListener("click", () => show(cheapest));
  $("to-own")?.addEventListener("click", () => show(T.own));
  for (const [id, act] of [["recall", wantRecall], ["precision", wantPrecision]]) {
    $(`to-${id}`).addEventListener("click", act);
    $(`wanted-${id}`).addEventListener("keydown", (event) => { if (event.key === "Enter") act(); });
  }
  $("alarm-cost").addEventListener("input", newCosts);
  $("miss-cost").addEventListener("input", newCosts);

  const themes = ["auto", "light", "dark"];
  function wear(theme) {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    $("theme").textContent = `Theme: ${theme}`;
    $("theme").dataset.now = theme;
  }
  $("theme").addEventListener("click", () => {
    const theme = themes[(themes.indexOf($("theme").dataset.now) + 1) % themes.length];
    wear(theme);
    try { localStorage.setItem("skauc-theme", theme); } catch { /* not available in a private window */ }
  });
  let kept = "auto";
  try { kept = localStorage.getItem("skauc-theme") ?? "auto"; } catch { /* not available */ }
  wear(themes.includes(kept) ? kept : "auto");
  show(current);
})();
