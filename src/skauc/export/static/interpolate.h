/* Returns a piecewise linear function, constant before the first and after the last knot. */
static inline NAME_wide NAME_interpolate(NAME_wide x, const NAME_wide *knots,
                                         const NAME_wide *levels, int n)
{
    int low = 0, high = n - 1;
    if (isnan(x)) return x;
    if (x <= knots[0]) return levels[0];
    if (x >= knots[high]) return levels[high];
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (knots[middle] <= x) low = middle; else high = middle;
    }
    if (knots[high] == knots[low]) return levels[low];
    return levels[low] + (levels[high] - levels[low]) / (knots[high] - knots[low]) * (x - knots[low]);
}
