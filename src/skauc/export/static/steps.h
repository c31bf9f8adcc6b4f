/* Returns the number of the interval of x; after the last one is that of a missing value. */
static inline NAME_real NAME_steps(NAME_real x, const NAME_real *edges, int n, const NAME_real *steps)
{
    int low = 0, high = n;
    if (isnan(x)) return steps[n + 1];
    while (low < high) {
        const int middle = (low + high) / 2;
        if (edges[middle] < x) low = middle + 1; else high = middle;
    }
    return steps[low];
}
