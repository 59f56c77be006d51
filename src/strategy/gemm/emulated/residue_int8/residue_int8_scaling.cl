/* First portable kernels of residue_int8: lines are measured, and one group chooses.
 * `tsl_gemm_residue_int8_rules`: copies a piece of the rules to the workspace.
 * `tsl_gemm_residue_int8_measure`: a group reads a sample of its lines for a guess (residue_guess). Then it
 * reads all elements once for the sums (residue_sums); again where an element exceeds the guess.
 *   along: a line's numbers are adjacent             across: numbers of different lines are adjacent
 *   2 lines a group, 128 items each                  8 lines a group, 32 items each; 8 items read neighbours
 * tsl_gemm_residue_int8_choose: counts lines and chooses; sets every line's final scale. Where the previous
 * run measured an operand's lines, it also sets whether their residues are valid for this choice.
 * Everything is integer arithmetic, so that the order of items does not matter. Defines of the host:
 * TSL_RESIDUE_F64 or not, TSL_RESIDUE_COMPLEX or not. */
#include "dialect.h"

#include "residue_int8_shared.h"

TSL_KERNEL(TSL_RESIDUE_SOME, 1, 1)
tsl_gemm_residue_int8_rules(TSL_GLOBAL unsigned char *scratch, const residue_some some) {
  if (TSL_ITEM(0) < some.count)
    ((TSL_GLOBAL unsigned *)(scratch + some.at))[TSL_ITEM(0)] = some.word[TSL_ITEM(0)];
}

#define ITEMS TSL_RESIDUE_ITEMS
#define MOST_LINES TSL_RESIDUE_LINES_ACROSS
#define HALVINGS 7 /* log2 of the items of a line, at most */

typedef struct item_sums {
  residue_sums sums;
  residue_bits largest;
} item_sums;

TSL_FUNCTION residue_bits magnitude_at(TSL_GLOBAL const residue_bits *from) {
  return *from & ~TSL_RESIDUE_SIGN;
}

TSL_FUNCTION void clear_sums(item_sums *sums_in) {
  sums_in->sums.sum = sums_in->sums.squares = sums_in->sums.excess = 0;
  sums_in->sums.count = 0;
  sums_in->largest = 0;
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    sums_in->sums.few[i] = 0;
}

/* Adds a top. Tops of elements that exceed 2^exponent are undefined; their sums are not used. */
TSL_FUNCTION void add_top(item_sums *sums_in, unsigned top) {
  sums_in->sums.sum += top;
  sums_in->sums.squares += (residue_word)top * top;
}

/* Adds an item's elements; its sums of tops fit in 32 bits (residue_int8.c limits k). */
TSL_FUNCTION void add_up(item_sums *sums_in, TSL_GLOBAL const residue_bits *from, residue_index step,
                         int first, int each, int k, const residue_guess *guess, const residue_bits *least) {
  const int exponent = guess->exponent;
  const unsigned limit = guess->limit;
  residue_bits largest = sums_in->largest;
  residue_word squares = 0;
  unsigned sum = 0, excess = 0, count = 0, few[TSL_RESIDUE_CANDIDATES];
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    few[i] = 0;
  TSL_UNROLL_BY(4)
  for (int h = first; h < k; h += each) {
    const residue_bits magnitude = magnitude_at(from + TSL_RESIDUE_AT(step, h));
    const unsigned top = residue_top(magnitude, exponent);
    largest = magnitude > largest ? magnitude : largest;
    sum += top;
    squares += (residue_word)top * top;
    excess += top + 1 > limit ? top + 1 - limit : 0;
    count += magnitude != 0 ? 1 : 0;
    for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
      few[i] += magnitude < least[i] ? 1 : 0; /* includes zeros */
  }
  sums_in->largest = largest;
  sums_in->sums.sum += sum;
  sums_in->sums.squares += squares;
  sums_in->sums.excess += excess;
  sums_in->sums.count += count;
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    sums_in->sums.few[i] += few[i];
}

TSL_FUNCTION void put(TSL_LOCAL_POINTER item_sums *all, int item, const item_sums *sums) {
  all[item] = *sums;
}
TSL_FUNCTION void add_other(TSL_LOCAL_POINTER item_sums *all, int item, int other) {
  all[item].sums.sum += all[other].sums.sum;
  all[item].sums.squares += all[other].sums.squares;
  all[item].sums.excess += all[other].sums.excess;
  all[item].sums.count += all[other].sums.count;
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    all[item].sums.few[i] += all[other].sums.few[i];
  if (all[other].largest > all[item].largest)
    all[item].largest = all[other].largest;
}

