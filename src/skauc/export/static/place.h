/* Finds the last knot that is not above x, and how much of the way to the next one x has gone. */
static inline int NAME_place(NAME_wide x, const NAME_wide *knots, int n, NAME_wide *share)
{
    int low = 0, high = n - 1;
    *share = isnan(x) ? x : 0;
    if (n == 1 || !(x > knots[0])) return 0;
    *share = 1;
    if (x >= knots[high]) return high - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (knots[middle] <= x) low = middle; else high = middle;
    }
    *share = (x - knots[low]) / (knots[high] - knots[low]);
    return low;
}
