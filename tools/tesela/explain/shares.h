/* Who computes what of a product that is split. */
#ifndef TESELA_EXPLAIN_SHARES_H
#define TESELA_EXPLAIN_SHARES_H

#include "cli/table.h"
#include "explain/explain.h"

/* A line about all of them; nothing of other plans. */
void tsl_shares_add_pair(const tsl_explanation *found, tsl_table *table);
/* A row for each; none of other plans. */
void tsl_shares_table(const tsl_explanation *found, tsl_table *table);

#endif
