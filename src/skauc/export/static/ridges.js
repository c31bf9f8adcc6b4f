// A ridge uses few columns. Adds the weighted mean of the steps of each column over all sets of the
// columns that differ; bit i of a set tells whether column differing[i] has the value of the row.
function addRidge(z, other, m, values) {
  const [a, b] = [along(z, m), along(other, m)];
  const differing = [...a.keys()].filter((g) => a[g] !== b[g]);
  const n = differing.length;
  const common = a.reduce((sum, part, g) => (part === b[g] ? sum + part : sum), 0);
  const heights = Array.from({ length: 2 ** n }, (_, set) =>
    Math.exp(-(differing.reduce((sum, g, i) => sum + ((set >> i) & 1 ? a[g] : b[g]), common) ** 2)));
  const share = [1 / n];
  for (let size = 1; size < n; size++) share.push((share[size - 1] * size) / (n - size));
  heights.forEach((height, set) => {
    const size = differing.filter((_, i) => (set >> i) & 1).length;
    differing.forEach((g, i) => {
      if (!((set >> i) & 1)) values[g] += program.coef[m] * share[size] * (heights[set | (1 << i)] - height);
    });
  });
}

// Returns the part of each column in the direction of ridge m.
function along(z, m) {
  const sums = new Array(program.columns.length).fill(0);
  program.centres[m].forEach((c, j) => (sums[program.columnOf[j]] += program.weights[m][j] * (z[j] - c)));
  return sums;
}
