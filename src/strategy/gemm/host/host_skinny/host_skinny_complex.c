/* Idea: a complex product with a small dimension is a real one with twice as many thin rows. The large
 * operand is read in place, as pairs of reals; the thin operand is copied to a real form.
 *
 *   rows     thin rows 2i, 2i + 1: real and imaginary parts. Sums p and q of the large operand's pairs
 *            times these are joined: (p - q', p' + q)
 *   columns  thin rows 2i, 2i + 1: factors of the real and of the imaginary part of a dot of 2 k steps
 *            one row: pairs times pairs, and times swapped pairs, are summed apart; nothing is copied
 *   update   2 k steps: a row of the large operand, then the row times the imaginary unit; C in reals.
 *            Contiguous thin rows are not copied
 *
 * Signs of the copies conjugate either operand. */
#include "core/scratch.h"
#include "core/status.h"
#include "host/int_math.h"
#include "strategy/gemm/host/host_skinny/host_skinny_job.h"

bool tsl_skinny_scalars_are_real(const tsl_problem *problem) {
  return problem->alpha[1] == 0 && problem->beta[1] == 0;
}

const char *tsl_skinny_complex_refuse(const tsl_problem *problem) {
  const int64_t m = problem->m, n = problem->n, k = problem->k;
  const tsl_shape *large = n < m ? &problem->a : &problem->b, *c = &problem->c;
  if (k == 0 || (problem->alpha[0] == 0 && problem->alpha[1] == 0))
    return "a complex product has k or alpha 0";
  if (2 * tsl_min(m, n) <= TSL_SKINNY_MAX)
    return large->row_stride == 1 || large->col_stride == 1 || k == 1 || tsl_max(m, n) == 1
               ? NULL
               : "the large factor of a complex product needs contiguous rows or columns";
  if (2 * k > TSL_SKINNY_STEPS)
    return tsl_refusal("neither m nor n of %lld x %lld x %lld is %d or less, nor k %d", (long long)m,
                       (long long)n, (long long)k, TSL_SKINNY_MAX / 2, TSL_SKINNY_STEPS / 2);
  if (!tsl_skinny_scalars_are_real(problem))
    return "a complex product with a small k needs real alpha and beta";
  return c->row_stride == 1 || c->col_stride == 1
             ? NULL
             : "a product with a small k needs contiguous rows or columns of C";
}

void tsl_skinny_complex_make(const tsl_problem *problem, const tsl_views *views, tsl_skinny_job *job) {
  job->is_complex = true;
  job->complex.thin_across = job->thin_across;
  job->complex.thin_along = job->thin_along;
  job->complex.across = job->across;
  job->complex.along = job->along;
  job->complex.thin_sign = views->conjugates_a ? -1 : 1;
  job->complex.large_sign = views->conjugates_b ? -1 : 1;
  for (int part = 0; part < 2; part++) {
    job->complex.alpha[part] = problem->alpha[part];
    job->complex.beta[part] = problem->beta[part];
  }
  job->c_few *= 2;
  job->c_many *= 2;
  job->thin_along = 1;
  switch (job->walk) {
  case TSL_SKINNY_ROWS:
    job->few *= 2;
    job->many *= 2;
    job->along *= 2;
    job->thin_across = job->depth;
    break;
  case TSL_SKINNY_COLUMNS:
    job->is_dot = job->few == 1;
    job->few *= 2;
    job->depth *= 2;
    job->across *= 2;
    job->along = 1;
    job->thin_across = job->depth;
    break;
  case TSL_SKINNY_UPDATE:
    job->many *= 2;
    job->depth *= 2;
    job->across = 1;
    job->along = job->many;
    job->thin_across = job->complex.thin_along == 1 ? 2 * job->thin_across : job->depth;
    job->c_many = 1;
    break;
  }
}

tesela_status tsl_skinny_complex_expand(const tsl_skinny_job *job, const char **thin, void **memory) {
  const int signs[2] = {job->complex.thin_sign, job->complex.large_sign};
  const bool updates = job->walk == TSL_SKINNY_UPDATE, in_pairs = updates || job->is_dot;
  const int64_t depth = job->walk == TSL_SKINNY_ROWS ? job->depth : job->depth / 2, rows = updates ? job->few
                                                                                           : job->is_dot
                                                                                               ? 1
                                                                                               : job->few / 2;
  const tsl_skinny_form form = in_pairs                       ? TSL_SKINNY_PAIRS
                               : job->walk == TSL_SKINNY_ROWS ? TSL_SKINNY_PARTS
                                                              : TSL_SKINNY_DOTS;
  if (in_pairs && job->complex.thin_along == 1)
    return TESELA_OK;
  const int64_t reals = (form == TSL_SKINNY_DOTS ? 4 : 2) * rows * depth;
  TSL_TRY(tsl_scratch_take((size_t)(reals * job->size), "an operand's numbers", memory));
  job->kernels->expand(*thin, job->complex.thin_across, job->complex.thin_along, rows, depth, form, signs,
                       *memory);
  *thin = *memory;
  return TESELA_OK;
}

void tsl_skinny_complex_turn(const tsl_skinny_job *job, const char *large, int64_t from, int64_t width,
                             void *out) {
  const int signs[2] = {job->complex.large_sign, job->complex.thin_sign};
  job->kernels->expand(large + from * job->complex.across * job->size, job->complex.along,
                       job->complex.across, job->depth / 2, width / 2, TSL_SKINNY_TURNS, signs, out);
}

void tsl_skinny_complex_store(const tsl_skinny_job *job, const char *sums, int64_t row, int64_t column,
                              int64_t from, int64_t count, char *c) {
  const int64_t size = job->size;
  const bool joins = job->walk == TSL_SKINNY_ROWS;
  const int64_t first = joins ? from / 2 : from;
  for (int64_t i = 0; i < job->few; i += 2) {
    const char *const line = sums + i * row * size;
    job->kernels->finish_complex(line, joins ? line + row * size : NULL, job->complex.large_sign,
                                 joins ? 2 : column, joins ? count / 2 : count, job->complex.alpha,
                                 job->complex.beta, c + (i / 2 * job->c_few + first * job->c_many) * size,
                                 job->c_many);
  }
}
