"use strict";
// Shows the contributions to the score of the row that the reader asks for.
(() => {
  const rows = JSON.parse(document.getElementById("content").textContent).lookup;
  const input = document.getElementById("row-number"), place = document.getElementById("row-explained");
  if (!input || !rows.steps) return;
  const MOST = 10;
  const node = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(3);
  function line(name, cell, step, largest) {
    const row = node("tr"), bar = node("i", undefined, step > 0 ? "up" : "down"), box = node("div"), room = node("td", undefined, "step");
    bar.style.width = `${(100 * Math.abs(step)) / largest}%`;
    box.append(bar); room.append(box); room.setAttribute("aria-hidden", "true");
    row.append(node("th", name), node("td", cell), room, node("td", signed(step), "n"));
    return row;
  }
  function show() {
    const number = Math.round(Number(input.value)), i = rows.numbers.indexOf(number), steps = rows.steps[i];
    place.replaceChildren();
    if (!steps) {
      const next = rows.numbers.find((each) => each > number);
      place.append(node("p", `There is no row ${input.value} here.${next === undefined ? "" : ` The next one is row ${next}.`}`, "note"));
      return;
    }
    const order = steps.map((_, j) => j).sort((a, b) => Math.abs(steps[b]) - Math.abs(steps[a]));
    const score = steps.reduce((sum, step) => sum + step, rows.base_value);
    place.append(node("p", `Row ${number}, label “${rows.labels[i]}”: score ${score.toFixed(3).replace("-", "−")}. The mean score is ${rows.base_value.toFixed(3).replace("-", "−")}.`, "muted"));
    const table = node("table", undefined, "steps"), body = node("tbody");
    const largest = Math.abs(steps[order[0]]) || 1;
    for (const j of order.slice(0, MOST)) body.append(line(rows.names[j], rows.cells[i][j], steps[j], largest));
    const rest = order.slice(MOST);
    if (rest.length) body.append(line(`${rest.length} other column${rest.length > 1 ? "s" : ""}`, "", rest.reduce((sum, j) => sum + steps[j], 0), largest));
    table.append(body); place.append(table);
  }
  input.addEventListener("input", show);
  show();
})();
