#include "bounds/draw.h"

#include "core/random.h"
#include "core/types.h"

#include <math.h>
#include <stdio.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

typedef struct dice {
  uint64_t seed, next;
} dice;

static int roll(dice *d, int sides) {
  return (int)(tsl_random_u64(d->seed, d->next++) % (uint64_t)sides);
}

static double fraction(dice *d) {
  return (double)(tsl_random_u64(d->seed, d->next++) >> 11) * 0x1p-53;
}

/* Powers of 2 from 1 to the largest number, and to the smallest. */
static int highest(tesela_type type) {
  return ilogb(tsl_type(tsl_type(type)->component)->largest);
}
static int lowest(tesela_type type) {
  return ilogb(tsl_type(tsl_type(type)->component)->smallest);
}

static void draw_sizes(dice *d, drawn *call) {
  static const int depths[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 65, 100, 255, 257};
  call->m = 1 + roll(d, 9);
  call->n = 1 + roll(d, 9);
  call->k = depths[roll(d, COUNT(depths))];
  const int kind = roll(d, 40);
  if (kind == 0) {
    call->m = 1 + roll(d, DRAW_SIDE_MOST);
    call->n = 1 + roll(d, DRAW_SIDE_MOST);
    call->k = roll(d, 40);
  } else if (kind == 1) {
    call->m = 1 + roll(d, 3);
    call->n = 1 + roll(d, 3);
    call->k = 257 + roll(d, DRAW_DEPTH_MOST - 257);
  }
}

static double draw_scalar(dice *d, tesela_type sums) {
  static const double usual[] = {1, 1, 1, -1, 0.5, -2, 1.5, 0.1, 3e-3, -7e4};
  if (roll(d, 6) > 0)
    return usual[roll(d, COUNT(usual))];
  const int low = lowest(sums) + 30, high = highest(sums) - 8;
  return ldexp(1 + fraction(d), low + roll(d, high - low)) * (roll(d, 2) ? 1 : -1);
}

void draw_call(uint64_t seed, uint64_t index, drawn *call) {
  static const tesela_type types[][2] = {{TESELA_F32, TESELA_F32},   {TESELA_F32, TESELA_F32},
                                         {TESELA_F64, TESELA_F64},   {TESELA_F64, TESELA_F64},
                                         {TESELA_BF16, TESELA_F32},  {TESELA_F16, TESELA_F32},
                                         {TESELA_BF16, TESELA_BF16}, {TESELA_F16, TESELA_F16},
                                         {TESELA_C64, TESELA_C64},   {TESELA_C128, TESELA_C128}};
  static const char *const accuracies[] = {NULL,   NULL,   NULL,    NULL,   "default", "1e-2",
                                           "1e-3", "1e-5", "3e-7",  "8e-8", "tf32",    "bf16",
                                           "f32",  "f64",  "exact", "exact"};
  static const char *const bits[] = {NULL, NULL, NULL, NULL, "run", "threads", "devices"};
  static const int spreads[] = {0, 0, 1, 4, 12, 40};
  dice d = {tsl_random_u64(seed, index), 0};
  *call = (drawn){.seed = d.seed};
  draw_sizes(&d, call);
  const int t = roll(&d, COUNT(types));
  call->a_type = types[t][0];
  call->c_type = types[t][1];
  const tesela_type sums = tsl_type(tsl_type(call->c_type)->sums)->component;
  const int range = highest(call->a_type);
  call->alpha = draw_scalar(&d, sums);
  call->beta = roll(&d, 2) ? 0 : draw_scalar(&d, sums);
  call->is_dot = !tsl_type(call->a_type)->is_complex && roll(&d, 10) == 0;
  if (call->is_dot)
    call->m = call->n = 1;
  call->by_name = roll(&d, 3) ? 1 + roll(&d, 1000) : 0;
  call->elsewhere = roll(&d, 25) == 0;
  call->accuracy = accuracies[roll(&d, COUNT(accuracies))];
  call->bits = bits[roll(&d, COUNT(bits))];
  const int spread = roll(&d, COUNT(spreads) + 2);
  call->spread = spread < COUNT(spreads) ? spreads[spread] : spread == COUNT(spreads) ? range / 2 : range;
  call->rows_apart = roll(&d, 4) == 0 ? 1 + roll(&d, range / 3) : 0;
  call->depth_apart = roll(&d, 4) == 0 ? 1 + roll(&d, range / 2) : 0;
  call->shift = roll(&d, 4) == 0 ? lowest(call->a_type) / 2 - roll(&d, -lowest(call->a_type) / 2) : 0;
  call->cancels = roll(&d, 4) == 0 ? 1 + roll(&d, 2) : 0;
  call->zeros = roll(&d, 8) == 0 ? 2 + roll(&d, 6) : 0;
  call->specials = roll(&d, 16) == 0 ? 20 + roll(&d, 200) : 0;
}

