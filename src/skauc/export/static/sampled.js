// Returns averages over random orders of the columns, each with its reverse.
function shares(x, b) {
  const n = x.length;
  const orders = 50;
  const values = new Array(n).fill(0);
  let seed = 1;
  for (let i = 0; i < 2 * orders; i++) {
    const order = [...x.keys()];
    for (let j = n - 1; j > 0; j--) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      const k = Math.floor((seed / 2 ** 32) * (j + 1));
      [order[j], order[k]] = [order[k], order[j]];
    }
    const mixed = [...b];
    let before = scoreFeatures(features(mixed));
    for (const g of i % 2 ? order.reverse() : order) {
      mixed[g] = x[g];
      const after = scoreFeatures(features(mixed));
      values[g] += (after - before) / (2 * orders);
      before = after;
    }
  }
  return values;
}
