/* Texts of a list X(NAME, text, ...), in the order of its enum: `names[] = {LIST(TSL_LIST_TEXT)}`. */
#ifndef TSL_CORE_LIST_TEXT_H
#define TSL_CORE_LIST_TEXT_H

#define TSL_LIST_TEXT(name, text, ...) text,
#define TSL_LIST_WORD(name, word, ...) #word, /* for words without quotes */

#endif