/* A number of this spread, times 2^apart, in the range of the type. */
static double number(const drawn *call, dice *d, tesela_type type, int apart) {
  if (call->zeros && roll(d, call->zeros) == 0)
    return 0;
  if (call->specials && roll(d, call->specials) == 0)
    return roll(d, 3) == 0 ? NAN : roll(d, 2) ? INFINITY : -INFINITY;
  const int high = highest(type) - 1, low = lowest(type);
  int power = apart + (call->spread ? roll(d, 2 * call->spread + 1) - call->spread : 0);
  power = power > high ? high : power < low ? low : power;
  return ldexp(1 + fraction(d), power) * (roll(d, 2) ? 1 : -1);
}

/* How far apart line i is, of a seed of its own. */
static int apart_of(const drawn *call, int what, int64_t i, int most) {
  dice d = {call->seed ^ (0x9e3779b97f4a7c15u * (uint64_t)(what + 1)), (uint64_t)i};
  return most ? roll(&d, 2 * most + 1) - most : 0;
}

static void put(tesela_type type, void *matrix, int64_t index, const double value[2]) {
  tsl_type_store(type, (unsigned char *)matrix + index * (int64_t)tsl_type(type)->size, value);
}

void draw_numbers(const drawn *call, void *a, void *b, void *c) {
  dice d = {call->seed, 1000};
  const int64_t m = call->m, n = call->n, k = call->k, half = k / 2;
  for (int64_t l = 0; l < k; l++) {
    const bool opposite = call->cancels && l >= half && l < 2 * half;
    const int depth = apart_of(call, 2, opposite ? l - half : l, call->depth_apart);
    for (int64_t i = 0; i < m; i++) {
      double value[2] = {0, 0};
      const int apart = apart_of(call, 0, i, call->rows_apart) + depth + call->shift;
      for (int part = 0; part < 2; part++)
        value[part] = number(call, &d, call->a_type, apart);
      if (opposite)
        tsl_type_load(call->a_type,
                      (unsigned char *)a + (i * k + l - half) * (int64_t)tsl_type(call->a_type)->size, value);
      if (opposite && call->cancels == 2)
        value[0] *= 1 + ldexp(1, -8 - roll(&d, 50));
      put(call->a_type, a, i * k + l, value);
    }
    for (int64_t j = 0; j < n; j++) {
      double value[2] = {0, 0};
      const int apart = apart_of(call, 1, j, call->rows_apart) - depth;
      for (int part = 0; part < 2; part++)
        value[part] = number(call, &d, call->a_type, apart);
      if (opposite) {
        tsl_type_load(call->a_type,
                      (unsigned char *)b + ((l - half) * n + j) * (int64_t)tsl_type(call->a_type)->size,
                      value);
        value[0] = -value[0];
        value[1] = -value[1];
      }
      put(call->a_type, b, l * n + j, value);
    }
  }
  for (int64_t i = 0; i < m * n; i++) {
    const double value[2] = {number(call, &d, call->c_type, call->shift),
                             number(call, &d, call->c_type, call->shift)};
    put(call->c_type, c, i, value);
  }
}

void draw_print(const drawn *call, char *out, int size) {
  snprintf(out, (size_t)size,
           "m=%d n=%d k=%d types=%s,%s alpha=%a beta=%a accuracy=%s bits=%s spread=%d rows_apart=%d "
           "depth_apart=%d shift=%d "
           "cancels=%d zeros=%d specials=%d",
           (int)call->m, (int)call->n, (int)call->k, tsl_type(call->a_type)->name,
           tsl_type(call->c_type)->name, call->alpha, call->beta, call->accuracy ? call->accuracy : "-",
           call->bits ? call->bits : "-", call->spread, call->rows_apart, call->depth_apart, call->shift,
           call->cancels, call->zeros, call->specials);
}
