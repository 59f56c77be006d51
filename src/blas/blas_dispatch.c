/* Known calls are only compared, new ones only checked; unusual arguments go to the full path. */
#include "blas/blas_dispatch.h"

#include "blas/blas_context.h"

static bool is_transposed(int letter) {
  return letter == 'T' || letter == 'C';
}
static bool is_letter(int letter) {
  return letter == 'N' || letter == 'R' || is_transposed(letter);
}

/* Sets the strides of op(matrix). Returns false if the leading dimension is too small. */
static bool blas_dispatch_strides_of(bool by_row, int letter, int64_t rows, int64_t cols, int64_t ld,
                                     int64_t *row, int64_t *col) {
  const bool along_rows = by_row != is_transposed(letter);
  *row = along_rows ? ld : 1;
  *col = along_rows ? 1 : ld;
  return ld >= (along_rows ? cols : rows);
}

/* Returns the letter in the entry's form. */
static int letter_for_entry(const tsl_blas_symbol *symbol, int letter) {
  return symbol->cblas ? tsl_blas_cblas_trans(letter) : letter;
}

static void blas_dispatch_key_of(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product,
                                 tsl_dispatch_key *key) {
  key->m = product->m;
  key->n = product->n;
  key->k = product->k;
  key->lda = product->lda;
  key->ldb = product->ldb;
  key->ldc = product->ldc;
  key->alpha = tsl_dispatch_bits(symbol->type, product->alpha);
  key->beta = tsl_dispatch_bits(symbol->type, product->beta);
  key->kind = tsl_dispatch_kind(symbol->type, 0);
  key->order = product->order;
  key->trans_a = letter_for_entry(symbol, product->trans_a);
  key->trans_b = letter_for_entry(symbol, product->trans_b);
}

/* Prepares the kernel of a new entry. Entries of large products have no kernel. With call logging the kernel
 * is only a shortcut, since an entry of BLAS would call a kernel without counting. */
static void blas_dispatch_prepare_entry(tsl_dispatch_entry *entry, const tsl_call *product,
                                        const tsl_device *cpu) {
  tsl_binding binding;
  if (!tsl_dispatch(product, cpu, &binding))
    return;
  entry->state = binding.state;
  entry->kernel = binding.may_fail || tsl_blas_logging ? NULL : binding.kernel;
  entry->direct = (tsl_fast_call){.run = binding.kernel, .state = binding.state};
}

/* Computes a product that is not cached. `entry` is its new entry or NULL. */
static bool blas_dispatch_multiply(const tsl_blas_symbol *symbol, const tsl_blas_multiply *blas_multiply,
                                   tsl_dispatch_entry *entry, const tsl_device *cpu) {
  const bool by_row = blas_multiply->order == TSL_BLAS_ROW_MAJOR;
  if ((!by_row && blas_multiply->order != TSL_BLAS_COLUMN_MAJOR) || blas_multiply->m <= 0 ||
      blas_multiply->n <= 0 || blas_multiply->k <= 0 || !is_letter(blas_multiply->trans_a) ||
      !is_letter(blas_multiply->trans_b))
    return false;
  /* Clearing the struct first would take longer than a tiny product. */
  tsl_call product;
  product.type = symbol->type;
  product.solves = false;
  product.a_is = TESELA_GENERAL;
  product.c_triangle = TESELA_WHOLE;
  product.streams = false;
  product.m = blas_multiply->m;
  product.n = blas_multiply->n;
  product.k = blas_multiply->k;
  product.a.data = blas_multiply->a;
  product.b.data = blas_multiply->b;
  product.c.data = blas_multiply->c;
  product.a.conjugate = product.b.conjugate = false;
  tsl_blas_set_scalars(symbol->type, blas_multiply->alpha, blas_multiply->beta, &product);
  if (!blas_dispatch_strides_of(by_row, blas_multiply->trans_a, blas_multiply->m, blas_multiply->k,
                                blas_multiply->lda, &product.a.row, &product.a.col) ||
      !blas_dispatch_strides_of(by_row, blas_multiply->trans_b, blas_multiply->k, blas_multiply->n,
                                blas_multiply->ldb, &product.b.row, &product.b.col) ||
      !blas_dispatch_strides_of(by_row, 'N', blas_multiply->m, blas_multiply->n, blas_multiply->ldc,
                                &product.c.row, &product.c.col))
    return false;
  if (entry)
    blas_dispatch_prepare_entry(entry, &product, cpu);
  return tsl_dispatch(&product, cpu, NULL);
}

