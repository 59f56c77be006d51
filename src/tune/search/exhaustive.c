#include "tune/search.h"

const tsl_search tsl_search_exhaustive = {.name = "exhaustive",
                                          .what = "every legal config, in the order of the models",
                                          .propose = tsl_search_in_order};
