// For one centre with factors a of the row and b of the background, the value of column g is
// (a_g - b_g) * integral over t from 0 to 1 of prod over i != g of (t a_i + (1 - t) b_i).
function shares(x, background) {
  const [z, other] = [features(x), features(background)];
  const { columnOf, coef, linear, columns } = program;
  const values = new Array(columns.length).fill(0);
  if (linear) linear.forEach((slope, j) => (values[columnOf[j]] += slope * (z[j] - other[j])));
  coef.forEach((weight, m) => {
    if (program.ridges && program.ridges[m]) return addRidge(z, other, m, values);
    const [a, b] = [factors(z, m), factors(other, m)];
    const differing = [...a.keys()].filter((g) => a[g] !== b[g]);
    const common = a.reduce((product, factor, g) => (factor === b[g] ? product * factor : product), weight);
    for (const [t, share] of quadrature(Math.ceil(differing.length / 2))) {
      const mixed = differing.map((g) => t * a[g] + (1 - t) * b[g]);
      const after = new Array(mixed.length + 1).fill(1);
      for (let i = mixed.length - 1; i >= 0; i--) after[i] = after[i + 1] * mixed[i];
      let before = common * share;
      differing.forEach((g, i) => {
        values[g] += (a[g] - b[g]) * before * after[i + 1];
        before *= mixed[i];
      });
    }
  });
  return values;
}

// Returns the factor of each column in the kernel value of centre m.
function factors(z, m) {
  const term = terms[program.shape];
  const sums = new Array(program.columns.length).fill(0);
  program.centres[m].forEach((c, j) => (sums[program.columnOf[j]] += term(z[j], c, j, m)));
  return sums.map((sum) => Math.exp(-sum * (program.ratios ? program.ratios[m] : 1)));
}

// Returns nodes and weights of Gauss-Legendre quadrature on [0, 1], by Newton's method.
const rules = new Map();
function quadrature(n) {
  if (rules.has(n)) return rules.get(n);
  const rule = [];
  for (let i = 0; i < n; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
    let slope = 1;
    for (let step = 0; step < 20; step++) {
      let [p, q] = [1, 0];
      for (let k = 1; k <= n; k++) [p, q] = [((2 * k - 1) * x * p - (k - 1) * q) / k, p];
      slope = (n * (x * p - q)) / (x * x - 1);
      x -= p / slope;
    }
    rule.push([(x + 1) / 2, 1 / ((1 - x * x) * slope * slope)]);
  }
  rules.set(n, rule);
  return rule;
}
