const byId = (id) => document.getElementById(id);
const typicalRow = () => rowOf(program.columns.map(({ typical }) => typical));
const signed = (text) => text.replace("-", "−");
const short = (x) => (Number.isFinite(x) ? signed(String(Number(x.toPrecision(4)))) : "–");
let row = typicalRow();
let background = typicalRow();
let comparedWith = "a typical row";
let example = 0;

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// Returns a control, and a function that shows a value in it.
const controls = {
  numeric({ low, high, typical, optional }, id, set) {
    const whole = [low, high, typical].every(Number.isInteger);
    const field = make("input", { type: "number", id, step: "any" });
    const slider = make("input", { type: "range", min: low, max: high, step: whole ? 1 : "any", ariaLabel: "slider" });
    const box = make("input", { type: "checkbox", id: `${id}-missing` });
    const choose = (value) => {
      set(value);
      show(value);
    };
    const show = (value) => {
      if (document.activeElement !== field) field.value = value === null ? "" : Number(value.toPrecision(6));
      if (value !== null) slider.value = value;
      box.checked = value === null;
      slider.className = value === null ? "faded" : "";
    };
    field.oninput = () => (field.value !== "" || optional) && choose(field.value === "" ? null : field.valueAsNumber);
    slider.oninput = () => choose(slider.valueAsNumber);
    box.onchange = () => choose(box.checked ? null : slider.valueAsNumber);
    const missing = make("span", {}, box, make("label", { htmlFor: box.id, className: "small" }, "missing"));
    return [[slider, field, ...(optional ? [missing] : [])], show];
  },
  choice(values, names, id, set) {
    const select = make("select", { id }, ...names.map((name) => make("option", {}, name)));
    select.onchange = () => set(values[select.selectedIndex]);
    return [[select], (value) => (select.selectedIndex = values.indexOf(value))];
  },
  boolean: (column, id, set) => controls.choice([1, 0, null], ["yes", "no", "(missing)"], id, set),
  category({ levels }, id, set) {
    const known = levels.filter((level) => level !== "");
    let other = "another value";
    while (levels.includes(other)) other += "_";
    const [elements, show] = controls.choice([...known, other, null], [...known, `(${other})`, "(missing)"], id, set);
    return [elements, (value) => show(value === "" || value === null ? null : known.includes(value) ? value : other)];
  },
  date(column, id, set) {
    const field = make("input", { type: "datetime-local", id, step: 1 });
    field.oninput = () => set(field.value === "" ? null : Date.parse(`${field.value}Z`) / 1000);
    return [[field], (value) => (field.value = value === null ? "" : new Date(value * 1000).toISOString().slice(0, 19))];
  },
  text(column, id, set) {
    const field = make("input", { type: "text", id });
    field.oninput = () => set(field.value);
    return [[field], (value) => (field.value = value ?? "")];
  },
};

const shown = program.columns.map((column, j) => {
  const id = `column-${j}`;
  const set = (value) => {
    row[column.name] = value;
    update();
  };
  const [elements, show] = controls[column.kind](column, id, set);
  const [bar, value] = [make("i"), make("output", { htmlFor: id })];
  byId("columns").append(
    make("div", { className: "column" },
      make("label", { htmlFor: id }, column.name),
      make("div", { className: "control" }, ...elements),
      make("div", { className: "part" }, make("div", { className: "track" }, bar), value)),
  );
  return { show, bar, value };
});

function update() {
  const found = score(row);
  const { base, values, exact } = contributions(row, background);
  const parts = program.columns.map(({ name }) => values[name]);
  const largest = Math.max(...parts.map(Math.abs), 1e-12);
  const decimals = Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(largest))));
  shown.forEach(({ bar, value }, j) => {
    const share = (50 * Math.abs(parts[j])) / largest;
    Object.assign(bar.style, { width: `${share}%`, left: `${parts[j] < 0 ? 50 - share : 50}%`, background: `var(--${parts[j] < 0 ? "neg" : "pos"})` });
    value.textContent = parts[j] === 0 ? "0" : (parts[j] > 0 ? "+" : "") + signed(parts[j].toFixed(decimals));
  });
  const word = exact ? "exact Shapley values" : "Shapley values, estimated from 100 orders of the columns";
  byId("note").textContent = `Bars: how each column moves the score from ${short(base)} (${comparedWith}) to ${short(found)}; ${word}.`;
  showResult(found);
}

function showResult(found) {
  const { label: ends, calibration, range } = program;
  const probable = calibration ? probabilityOfScore(found) : null;
  const percent = (x) => `${Number((100 * x).toPrecision(3))}%`;
  byId("figures").textContent = `score ${short(found)}` + (calibration ? `, probability ${percent(probable)}` : "");
  const place = (x) => `${100 * Math.min(1, Math.max(0, calibration ? x : (x - range[0]) / (range[1] - range[0])))}%`;
  byId("bar").style.width = place(calibration ? probable : found);
  byId("mark").hidden = !ends;
  if (!ends) return;
  byId("mark").style.left = place(ends.threshold);
  const predicted = labelOfScore(found);
  byId("label").textContent = `predicted: ${predicted}`;
  byId("label").className = predicted === ends.names[1] ? "pos" : "neg";
  byId("threshold").textContent = `“${ends.names[1]}” ${ends.included ? "from" : "above"} a ${calibration ? `probability of ${percent(ends.threshold)}` : `score of ${short(ends.threshold)}`} (the mark)`;
}

function load(values) {
  row = values;
  document.activeElement?.blur();
  shown.forEach(({ show }, j) => show(row[program.columns[j].name]));
  update();
}

byId("columns").onsubmit = (event) => event.preventDefault();
byId("typical").onclick = () => load(typicalRow());
byId("example").onclick = () => load(rowOf(program.test.rows[++example % program.test.rows.length]));
byId("compare").onclick = () => {
  background = { ...row };
  comparedWith = "the row that you compare with";
  update();
};
const failed = selfTest();
const about = { ...program.provenance, "self-test": failed ? `${failed} of ${program.test.rows.length} rows failed` : "passed" };
Object.entries(about).forEach(([name, value]) => byId("about").append(make("dt", { className: "muted" }, name), make("dd", {}, value)));
load(row);
