/* Prints the devices' shards of a product that is split. */
#ifndef TESELA_EXPLAIN_SHARES_H
#define TESELA_EXPLAIN_SHARES_H

#include "cli/table.h"
#include "explain/explain.h"

/* Adds one row about all shards; nothing for other plans. */
void tsl_shares_add_pair(const tsl_explanation *found, tsl_table *table);
/* Adds a row for each shard; nothing for other plans. */
void tsl_shares_table(const tsl_explanation *found, tsl_table *table);

/* Adds the expected times on 1 to 8 devices like the first one; nothing for a single device. */
void tsl_scaling_table(const tsl_explanation *found, tsl_table *table);

#endif
