/* Writes scaled days, and the sine and cosine of each period. */
static inline void NAME_dates(double seconds, double fill, double shift, double scale,
                              const double *periods, int n, NAME_real *z)
{
    if (isnan(seconds)) seconds = fill;
    z[0] = (NAME_real)((seconds / 86400 - shift) / scale);
    for (int k = 0; k < n; k++) {
        const double since = seconds - periods[k] * floor(seconds / periods[k]);
        const double angle = 6.283185307179586 * (since / periods[k]);
        z[1 + 2 * k] = (NAME_real)sin(angle);
        z[2 + 2 * k] = (NAME_real)cos(angle);
    }
}
