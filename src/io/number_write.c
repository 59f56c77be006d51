/* Shortest numbers, after R. Giulietti, The Schubfach way to render doubles (2020). Numbers between the
 * midpoints to a value's neighbours read back to it. This interval is scaled by a power of ten to hold one to
 * a few integers; the nearest with the fewest digits is taken. Scaling rounds to odd, so that comparisons
 * with the ends are exact. The powers of ten, 128 bits each, come from exact long arithmetic at first use. */
#include "io/io_number.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/types.h"

__extension__ typedef unsigned __int128 wide;

/* 10^n for all n of doubles, highest bit at 127, rounded down, plus one. */
enum { POWER_MIN = -292, POWER_MAX = 324, LIMBS = 36 };
static wide powers[POWER_MAX - POWER_MIN + 1];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

/* Returns the highest 128 significant bits; 32-bit limbs, least significant first. */
static wide highest_bits(const uint32_t limbs[LIMBS]) {
  int top = LIMBS - 1;
  while (limbs[top] == 0)
    top--;
  wide bits = 0;
  int have = 0;
  for (int i = top; have < 128; i--) {
    const uint32_t limb = i >= 0 ? limbs[i] : 0;
    const int from = i == top ? 31 - __builtin_clz(limb) : 31;
    for (int bit = from; bit >= 0 && have < 128; bit--, have++)
      bits = bits << 1 | (limb >> bit & 1);
  }
  return bits;
}

