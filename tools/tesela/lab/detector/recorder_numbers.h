/* A number whose products are recorded, in place of float in plain kernels in C, which are compiled as C++.
 * LAB_REAL is float or double. */
extern "C" void lab_multiply_add(double a, double b);

struct lab_number {
  LAB_REAL value;
  lab_number() = default;
  /* functions, because the compiler does not report copies of whole structs */
  lab_number(const lab_number &from) : value(from.value) {}
  lab_number &operator=(const lab_number &from) {
    value = from.value;
    return *this;
  }
  lab_number(double from) : value((LAB_REAL)from) {}
};
static inline lab_number operator*(lab_number a, lab_number b) {
  lab_multiply_add((double)a.value, (double)b.value);
  return lab_number((double)a.value * (double)b.value);
}
static inline lab_number operator+(lab_number a, lab_number b) {
  return lab_number((double)a.value + (double)b.value);
}
static inline lab_number &operator+=(lab_number &sum, lab_number b) {
  sum.value += b.value;
  return sum;
}
static inline bool operator!=(lab_number a, double b) {
  return (double)a.value != b;
}
