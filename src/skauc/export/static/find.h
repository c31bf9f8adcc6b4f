/* Returns the place of a string in a sorted table, -1 if it is not there. */
static inline int NAME_find(const char *text, const char *const *table, int n)
{
    int low = 0, high = n - 1;
    if (!text) text = "";
    while (low <= high) {
        const int middle = (low + high) / 2, order = strcmp(text, table[middle]);
        if (order == 0) return middle;
        if (order < 0) high = middle - 1; else low = middle + 1;
    }
    return -1;
}