static void fill_powers_of_ten(void) {
  uint32_t limbs[LIMBS] = {1};
  for (int n = 0; n <= POWER_MAX; n++) {
    powers[n - POWER_MIN] = highest_bits(limbs) + 1;
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
      carry += (uint64_t)limbs[i] * 10;
      limbs[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  /* 2^1151 / 10^n, rounded down: n rounded divisions by ten give an equal result. */
  memset(limbs, 0, sizeof limbs);
  limbs[LIMBS - 1] = (uint32_t)1 << 31;
  for (int n = -1; n >= POWER_MIN; n--) {
    uint64_t remainder = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
      remainder = remainder << 32 | limbs[i];
      limbs[i] = (uint32_t)(remainder / 10);
      remainder %= 10;
    }
    powers[n - POWER_MIN] = highest_bits(limbs) + 1;
  }
}

/* Returns floor(log10(2^q)) for all q of doubles. */
static int log10_of_pow2(int q) {
  return (int)floor(q * 0.30102999566398120);
}
/* Returns floor(log10(3/4 * 2^q)) for all q of doubles. */
static int log10_of_three_quarters_pow2(int q) {
  return (int)floor(q * 0.30102999566398120 - 0.12493873660829995);
}
/* Returns floor(log2(10^n)) for all n of doubles. */
static int log2_of_pow10(int n) {
  return (int)floor(n * 3.3219280948873623);
}

/* Returns the upper 64 bits of power * scaled / 2^128, the lowest bit set if the rest exceeds 1. */
static uint64_t scale_to_odd(wide power, uint64_t scaled) {
  const wide low = (wide)(uint64_t)power * scaled;
  const wide high = (wide)(uint64_t)(power >> 64) * scaled + (low >> 64);
  return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* Returns the shortest digits * 10^*exponent that read back to c * 2^q. Without even_gap, c is the smallest
 * of its binade, and the lower neighbour is at half the distance. */
static uint64_t choose_shortest_digits(uint64_t c, int q, bool even_gap, int *exponent) {
  const uint64_t odd = c & 1; /* an even c includes the ends */
  const int k = even_gap ? log10_of_pow2(q) : log10_of_three_quarters_pow2(q);
  const wide power = powers[-k - POWER_MIN];
  const int shift = q + log2_of_pow10(-k) + 1;
  /* lower end, value and upper end in quarters */
  const uint64_t lower = scale_to_odd(power, (4 * c - (even_gap ? 2 : 1)) << shift) + odd;
  const uint64_t value = scale_to_odd(power, (4 * c) << shift);
  const uint64_t upper = scale_to_odd(power, (4 * c + 2) << shift) - odd;

  *exponent = k;
  const uint64_t whole = value / 4;
  if (whole >= 10) {
    const uint64_t tens = whole / 10;
    const bool down = lower <= 40 * tens, up = 40 * tens + 40 <= upper;
    if (down != up) {
      *exponent = k + 1;
      return down ? tens : tens + 1;
    }
  }
  const bool down = lower <= 4 * whole, up = 4 * whole + 4 <= upper;
  if (down != up)
    return down ? whole : whole + 1;
  const uint64_t middle = 4 * whole + 2;
  return value < middle || (value == middle && whole % 2 == 0) ? whole : whole + 1;
}

static size_t write_integer(uint64_t number, char *out) {
  char reversed[20];
  size_t count = 0;
  do
    reversed[count++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  for (size_t i = 0; i < count; i++)
    out[i] = reversed[count - 1 - i];
  return count;
}

/* Writes "1234.5" or, far from 1, "1.2345e30"; returns the length. */
static size_t write_decimal(uint64_t digits, int exponent, char *out) {
  while (digits % 10 == 0) {
    digits /= 10;
    exponent++;
  }
  char text[20];
  const size_t count = write_integer(digits, text);
  const int first = (int)count - 1 + exponent; /* decimal exponent of the first digit */
  size_t length = 0;
  if (first < -5 || first > 15) {
    out[length++] = text[0];
    if (count > 1) {
      out[length++] = '.';
      memcpy(out + length, text + 1, count - 1);
      length += count - 1;
    }
    out[length++] = 'e';
    if (first < 0)
      out[length++] = '-';
    return length + write_integer((uint64_t)(first < 0 ? -first : first), out + length);
  }
  for (int digit = first < 0 ? 0 : first; digit >= 0 || digit >= exponent; digit--) {
    if (digit == -1)
      out[length++] = '.';
    out[length++] = digit <= first && digit >= exponent ? text[first - digit] : '0';
  }
  return length;
}

static size_t write_shortest_real(const tsl_type_info *type, double magnitude, char *out) {
  const int precision = -ilogb(type->unit_roundoff), least = ilogb(type->smallest);
  int q = ilogb(magnitude) + 1 - precision;
  if (q < least)
    q = least;
  const uint64_t c = (uint64_t)ldexp(magnitude, -q);
  const bool even_gap = c != (uint64_t)1 << (precision - 1) || q == least;
  int exponent;
  const uint64_t digits = choose_shortest_digits(c, q, even_gap, &exponent);
  return write_decimal(digits, exponent, out);
}

/* Returns true if the text reads back to the value: narrow types round twice. */
static bool reads_back(const tsl_type_info *type, const char *text, size_t length, double magnitude) {
  double value[2] = {0, 0};
  unsigned char bytes[16];
  if (tsl_number_read(text, length, 0, &value[0]) != TSL_NUMBER_READ)
    return false;
  tsl_type_store(type->type, bytes, value);
  tsl_type_load(type->type, bytes, value);
  return value[0] == magnitude;
}

static size_t write_word(const char *word, char *out) {
  size_t length = 0;
  for (; word[length] != '\0'; length++)
    out[length] = word[length];
  return length;
}

size_t tsl_number_write(tesela_type type, double value, char out[TSL_NUMBER_MAX]) {
  if (isnan(value))
    return write_word("nan", out);
  size_t sign = 0;
  if (signbit(value))
    out[sign++] = '-';
  const double magnitude = fabs(value);
  if (isinf(magnitude))
    return sign + write_word("inf", out + sign);
  if (magnitude < 1e15 && magnitude == (double)(uint64_t)magnitude)
    return sign + write_integer((uint64_t)magnitude, out + sign);
  pthread_once(&powers_once, fill_powers_of_ten);
  const tsl_type_info *info = tsl_type(type);
  /* f32's digits for one byte: one digit would write 1.25 as 1.2. */
  const tsl_type_info *digits = info->size == 1 ? tsl_type(TESELA_F32) : info;
  size_t length = write_shortest_real(digits, magnitude, out + sign);
  if (type != TESELA_F64 && !reads_back(info, out + sign, length, magnitude))
    length = write_shortest_real(tsl_type(TESELA_F64), magnitude, out + sign);
  return sign + length;
}