/* Adds the sums that all items of each line wrote; the line's first item gets the total. */
#define ADD_ALL(all, item, worker, workers, next)                                                            \
  for (int halving = 1; halving <= HALVINGS; halving++) {                                                    \
    const int step = (workers) >> halving;                                                                   \
    TSL_BARRIER();                                                                                           \
    if ((worker) < step)                                                                                     \
      add_other(all, item, (item) + step * (next));                                                          \
  }                                                                                                          \
  TSL_BARRIER()

typedef struct item_place {
  int item, own, worker, head;
} item_place;

/* Sums lines by their guesses. A line whose guess was too low gets a new guess and wrong sums until the next
 * call; other lines keep their sums. Called twice, not in a loop: PoCL 5 fails at barriers in nested loops
 * here. */
TSL_FUNCTION void add_up_lines(TSL_GLOBAL const residue_rules *rules, TSL_GLOBAL const residue_bits *from,
                               residue_index step, int k, const item_place place, int each, int next,
                               TSL_LOCAL_POINTER item_sums *all, TSL_LOCAL_POINTER residue_guess *guesses,
                               TSL_LOCAL_POINTER int *wrong) {
  const residue_guess guess = guesses[place.own];
  const int wants = wrong[place.own];
  residue_bits least[TSL_RESIDUE_CANDIDATES];
  item_sums mine;
  for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
    least[i] = residue_small(rules, guess.exponent, guess.aims[i]);
  TSL_BARRIER();
  clear_sums(&mine);
  if (wants)
    add_up(&mine, from, step, place.worker, each, k, &guess, least);
  else if (place.worker == 0)
    mine = all[place.head];
  TSL_BARRIER();
  put(all, place.item, &mine);
  ADD_ALL(all, place.item, place.worker, each, next);
  if (place.worker == 0) {
    const residue_bits largest = all[place.head].largest;
    wrong[place.own] =
        largest > 0 && largest < TSL_RESIDUE_INFINITY && residue_exponent(largest) > guess.exponent ? 1 : 0;
    if (wrong[place.own]) {
      residue_guess again = guess;
      residue_guess_again(rules, largest, &again);
      guesses[place.own] = again;
    }
  }
  TSL_BARRIER();
}

