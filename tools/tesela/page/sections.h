/* Parts of the page. */
#ifndef TSL_TOOL_PAGE_SECTIONS_H
#define TSL_TOOL_PAGE_SECTIONS_H

#include "page/contents.h"
#include "page/picture.h"

/* The page while it is made. */
typedef struct tsl_sheet {
  const tsl_page *page;
  tsl_text out;
  int pictures;         /* drawn so far */
  bool without_gnuplot; /* there is none: the first picture found out */
  tesela_status status; /* the first failure of gnuplot */
  char failure[512];    /* and its sentence */
} tsl_sheet;

/* What is compared: operations a second, or bytes where the operation only moves data. */
typedef struct tsl_rate {
  const char *unit;
  double scale; /* a second's amount over this */
} tsl_rate;
tsl_rate tsl_sheet_rate(const tsl_sheet *sheet);
/* In that unit; NaN where the point has no time. */
double tsl_sheet_value(const tsl_sheet *sheet, const tsl_point *point);
/* What the measured roofs of its device allow at most, in that unit; NaN where they are not known. */
double tsl_sheet_roof(const tsl_sheet *sheet, const tsl_point *point);
/* Whether results can be less than exact, and what their errors are counted in (HTML). */
bool tsl_sheet_has_errors(const tsl_sheet *sheet);
const char *tsl_sheet_error_unit(const tsl_sheet *sheet);
/* Whether anything has a time. */
bool tsl_sheet_has_times(const tsl_sheet *sheet);
/* The size with most work at which something ran on the device; -1: none did. */
int tsl_sheet_largest_size(const tsl_sheet *sheet, int type, int device);
const tsl_measured_times *tsl_sheet_measured(const tsl_sheet *sheet, int device);

/* A strategy's name, with parameters where the user gave some. */
void tsl_sheet_add_strategy(const tsl_sheet *sheet, int strategy, tsl_text *out);
/* "512 x 512 x 512" with real crosses. */
void tsl_sheet_add_size(const tsl_sheet *sheet, int size, tsl_text *out);
/* "53.9", "12 300", "-" for NaN: three digits that count, thin blanks between thousands. */
const char *tsl_sheet_number(double value, char *out, size_t size);

/* A cell's number in a column of numbers: its points stand one below the other. */
typedef struct tsl_digits {
  int decimals; /* the most in the column */
} tsl_digits;
void tsl_digits_see(tsl_digits *column, double value);
void tsl_digits_add(const tsl_digits *column, double value, tsl_text *out);

/* Sections, in the page's order. */
void tsl_sheet_add_glance(tsl_sheet *sheet);
void tsl_sheet_add_tables(tsl_sheet *sheet);
void tsl_sheet_add_curves(tsl_sheet *sheet);
void tsl_sheet_add_sweeps(tsl_sheet *sheet);
void tsl_sheet_add_roofline(tsl_sheet *sheet);
void tsl_sheet_add_why(tsl_sheet *sheet);
void tsl_sheet_add_ideas(tsl_sheet *sheet); /* each under the id "idea-<name>" */
void tsl_sheet_add_errors(tsl_sheet *sheet);
void tsl_sheet_add_machine(tsl_sheet *sheet);

/* A strategy's story as HTML: paragraphs flow, pictures (blocks that begin with a blank) keep their lines. */
void tsl_page_add_story(const char *story, tsl_text *out);

/* A section's begin and end: its heading, and a paragraph that says how to read it. */
void tsl_sheet_begin(tsl_sheet *sheet, const char *id, const char *title, const char *how);
void tsl_sheet_end(tsl_sheet *sheet);

/* --- pictures (plot.c) --- */

/* A point of a line. */
typedef struct tsl_spot {
  double x, y;
} tsl_spot;

/* One line, or a set of marks. */
typedef struct tsl_chart_series {
  char name[96];
  tsl_spot spots[TSL_SELECT_MAX];
  int count;
  int look;  /* which colour, dash and mark: equal numbers look alike on the whole page */
  bool roof; /* drawn as a limit, without marks */
} tsl_chart_series;

enum { TSL_SERIES_MAX = TSL_INK_LINES + 3 }; /* nine lines, and limits */

typedef struct tsl_axis {
  const char *label;
  bool log;
  bool from_zero;   /* not for logarithms */
  double low, high; /* its ends; 0, 0: from the data */
  tsl_spot
      ticks[TSL_SELECT_MAX]; /* x: where; y: the number that is written there; none: chosen from the data */
  int tick_count;
} tsl_axis;

typedef struct tsl_plot {
  tsl_chart_series series[TSL_SERIES_MAX];
  int count;
  tsl_axis x, y;
  bool lines;      /* else marks only */
  char title[160]; /* of the figure: "opencl:0, f32" */
  char about[400]; /* for those who do not see it */
} tsl_plot;

/* A series of this strategy, without spots yet; and another spot, unless it has no number. */
void tsl_series_begin(const tsl_sheet *sheet, int strategy, tsl_chart_series *out);
void tsl_series_add(tsl_chart_series *series, double x, double y);
/* Strategies that ran on the device, by their best rate at any size, the fastest first; returns how many. */
int tsl_sheet_rank(const tsl_sheet *sheet, int type, int device, int *ranked);

/* Starts and ends a group of figures, side by side where the window is wide. */
void tsl_sheet_figures(tsl_sheet *sheet, bool begin);
/* Draws a figure with its caption; a plot without a spot is left out. */
void tsl_sheet_add_plot(tsl_sheet *sheet, const tsl_plot *plot);

/* The look of a strategy: numbered among those of its kind (C on the host, or kernels), in the ladder's
 * order. */
int tsl_sheet_look(const tsl_sheet *sheet, int strategy);

#endif
