/* The k loop of a block. cp.async brings panels of A and B to shared memory several stages ahead. Each warp
 * loads its next fragments while its last products run.
 *
 *   shared memory: | stage 0: A panel, B panel | stage 1 | ... | STAGES - 1 |
 *
 * Beyond sm80_panels.cu, the element trait defines before:
 *   copies_chunks()          true if panels that are whole are copied in chunks, by issue_copies()
 *   issue_copies()           copies of a slot, which is a position between products; or of ALL_SLOTS
 *   copy_partial_panel()     copies of other panels, with zeros outside of the matrix
 *   own_row(), own_col()     first row of A and column of B that this thread reads; own_k(): its first k
 *   PANEL::first_place()     place_t of these in a panel, to which B_PLACE is added for B
 *   warp_sums, factors       sums of a warp, and its fragments of one of the STEPS of a panel
 *   UNROLLED                 steps that are unrolled, an even number; below STEPS, a step is one k, and the
 *                            last panel ends early
 *   end_part<IS_LAST>()      with FOLDS: adds the sums of a part of k to the totals, or the totals to these
 *   load_factors(), multiply()   load fragments, and multiply them in BLOCKS_M rows of blocks
 *   load_rows()              fragments of A of a row of blocks, if load_factors() leaves these out */
#include "sm80_panels.cu"

/* A condition whose branch is seldom taken. */
#define RARE(condition) (UNROLLED == STEPS ? (condition) : __builtin_expect(condition, 0))

template <class A, class T>
SM80_FUNCTION void load_rows(T &, shared_t, int, int) {}

/* Returns the stage after `stage`; `first` after the last. */
template <class A, class B>
SM80_FUNCTION shared_t next_stage(shared_t stage, shared_t first) {
  constexpr int STAGE_BYTES = A::BYTES + B::BYTES;
  return stage == first + (STAGES - 1) * STAGE_BYTES ? first : stage + STAGE_BYTES;
}

/* Adds the products of all panels of the block's tile to `sums`. A stage is refilled a panel after its use,
 * after a barrier. */
template <class A, class B>
SM80_FUNCTION void mainloop(warp_sums sums, const element *a, const element *b, const sm80_arguments &args,
                            shared_t stages) {
  const work_tile tile = get_own_tile(args);
  const lines rows = rows_of(a, tile, args), columns = columns_of(b, tile, args);
  const int panels = (rows.depth + DEPTH - 1) / DEPTH,
            whole = copies_chunks(args)
                        ? min(count_whole_panels<A, TILE_M>(rows), count_whole_panels<B, TILE_N>(columns))
                        : 0;
  copy_source source_a = get_copy_source<A>(rows), source_b = get_copy_source<B>(columns);
  const int k = own_k();
  const place_t first_a = A::first_place(own_row(), k), first_b = B_PLACE + B::first_place(own_col(), k);
  shared_t fill = stages, use = stages;
  const int last_steps = rows.depth - (panels - 1) * DEPTH - k;
  int filled = 0; /* panels whose copies have been issued */
  grid_dependency_wait();
  const auto copy_last = [&]() {
    if (filled >= whole && filled < panels) {
      const work_tile tile = get_own_tile(args);
      copy_partial_panel<A>(fill, rows_of(a, tile, args), filled * DEPTH);
      copy_partial_panel<B>(fill + A::BYTES, columns_of(b, tile, args), filled * DEPTH);
    }
  };
  const auto fill_next = [&]() {
    cp_async_commit(); /* also for an empty group: cp_async_wait_group() counts groups */
    filled++;
    fill = next_stage<A, B>(fill, stages);
  };
#pragma unroll 1
  for (int s = 0; s < STAGES - 1; s++) {
    if (filled < panels) {
      issue_copies<A, B>(fill, source_a, source_b, ALL_SLOTS, filled < whole);
      copy_last();
    }
    fill_next();
  }
  cp_async_wait_group<STAGES - 2>();
  __syncthreads();
  factors held[2];
  load_factors<A, B>(held[0], stages, first_a, first_b, 0);
#if FOLDS
  int left = args.fold_panels; /* panels of the present part of k */
#endif
#pragma unroll
  for (int i = 0; i < BLOCKS_M; i++)
    load_rows<A>(held[0], stages + (shared_t)first_a, 0, i);
#pragma unroll 1
  for (int p = 0; p < panels; p++) {
#if FOLDS
    if (left-- == 0) {
      end_part<false>(sums, args, p == args.fold_panels);
      left = args.fold_panels - 1;
    }
#endif
    copy_last();
    const bool ends_early = UNROLLED < STEPS && p + 1 == panels;
    const int steps = ends_early ? min(STEPS, last_steps) : STEPS;
#pragma unroll 1
    for (int first = 0; first < steps; first += UNROLLED)
#pragma unroll
      for (int u = 0; u < UNROLLED; u++) {
        const int s = first + u;
        if (u + 1 == UNROLLED && RARE(s + 1 == STEPS && !ends_early)) {
          fill_next();
          cp_async_wait_group<STAGES - 2>();
          __syncthreads();
          use = next_stage<A, B>(use, stages);
        }
        load_factors<A, B>(held[(u + 1) % 2], use, first_a, first_b, (s + 1) % STEPS);
        multiply(sums, held[u % 2], [&](int i) {
          load_rows<A>(held[(u + 1) % 2], use + (shared_t)first_a, (s + 1) % STEPS, i);
          if (UNROLLED == STEPS)
            issue_copies<A, B>(fill, source_a, source_b, u * BLOCKS_M + i, filled < whole);
          else if (u == 0 && i == 0 && RARE(first == 0))
            issue_copies<A, B>(fill, source_a, source_b, ALL_SLOTS, filled < whole);
        });
      }
  }
#if FOLDS
  end_part<true>(sums, args, false);
#endif
}
