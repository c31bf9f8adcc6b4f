const DAY = 86400;

// Returns the values of a row in the order of the columns: numbers, NaN, strings.
function cells(row) {
  return program.columns.map(({ name, kind, optional }) => {
    if (!Object.hasOwn(row, name)) {
      throw new Error(`The row has no column ${JSON.stringify(name)}. Use null for a missing value.`);
    }
    const given = row[name];
    const value = given instanceof Date ? given / 1000 : typeof given === "boolean" ? +given : given;
    if (value === null || value === undefined || Number.isNaN(value) || value === "") {
      if (!optional) throw new Error(`Column ${JSON.stringify(name)} must have a value; got ${given}.`);
      return kind === "category" || kind === "text" ? "" : NaN;
    }
    const type = kind === "category" || kind === "text" ? "string" : "number";
    if (typeof value !== type) {
      throw new Error(`Column ${JSON.stringify(name)} takes a ${type} or null; got ${JSON.stringify(given)}.`);
    }
    return value;
  });
}

// Each block appends the features that it makes of some columns.
const blocks = {
  values: (block, row, z) => block.columns.forEach((j) => z.push(row[j])),
  missing: (block, row, z) => block.columns.forEach((j) => z.push(+Number.isNaN(row[j]))),
  dates({ column, fill, shift, scale, periods }, row, z) {
    const seconds = Number.isNaN(row[column]) ? fill : row[column];
    z.push((seconds / DAY - shift) / scale);
    for (const period of periods) {
      const since = seconds - period * Math.floor(seconds / period);
      const angle = 2 * Math.PI * (since / period);
      z.push(Math.sin(angle), Math.cos(angle));
    }
  },
  steps({ column, edges, values, missing }, row, z) {
    const place = edges.findIndex((edge) => row[column] <= edge);
    z.push(Number.isNaN(row[column]) ? missing : values.at(place));
  },
  levels: ({ column }, row, z) =>
    program.columns[column].levels.forEach((level) => z.push(+(level === row[column]))),
  codes({ column, values, other }, row, z) {
    const place = program.columns[column].levels.indexOf(row[column]);
    z.push(place < 0 ? other : values[place]);
  },
  words({ column }, row, z) {
    const found = new Set(row[column].toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu));
    program.columns[column].levels.forEach((word) => z.push(+found.has(word)));
  },
};

// Each stage returns the new value of feature j, which is number i of the stage.
const stages = {
  fill: ({ values }, x, i) => (Number.isNaN(x) ? values[i] : x),
  affine: ({ shift, scale }, x, i) => (x - shift[i]) / scale[i],
  arcsinh: (stage, x) => Math.asinh(x),
  clip({ limit, farthest }, x) {
    const near = Math.min(Math.max(x, -farthest), farthest);
    return near / Math.sqrt(1 + (near / limit) ** 2);
  },
  log: ({ chosen, least, offset }, x, i) => (chosen[i] ? Math.log(Math.max(x, least[i]) + offset[i]) : x),
  ranks: ({ curves, images }, x, i) => interpolate(curves[i], x, images),
};

function interpolate({ knots, levels }, x, images) {
  const at = (knot) => (images ? images[levels[knot]] : levels[knot]);
  const last = knots.length - 1;
  if (!(x > knots[0])) return x <= knots[0] ? at(0) : NaN;
  if (x >= knots[last]) return at(last);
  let low = 0;
  for (let high = last; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if (knots[middle] <= x) low = middle;
    else high = middle;
  }
  const slope = (at(low + 1) - at(low)) / (knots[low + 1] - knots[low]);
  return at(low) + slope * (x - knots[low]);
}

function features(row) {
  const z = [];
  for (const block of program.blocks) blocks[block.kind](block, row, z);
  for (const stage of program.stages) {
    for (let j = stage.start; j < stage.stop; j++) z[j] = stages[stage.kind](stage, z[j], j - stage.start);
  }
  if (!program.axes) return z;
  return program.axes[0].map((_, k) => z.reduce((sum, value, j) => sum + value * program.axes[j][k], 0));
}

// Returns the term of feature j in the exponent or in the product of a kernel.
const terms = {
  gaussian: (z, c, j) => program.weights[j] * (z - c) ** 2,
  laplacian: (z, c, j) => program.weights[j] * Math.abs(z - c),
  polynomial: (z, c, j) => program.weights[j] * z * c,
  local: (z, c, j, m) => (program.weights[m][j] * (z - c)) ** 2,
};

function kernel(z, m) {
  if (program.ridges && program.ridges[m]) {
    return Math.exp(-(program.centres[m].reduce((sum, c, j) => sum + program.weights[m][j] * (z[j] - c), 0) ** 2));
  }
  const term = terms[program.shape];
  const sum = program.centres[m].reduce((total, c, j) => total + term(z[j], c, j, m), 0);
  if (program.shape === "polynomial") return (sum + program.offset) ** program.degree;
  return Math.exp(-sum * (program.ratios ? program.ratios[m] : 1));
}

function scoreFeatures(z) {
  let sum = program.intercept;
  if (program.linear) program.linear.forEach((slope, j) => (sum += slope * z[j]));
  program.coef.forEach((coef, m) => (sum += coef * kernel(z, m)));
  return sum;
}

function probabilityOfScore(score) {
  const { kind, slope, offset } = program.calibration;
  return kind === "sigmoid" ? 1 / (1 + Math.exp(slope * score + offset)) : interpolate(program.calibration, score);
}

function labelOfScore(score) {
  const { names, threshold, included } = program.label;
  const value = program.calibration ? probabilityOfScore(score) : score;
  return names[+(included ? value >= threshold : value > threshold)];
}

const score = (row) => scoreFeatures(features(cells(row)));
const probability = (row) => probabilityOfScore(score(row));
const label = (row) => labelOfScore(score(row));

function rowOf(values) {
  return Object.fromEntries(program.columns.map(({ name }, j) => [name, values[j]]));
}

// Returns the number of test rows with a wrong score: 0 if the program works here.
function selfTest() {
  const { rows, scores } = program.test;
  return rows.filter((values, i) => {
    const error = Math.abs(score(rowOf(values)) - scores[i]);
    return !(error <= program.test.tolerance * Math.max(1, Math.abs(scores[i])));
  }).length;
}

// Returns Shapley values: the score of the row minus that of the background row, shared among the
// columns. They are exact if each centre is a product over columns or a ridge along a few of them.
function contributions(row, background = rowOf(program.columns.map(({ typical }) => typical))) {
  const [x, b] = [cells(row), cells(background)];
  const base = scoreFeatures(features(b));
  return { base, values: rowOf(shares(x, b)), exact: program.exact };
}