TSL_KERNEL(TSL_RESIDUE_ITEMS, 1, 1)
tsl_gemm_residue_int8_measure(TSL_GLOBAL const residue_bits *a, TSL_GLOBAL const residue_bits *b,
                              TSL_GLOBAL unsigned char *scratch, const residue_arguments args) {
  TSL_LOCAL item_sums all[ITEMS];
  TSL_LOCAL residue_guess guesses[MOST_LINES];
  TSL_LOCAL int wrong[MOST_LINES];
  TSL_GLOBAL const residue_rules *rules = (TSL_GLOBAL const residue_rules *)(scratch + args.rules_at);
  const int item = TSL_ITEM(0), operand = TSL_GROUP(0) < args.blocks[0] ? 0 : 1;
  const residue_matrix matrix = args.operands[operand];
  const int lines = matrix.is_across ? TSL_RESIDUE_LINES_ACROSS : TSL_RESIDUE_LINES_ALONG,
            each = ITEMS / lines;
  const int own = matrix.is_across ? item % lines : item / each,
            worker = matrix.is_across ? item / lines : item % each, next = matrix.is_across ? lines : 1,
            head = matrix.is_across ? own : own * each;
  const int number = (TSL_GROUP(0) - (operand ? args.blocks[0] : 0)) * lines + own,
            count = operand ? args.n : args.m, is_there = number < count, numbers = args.k * TSL_RESIDUE_EACH,
            k = is_there ? numbers : 0;
  TSL_GLOBAL const residue_bits *from =
      (operand ? b : a) + matrix.offset + (is_there ? number * matrix.across : 0);
  const int samples = k > 0 ? (int)residue_sample_count(numbers) : 0;
  item_sums mine;

  clear_sums(&mine);
  for (int i = worker; i < samples; i += each) {
    const residue_bits magnitude =
        magnitude_at(from + TSL_RESIDUE_AT(matrix.along, residue_sample_at(numbers, i)));
    mine.largest = magnitude > mine.largest ? magnitude : mine.largest;
  }
  put(all, item, &mine);
  ADD_ALL(all, item, worker, each, next);
  const residue_bits sampled = all[head].largest;
  const int exponent = residue_guess_exponent(sampled);
  TSL_BARRIER();
  clear_sums(&mine);
  for (int i = worker; i < samples && sampled < TSL_RESIDUE_INFINITY; i += each)
    add_top(&mine,
            residue_top(magnitude_at(from + TSL_RESIDUE_AT(matrix.along, residue_sample_at(numbers, i))),
                        exponent));
  put(all, item, &mine);
  ADD_ALL(all, item, worker, each, next);
  if (worker == 0) {
    residue_guess guess;
    residue_guess_of(rules, exponent, (unsigned)all[head].sums.sum, all[head].sums.squares, &guess);
    guesses[own] = guess;
    wrong[own] = 1;
  }
  TSL_BARRIER();

  const item_place at = {item, own, worker, head};
  add_up_lines(rules, from, matrix.along, k, at, each, next, all, guesses, wrong);
  add_up_lines(rules, from, matrix.along, k, at, each, next, all, guesses, wrong);
  if (worker == 0 && is_there) {
    const residue_guess guess = guesses[own];
    residue_sums sums = all[head].sums;
    residue_line line;
    for (int i = 0; i < TSL_RESIDUE_CANDIDATES; i++)
      sums.few[i] = sums.few[i] > 0 ? sums.few[i] - ((unsigned)numbers - sums.count) : 0;
    residue_know(rules, all[head].largest, &guess, &sums, &line);
    ((TSL_GLOBAL unsigned *)(scratch + args.keys[operand]))[number] = line.key;
    for (int c = 0; c < TSL_RESIDUE_CANDIDATES; c++)
      ((TSL_GLOBAL int *)(scratch + args.candidates[operand][c]))[number] = line.scale[c];
  }
}

#define WAYS (2 * TSL_RESIDUE_CANDIDATES)
#define LEVELS (TSL_RESIDUE_LEVELS + 1) /* levels to choose from */
#define COPIES 8                        /* copies of all counts, to reduce contention of atomics */
#define AHEAD 4
#define COUNTERS ((int)(sizeof(residue_counts) / sizeof(unsigned)))

TSL_FUNCTION unsigned key_of(TSL_GLOBAL const unsigned char *scratch, const residue_arguments *args,
                             int operand, int line) {
  return ((TSL_GLOBAL const unsigned *)(scratch + args->keys[operand]))[line];
}

TSL_FUNCTION void count_line(TSL_LOCAL_POINTER residue_counts *counts, int operand, int candidates,
                             unsigned key) {
  TSL_LOCAL_ADD(&counts->has[operand][residue_has(key)], 1u);
  for (int c = 0; c < candidates; c++)
    if (key & TSL_RESIDUE_LOST << c)
      TSL_LOCAL_ADD(&counts->lost[c][operand], 1u);
    else
      TSL_LOCAL_ADD(&counts->needs[c][operand][residue_need(key, c)], 1u);
}

/* Loads the keys of an item's next lines, all loads in flight at once; keys past the last line are zeros'. */
TSL_FUNCTION void fetch_keys(unsigned *keys, TSL_GLOBAL const unsigned char *scratch,
                             const residue_arguments *args, int operand, int first, int lines) {
  TSL_UNROLL
  for (int u = 0; u < AHEAD; u++)
    keys[u] =
        first + u * ITEMS < lines ? key_of(scratch, args, operand, first + u * ITEMS) : TSL_RESIDUE_ZERO;
}

/* Chooses by the least cost of each candidate and operand, and by the lowest level that has it. */
TSL_FUNCTION residue_choice choice_by(TSL_GLOBAL const residue_rules *rules,
                                      TSL_LOCAL_POINTER const residue_counts *counts,
                                      TSL_LOCAL_POINTER const residue_word *costs) {
  residue_word least[TSL_RESIDUE_CANDIDATES][2];
  int levels[TSL_RESIDUE_CANDIDATES][2];
  residue_choice choice;
  for (int way = 0; way < WAYS; way++) {
    int best = 0;
    for (int level = 1; level < LEVELS; level++)
      best = costs[way * LEVELS + level] < costs[way * LEVELS + best] ? level : best;
    levels[way / 2][way % 2] = best;
    least[way / 2][way % 2] = costs[way * LEVELS + best];
  }
  residue_choose(rules, counts, least, levels, &choice);
  return choice;
}

