/* Macros by which a table row declares an exported function and passes its arguments on.
 *
 * A row lists arguments as KIND(name). A front end defines each kind as a tuple: the name, then its
 * declaration and other forms. EACH(FORM, arguments) writes one form of every argument, with commas. */
#ifndef TSL_INTERPOSE_ENTRY_LISTS_H
#define TSL_INTERPOSE_ENTRY_LISTS_H

#define PASTE_TWO(a, b) a##b
#define PASTE(a, b) PASTE_TWO(a, b)
#define STRING_OF(word) #word
#define STRING(word) STRING_OF(word)
/* LIST (a, b) is a, b. */
#define LIST(...) __VA_ARGS__

/* Members of a tuple, and the names of arguments. */
#define PART_1(a, ...) a
#define PART_2(a, b, ...) b
#define PART_3(a, b, c, ...) c
#define PART_4(a, b, c, d, ...) d
#define PART_5(a, b, c, d, e) e
#define NAME_OF(tuple) PART_1 tuple
#define NAMES(...) EACH(NAME_OF, __VA_ARGS__)

/* EACH(FORM, a, b, c) is FORM(a), FORM(b), FORM(c). */
#define EACH(FORM, ...)                                                                                      \
  EACH_SELECT(__VA_ARGS__, EACH_23, EACH_22, EACH_21, EACH_20, EACH_19, EACH_18, EACH_17, EACH_16, EACH_15,  \
              EACH_14, EACH_13, EACH_12, EACH_11, EACH_10, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4,   \
              EACH_3, EACH_2, EACH_1, )                                                                      \
  (FORM, __VA_ARGS__)
#define EACH_SELECT(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, EACH_N, ...) EACH_N
#define EACH_1(FORM, a) FORM(a)
#define EACH_2(FORM, a, ...) FORM(a), EACH_1(FORM, __VA_ARGS__)
#define EACH_3(FORM, a, ...) FORM(a), EACH_2(FORM, __VA_ARGS__)
#define EACH_4(FORM, a, ...) FORM(a), EACH_3(FORM, __VA_ARGS__)
#define EACH_5(FORM, a, ...) FORM(a), EACH_4(FORM, __VA_ARGS__)
#define EACH_6(FORM, a, ...) FORM(a), EACH_5(FORM, __VA_ARGS__)
#define EACH_7(FORM, a, ...) FORM(a), EACH_6(FORM, __VA_ARGS__)
#define EACH_8(FORM, a, ...) FORM(a), EACH_7(FORM, __VA_ARGS__)
#define EACH_9(FORM, a, ...) FORM(a), EACH_8(FORM, __VA_ARGS__)
#define EACH_10(FORM, a, ...) FORM(a), EACH_9(FORM, __VA_ARGS__)
#define EACH_11(FORM, a, ...) FORM(a), EACH_10(FORM, __VA_ARGS__)
#define EACH_12(FORM, a, ...) FORM(a), EACH_11(FORM, __VA_ARGS__)
#define EACH_13(FORM, a, ...) FORM(a), EACH_12(FORM, __VA_ARGS__)
#define EACH_14(FORM, a, ...) FORM(a), EACH_13(FORM, __VA_ARGS__)
#define EACH_15(FORM, a, ...) FORM(a), EACH_14(FORM, __VA_ARGS__)
#define EACH_16(FORM, a, ...) FORM(a), EACH_15(FORM, __VA_ARGS__)
#define EACH_17(FORM, a, ...) FORM(a), EACH_16(FORM, __VA_ARGS__)
#define EACH_18(FORM, a, ...) FORM(a), EACH_17(FORM, __VA_ARGS__)
#define EACH_19(FORM, a, ...) FORM(a), EACH_18(FORM, __VA_ARGS__)
#define EACH_20(FORM, a, ...) FORM(a), EACH_19(FORM, __VA_ARGS__)
#define EACH_21(FORM, a, ...) FORM(a), EACH_20(FORM, __VA_ARGS__)
#define EACH_22(FORM, a, ...) FORM(a), EACH_21(FORM, __VA_ARGS__)
#define EACH_23(FORM, a, ...) FORM(a), EACH_22(FORM, __VA_ARGS__)

#endif
