/* Returns a piecewise linear function, constant before the first and after the last knot. */
static inline NAME_wide NAME_curve(NAME_wide x, const NAME_wide *knots,
                                   const NAME_wide *levels, int n)
{
    NAME_wide share;
    const int low = NAME_place(x, knots, n, &share);
    return levels[low] + share * (levels[low + (n > 1)] - levels[low]);
}
