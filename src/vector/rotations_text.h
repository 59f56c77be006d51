/* Rotations of one type, for rotations.c with REAL and NAME. hypot() overflows only if its result does. */

void NAME(tsl_rotation_real)(REAL *a, REAL *b, REAL *c, REAL *s) {
  const double x = (double)*a, y = (double)*b;
  if (y == 0) {
    *c = 1;
    *s = 0;
    *b = 0;
    return;
  }
  if (x == 0) {
    *c = 0;
    *s = 1;
    *a = *b;
    *b = 1;
    return;
  }
  const bool flat = fabs(x) > fabs(y);
  const double r = copysign(hypot(x, y), flat ? x : y);
  *c = (REAL)(x / r);
  *s = (REAL)(y / r);
  *a = (REAL)r;
  *b = flat ? *s : *c != 0 ? (REAL)1 / *c : 1;
}

/* Uses h = hypot(|f|, |g|): c = |f| / h, s = f / |f| conj(g) / h, r = f / |f| h. */
void NAME(tsl_rotation_complex)(REAL *a, const REAL *b, REAL *c, REAL *s) {
  const double f[2] = {(double)a[0], (double)a[1]}, g[2] = {(double)b[0], (double)b[1]};
  const double size_f = hypot(f[0], f[1]), size_g = hypot(g[0], g[1]), h = hypot(size_f, size_g);
  if (size_g == 0) {
    *c = 1;
    s[0] = s[1] = 0;
    return;
  }
  const double way[2] = {size_f == 0 ? 1 : f[0] / size_f, size_f == 0 ? 0 : f[1] / size_f};
  const double to[2] = {g[0] / h, -g[1] / h};
  *c = (REAL)(size_f / h);
  s[0] = (REAL)(way[0] * to[0] - way[1] * to[1]);
  s[1] = (REAL)(way[0] * to[1] + way[1] * to[0]);
  a[0] = (REAL)(way[0] * h);
  a[1] = (REAL)(way[1] * h);
}

/* Scales d to near 1 by powers of 4096^2, and its row of h by their roots; h is then stored completely. */
static void NAME(rescale)(REAL *d, REAL *row[2], REAL *x, modified *modified_in) {
  const REAL most = 16777216, least = (REAL)5.9604645e-8, step = 4096;
  while (*d != 0 && isfinite(*d) && ((REAL)fabs((double)*d) <= least || (REAL)fabs((double)*d) >= most)) {
    const bool grows = (REAL)fabs((double)*d) <= least;
    modified_in->flag = -1;
    *d = grows ? *d * (step * step) : *d / (step * step);
    for (int i = 0; i < 2; i++)
      *row[i] = grows ? *row[i] / step : *row[i] * step;
    if (x)
      *x = grows ? *x / step : *x * step;
  }
}

/* Follows C. L. Lawson, R. J. Hanson, D. R. Kincaid and F. T. Krogh (1979). */
void NAME(tsl_rotation_modified)(REAL *d1, REAL *d2, REAL *x1, REAL y1, REAL *param) {
  REAL h11 = 0, h21 = 0, h12 = 0, h22 = 0;
  modified of = {-1};
  const REAL p2 = *d2 * y1, p1 = *d1 * *x1, q2 = p2 * y1, q1 = p1 * *x1;
  bool fails = *d1 < 0;
  if (!fails && p2 == 0) {
    param[0] = -2;
    return;
  }
  if (!fails && fabs((double)q1) > fabs((double)q2)) {
    h11 = h22 = 1;
    h21 = -y1 / *x1;
    h12 = p2 / p1;
    const REAL u = 1 - h12 * h21;
    fails = !(u > 0);
    of.flag = 0;
    *d1 /= u;
    *d2 /= u;
    *x1 *= u;
  } else if (!fails && q2 >= 0) {
    h21 = -1;
    h12 = 1;
    h11 = p1 / p2;
    h22 = *x1 / y1;
    const REAL u = 1 + h11 * h22, kept = *d2 / u;
    of.flag = 1;
    *d2 = *d1 / u;
    *d1 = kept;
    *x1 = y1 * u;
  } else {
    fails = true;
  }
  if (fails) {
    of.flag = -1;
    h11 = h21 = h12 = h22 = 0;
    *d1 = *d2 = *x1 = 0;
  } else {
    NAME(rescale)(d1, (REAL *[2]){&h11, &h12}, x1, &of);
    NAME(rescale)(d2, (REAL *[2]){&h21, &h22}, NULL, &of);
  }
  param[0] = (REAL)of.flag;
  if (of.flag != 0) {
    param[1] = h11;
    param[4] = h22;
  }
  if (of.flag != 1) {
    param[2] = h21;
    param[3] = h12;
  }
}