_Atomic(const tsl_device *) tsl_blas_direct_cpu;

static __attribute__((noinline)) bool look_up_product(tsl_blas_symbol *symbol,
                                                      const tsl_blas_multiply *multiply,
                                                      const tsl_device *cpu, tsl_blas_function **next) {
  tsl_dispatch_key key;
  blas_dispatch_key_of(symbol, multiply, &key);
  bool is_new;
  tsl_dispatch_entry *known = tsl_dispatch_find_or_learn(&key, &is_new);
  if (!known || is_new)
    return blas_dispatch_multiply(symbol, multiply, known, cpu);
  if (known->next_of == symbol)
    *next = atomic_load_explicit(&symbol->next.found, memory_order_acquire);
  return known->direct.run &&
         known->direct.run(known->direct.state, multiply->a, multiply->b, multiply->c) == TESELA_OK;
}

bool tsl_blas_dispatch_real(tsl_blas_symbol *symbol, const tsl_blas_multiply *multiply,
                            tsl_blas_function **next) {
  const tsl_device *cpu = tsl_blas_cpu();
  if (!cpu || !tsl_dispatch_aligned(symbol->type, multiply->a, multiply->b, multiply->c))
    return false;
  if (!tsl_blas_logging && !atomic_load_explicit(&tsl_blas_direct_cpu, memory_order_relaxed))
    atomic_store_explicit(&tsl_blas_direct_cpu, cpu, memory_order_release);
  const int trans_a = letter_for_entry(symbol, multiply->trans_a),
            trans_b = letter_for_entry(symbol, multiply->trans_b);
  const uint32_t tag = tsl_dispatch_tag(
      multiply->m, multiply->n, multiply->k, multiply->lda, multiply->ldb, multiply->ldc,
      tsl_dispatch_bits(symbol->type, multiply->alpha), tsl_dispatch_bits(symbol->type, multiply->beta),
      tsl_dispatch_kind(symbol->type, 0), multiply->order, trans_a, trans_b);
  if (tsl_dispatch_is_unknown(symbol->type, trans_a, trans_b, multiply->m, multiply->n, multiply->k, tag))
    return blas_dispatch_multiply(symbol, multiply, NULL, cpu);
  return look_up_product(symbol, multiply, cpu, next);
}

#define SMALL_KERNEL "tesela host_small cpu" /* strategy and device, as in plans */

bool tsl_blas_dispatch_heard(tsl_blas_symbol *symbol, const tsl_blas_multiply *multiply,
                             tsl_blas_function **next) {
  tsl_blas_call call = {.symbol = symbol};
  tsl_blas_describe(&call, multiply);
  tsl_blas_why("small: computed at once");
  tsl_blas_log_begin(&call);
  const bool done = tsl_blas_dispatch_real(symbol, multiply, next);
  tsl_blas_end(&call, done ? SMALL_KERNEL : NULL);
  return done;
}

void tsl_blas_dispatch_note_next(const tsl_blas_symbol *symbol, const tsl_blas_multiply *product) {
  tsl_dispatch_key key;
  blas_dispatch_key_of(symbol, product, &key);
  tsl_dispatch_entry *known = tsl_dispatch_find(&key);
  if (known)
    known->next_of = symbol;
}
