/* Parts of the page. */
#ifndef TSL_TOOL_PAGE_SECTIONS_H
#define TSL_TOOL_PAGE_SECTIONS_H

#include "page/contents.h"
#include "page/picture.h"

/* State of a page that is being written. */
typedef struct tsl_sheet {
  const tsl_page *page;
  tsl_text out;
  int pictures;         /* number of pictures drawn */
  bool without_gnuplot; /* gnuplot is missing; set by the first picture */
  tesela_status status; /* first failure of gnuplot */
  char failure[512];    /* message of that failure */
} tsl_sheet;

/* Unit of the compared rate: operations a second, or bytes a second for an operation that only moves data. */
typedef struct tsl_rate {
  const char *unit;
  double scale; /* amount per second of one unit */
} tsl_rate;
tsl_rate tsl_sheet_rate(const tsl_sheet *sheet);
/* Returns the rate of a point in the unit of tsl_sheet_rate(); NaN for a point without a time. */
double tsl_sheet_value(const tsl_sheet *sheet, const tsl_point *point);
/* Returns the measured peak of the point's device for the point, in the unit of tsl_sheet_rate(); NaN if
 * unknown. */
double tsl_sheet_roof(const tsl_sheet *sheet, const tsl_point *point);
/* Returns true if results can be inexact. */
bool tsl_sheet_has_errors(const tsl_sheet *sheet);
/* Returns the unit of errors, as HTML. */
const char *tsl_sheet_error_unit(const tsl_sheet *sheet);
/* Returns true if any point has a time. */
bool tsl_sheet_has_times(const tsl_sheet *sheet);
/* Returns the index of the size with most work for which the device has a time; -1: none. */
int tsl_sheet_largest_size(const tsl_sheet *sheet, int type, int device);
const tsl_measured_times *tsl_sheet_measured(const tsl_sheet *sheet, int device);

/* Appends a strategy's name, with the parameters that the user gave. */
void tsl_sheet_add_strategy(const tsl_sheet *sheet, int strategy, tsl_text *out);
/* Appends "512 x 512 x 512" with multiplication signs. */
void tsl_sheet_add_size(const tsl_sheet *sheet, int size, tsl_text *out);
/* Writes three significant digits, with thin spaces between thousands: "53.9", "12 300"; "-" for NaN. Returns
 * `out`. */
const char *tsl_sheet_number(double value, char *out, size_t size);

/* Decimals of a column of numbers, whose points are aligned. */
typedef struct tsl_digits {
  int decimals; /* largest number of decimals in the column */
} tsl_digits;
void tsl_digits_see(tsl_digits *column, double value);
void tsl_digits_add(const tsl_digits *column, double value, tsl_text *out);

/* Appends the sections, in the page's order. */
void tsl_sheet_add_glance(tsl_sheet *sheet);
void tsl_sheet_add_tables(tsl_sheet *sheet);
void tsl_sheet_add_curves(tsl_sheet *sheet);
void tsl_sheet_add_sweeps(tsl_sheet *sheet);
void tsl_sheet_add_roofline(tsl_sheet *sheet);
void tsl_sheet_add_why(tsl_sheet *sheet);
void tsl_sheet_add_ideas(tsl_sheet *sheet); /* each has the id "idea-<name>" */
void tsl_sheet_add_errors(tsl_sheet *sheet);
void tsl_sheet_add_machine(tsl_sheet *sheet);

/* Appends a strategy's header comment as HTML. Paragraphs are reflowed; pictures (blocks that begin with a
 * blank) keep their lines. */
void tsl_page_add_story(const char *story, tsl_text *out);

/* Appends the begin and the end of a section: its heading, and a paragraph that explains how to read it. */
void tsl_sheet_begin(tsl_sheet *sheet, const char *id, const char *title, const char *how);
void tsl_sheet_end(tsl_sheet *sheet);

/* --- pictures (plot.c) --- */

/* A point of a line. */
typedef struct tsl_spot {
  double x, y;
} tsl_spot;

/* Line, or set of marks. */
typedef struct tsl_chart_series {
  char name[96];
  tsl_spot spots[TSL_SELECT_MAX];
  int count;
  int look;  /* number of the colour, dash and mark; equal numbers look alike on the whole page */
  bool roof; /* drawn as a limit line without marks */
} tsl_chart_series;

enum { TSL_SERIES_MAX = TSL_INK_LINES + 6 }; /* TSL_INK_LINES lines, and limits */

typedef struct tsl_axis {
  const char *label;
  bool log;
  bool from_zero;                 /* ignored if `log` */
  double low, high;               /* ends of the axis; 0, 0: from the data */
  tsl_spot ticks[TSL_SELECT_MAX]; /* x: position, y: the number written there; none: chosen from the data */
  int tick_count;
} tsl_axis;

typedef struct tsl_plot {
  tsl_chart_series series[TSL_SERIES_MAX];
  int count;
  tsl_axis x, y;
  bool lines;      /* false: marks only */
  char title[160]; /* title of the figure: "opencl:0, f32" */
  char about[400]; /* text alternative */
} tsl_plot;

/* Sets up a series of a strategy, without points. */
void tsl_series_begin(const tsl_sheet *sheet, int strategy, tsl_chart_series *out);
/* Adds a point unless x or y is NaN. */
void tsl_series_add(tsl_chart_series *series, double x, double y);
/* Writes the strategies with a time on the device, sorted by their best rate at any size, the fastest first.
 * Returns their number. */
int tsl_sheet_rank(const tsl_sheet *sheet, int type, int device, int *ranked);

/* Starts or ends a group of figures, which are side by side in a wide window. */
void tsl_sheet_figures(tsl_sheet *sheet, bool begin);
/* Draws a figure with its caption. Omits a plot without points. */
void tsl_sheet_add_plot(tsl_sheet *sheet, const tsl_plot *plot);

/* Returns the look of a strategy: its number among the strategies of its kind (C on the host, or kernels), in
 * the ladder's order. */
int tsl_sheet_look(const tsl_sheet *sheet, int strategy);

#endif
