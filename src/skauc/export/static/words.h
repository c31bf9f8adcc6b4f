/* Reads one character of UTF-8 and moves on; a byte that is not UTF-8 is a character. */
static inline unsigned long NAME_character(const unsigned char **text)
{
    const unsigned char *t = *text;
    const int more = *t >= 0xF0 ? 3 : *t >= 0xE0 ? 2 : *t >= 0xC0 ? 1 : 0;
    unsigned long code = more ? *t & (0x3FU >> more) : *t;
    for (int i = 1; i <= more; i++) {
        if ((t[i] & 0xC0) != 0x80) {
            *text = t + 1;
            return 0xFFFD;
        }
        code = (code << 6) | (t[i] & 0x3FU);
    }
    *text = t + 1 + more;
    return code;
}

/* Tells whether a character is a letter, a digit or an underscore. */
static inline int NAME_is_letter(unsigned long code)
{
    static const unsigned long ends[] = {LETTERS};
    int low = -1, high = (int)(sizeof ends / sizeof *ends);
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (ends[middle] <= code) low = middle; else high = middle;
    }
    return low >= 0 && low % 2 == 0;
}

/* Returns the lower case of letters that the words of the model have. */
static inline unsigned long NAME_lower(unsigned long code)
{
    static const unsigned long pairs[][2] = {CAPITALS};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] == code) return pairs[i][1];
    return code;
}

static inline size_t NAME_append(char *word, size_t length, unsigned long code)
{
    if (length + 5 > LONGEST) return LONGEST;
    if (code < 0x80) {
        word[length++] = (char)code;
        return length;
    }
    const int more = code >= 0x10000 ? 3 : code >= 0x800 ? 2 : 1;
    word[length++] = (char)((0xF00U >> more & 0xFFU) | code >> 6 * more);
    for (int i = more - 1; i >= 0; i--) word[length++] = (char)(0x80U | (code >> 6 * i & 0x3FU));
    return length;
}

/* Sets a feature to 1 for each word that the text has. */
static inline void NAME_words(const char *given, const char *const *words, int n, NAME_real *z)
{
    const unsigned char *text = (const unsigned char *)(given ? given : "");
    char word[LONGEST + 1];
    while (*text) {
        size_t length = 0, before = 0;
        unsigned long last = 0;
        int count = 0;
        while (*text) {
            const unsigned long code = NAME_character(&text);
            if (!NAME_is_letter(code)) break;
            before = length;
            last = code;
            count++;
            if (length < LONGEST) length = NAME_append(word, length, NAME_lower(code));
            if (code == 0x130) break; /* its lower case ends with a dot, which ends the word */
        }
        if (length >= LONGEST || count < 2) continue;
        if (last == 0x3A3) length = NAME_append(word, before, 0x3C2); /* a final sigma */
        word[length] = 0;
        const int found = NAME_find(word, words, n);
        if (found >= 0) z[found] = 1;
    }
}
