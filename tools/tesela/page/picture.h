/* Turns a gnuplot script into an SVG element for the page. */
#ifndef TSL_TOOL_PAGE_PICTURE_H
#define TSL_TOOL_PAGE_PICTURE_H

#include "core/text.h"

/* Colours of gnuplot scripts. gnuplot copies each number into the SVG. The page replaces the number by a CSS
 * variable, so the picture follows the colour scheme. X(NAME, blue of #0000xx, the variable) */
#define TSL_INK_LIST(X)                                                                                      \
  X(TEXT, 161, "--text")                                                                                     \
  X(AXIS, 162, "--axis")                                                                                     \
  X(MUTED, 163, "--muted")                                                                                   \
  X(GRID, 164, "--grid")                                                                                     \
  X(ROOF, 165, "--roof")                                                                                     \
  X(LINE, 171, "--line-1")                                                                                   \
  X(LINE_2, 172, "--line-2")                                                                                 \
  X(LINE_3, 173, "--line-3")                                                                                 \
  X(LINE_4, 174, "--line-4")                                                                                 \
  X(LINE_5, 175, "--line-5")                                                                                 \
  X(LINE_6, 176, "--line-6")                                                                                 \
  X(LINE_7, 177, "--line-7")                                                                                 \
  X(LINE_8, 178, "--line-8")                                                                                 \
  X(LINE_9, 179, "--line-9")

typedef enum tsl_ink {
#define TSL_INK_MEMBER(name, blue, variable) TSL_INK_##name = (blue),
  TSL_INK_LIST(TSL_INK_MEMBER)
#undef TSL_INK_MEMBER
} tsl_ink;
enum { TSL_INK_LINES = 9 };

typedef struct tsl_picture {
  const char *script; /* the gnuplot script, which ends in a plot command; the terminal is already set */
  int width, height;  /* size of the drawing; the page scales it */
  int number;         /* a number unique on the page */
  const char *title;  /* the text alternative for readers without the picture */
  const char *description;
  const char *const *names; /* of the plotted lines, in their order, which the page shows under the pointer */
  int name_count;
} tsl_picture;

/* Appends text as a gnuplot string in single quotes, in which gnuplot expands nothing. */
void tsl_picture_add_string(tsl_text *script, const char *text);

/* Appends the SVG element. Sets *found to false, and appends nothing, if gnuplot is not in PATH.
 * Returns TESELA_IO_FAILED if gnuplot fails or takes longer than ten seconds. */
tesela_status tsl_picture_draw(const tsl_picture *picture, tsl_text *out, bool *found);

#endif