/* Launched with one group. */
TSL_KERNEL(TSL_RESIDUE_ITEMS, 1, 1)
tsl_gemm_residue_int8_choose(TSL_GLOBAL unsigned char *scratch, const residue_arguments args) {
  TSL_LOCAL residue_counts counts[COPIES];
  TSL_LOCAL residue_word costs[WAYS * LEVELS];
  TSL_LOCAL residue_choice choices[1];
  TSL_LOCAL unsigned native[2];
  TSL_GLOBAL const residue_rules *rules = (TSL_GLOBAL const residue_rules *)(scratch + args.rules_at);
  const int item = TSL_ITEM(0), candidates = rules->candidates;
  for (int i = item; i < COPIES * COUNTERS; i += ITEMS)
    ((TSL_LOCAL_POINTER unsigned *)counts)[i] = 0;
  if (item < 2)
    native[item] = 0;
  TSL_BARRIER();
  for (int o = 0; o < 2; o++)
    for (int i = item; i < (o ? args.n : args.m); i += AHEAD * ITEMS) {
      unsigned keys[AHEAD];
      fetch_keys(keys, scratch, &args, o, i, o ? args.n : args.m);
      TSL_UNROLL
      for (int u = 0; u < AHEAD; u++)
        if (!(keys[u] & TSL_RESIDUE_ZERO))
          count_line(&counts[item % COPIES], o, candidates, keys[u]);
    }
  TSL_BARRIER();
  for (int i = item; i < COUNTERS; i += ITEMS)
    for (int copy = 1; copy < COPIES; copy++)
      ((TSL_LOCAL_POINTER unsigned *)counts)[i] +=
          ((TSL_LOCAL_POINTER unsigned *)counts)[copy * COUNTERS + i];
  TSL_BARRIER();
  for (int i = item; i < WAYS * LEVELS; i += ITEMS)
    costs[i] = residue_cost(rules, counts, i / LEVELS / 2, i / LEVELS % 2, i % LEVELS);
  TSL_BARRIER();
  if (item == 0) {
    residue_choice choice = choice_by(rules, counts, costs);
    if (args.is_kept) {
      const residue_choice before = *(TSL_GLOBAL const residue_choice *)(scratch + args.made);
      choice.moduli_to_convert[args.stays] = residue_serves(&before, &choice, args.stays) ? 0 : choice.moduli;
    }
    choices[0] = choice;
  }
  TSL_BARRIER();
  const residue_choice made = choices[0];
  for (int o = 0; o < 2; o++) {
    const int lines = o ? args.n : args.m;
    TSL_GLOBAL const int *scales = (TSL_GLOBAL const int *)(scratch + args.candidates[o][made.candidate]);
    for (int first = item; first < lines; first += AHEAD * ITEMS) {
      unsigned keys[AHEAD];
      int own[AHEAD];
      fetch_keys(keys, scratch, &args, o, first, lines);
      TSL_UNROLL
      for (int u = 0; u < AHEAD; u++)
        own[u] = first + u * ITEMS < lines ? scales[first + u * ITEMS] : 0;
      TSL_UNROLL
      for (int u = 0; u < AHEAD; u++) {
        const int i = first + u * ITEMS, is_native = residue_is_native(&made, o, keys[u]);
        if (i < lines)
          ((TSL_GLOBAL int *)(scratch + args.scales[o]))[i] = is_native ? TSL_RESIDUE_NO_SCALE : own[u];
        if (is_native)
          TSL_LOCAL_ADD(&native[o], 1u);
      }
    }
  }
  TSL_BARRIER();
  if (item == 0) {
    residue_choice whole = made;
    for (int o = 0; o < 2; o++)
      whole.native[o] = (int)native[o];
    *(TSL_GLOBAL residue_choice *)(scratch + args.choice) = whole;
    if (!args.is_kept || whole.moduli_to_convert[args.stays] > 0)
      *(TSL_GLOBAL residue_choice *)(scratch + args.made) = whole;
  }
}
