/* tesela lab: kernels of one's own, judged and timed. */
#ifndef TSL_TOOL_LAB_LAB_H
#define TSL_TOOL_LAB_LAB_H

#include "cli/tool.h"
#include "io/output.h"
#include "lab/lab_kernel.h"

#include <stdio.h>

typedef struct tsl_lab_options {
  const char *from, *language, *device, *output, *sizes, *html, *locale;
  tesela_type type;
  bool plain, json, peers, markdown; /* plain: without the race */
  bool quiet;                        /* output of the kernel is lost; set by grade */
  double seconds;                    /* limit of processor time of one kernel */
  uint64_t memory;                   /* limit of its memory */
  int64_t times;                     /* watch: runs, 0: until an interrupt */
} tsl_lab_options;

/* Outcome of a run. */
typedef enum tsl_lab_outcome {
  TSL_LAB_RIGHT,
  TSL_LAB_WRONG,  /* a wrong result, or a fault that the detector found */
  TSL_LAB_BROKEN, /* does not compile, or ended by a signal or a limit */
  TSL_LAB_UNTRIED /* right in the detector; no device of its language is here */
} tsl_lab_outcome;
const char *tsl_lab_outcome_word(tsl_lab_outcome outcome);

enum { TSL_LAB_PATH_MAX = 512 /* of temporary files */, TSL_LAB_FAULTS_MAX = 8, TSL_LAB_RATES_MAX = 16 };

typedef struct tsl_lab_rate {
  char name[64];
  double seconds; /* of one run; NaN if it was not timed */
} tsl_lab_rate;

/* Fault of a kernel: a short name such as "missing barrier", and a sentence, in English and as shown. */
typedef struct tsl_lab_fault {
  char kind[40];
  char text[400], shown[600];
} tsl_lab_fault;

/* Plain data, so that a child process can send it. */
typedef struct tsl_lab_report {
  tsl_lab_outcome outcome;
  bool is_complete;     /* the work went to its end */
  tesela_status status; /* of a failure */
  char failure[1024];   /* sentence of a compile error or another failure */
  char log[4096];       /* the compiler's log */
  char device[128], device_label[128];
  tsl_lab_fault faults[TSL_LAB_FAULTS_MAX];
  int fault_count;
  char undetected[256]; /* reason why the detector did not run; "" if it ran */
  /* loads and stores of global and local elements, multiply-adds of the shape: counted by the detector */
  double global_reads, global_writes, local_reads, local_writes, barriers, products;
  double lines;           /* lines of 64 bytes that 32 neighbouring work-items touch at once; 0: unknown */
  bool hangs;             /* the detector found an endless loop or a crash: nothing else was tried */
  int cases, cases_right; /* standard shapes */
  char wrong[600];        /* the first wrong case and element */
  double error;           /* largest error, as a fraction of the guaranteed one */
  char size[64];          /* size of the race, "512 x 512 x 512" */
  double flops, bytes;    /* of the race's product */
  tsl_lab_rate rates[TSL_LAB_RATES_MAX];
  int rate_count; /* rates[0] is the kernel's own */
  /* comparison with the rung that the kernel began as; "": none */
  char partner[64], why[1024], agreement[32], reason[32];
  double predicted_factor, measured_factor;
} tsl_lab_report;

/* Compiles, checks, judges and times a kernel in a child process with limits. A fault of the kernel is in the
 * report; the call fails only if the folder cannot be read or the system refuses. */
tesela_status tsl_lab_try(const tsl_lab_kernel *kernel, const tsl_lab_options *options,
                          tsl_lab_report *report);
/* Does this in the present process. */
void tsl_lab_work(const tsl_lab_kernel *kernel, const tsl_lab_options *options, tsl_lab_report *report);

/* Runs the kernel item by item on the processor and records its faults (lab_detect.c). `problem`: this shape
 * only; NULL: a few shapes that show most faults. */
void tsl_lab_detect(const tsl_lab_kernel *kernel, const tsl_problem *problem, tsl_lab_report *report);
/* Appends a kernel's text with local memory as static arrays that the detector knows. Lines stay where they
 * are. In OpenCL C, TSL_LOCAL is local memory as well. */
void tsl_lab_add_registered(tsl_lab_language language, const char *text, tsl_text *out);
/* Compiles a text that defines lab_call(), with the detector's memory and a file `work` that has main(), to a
 * program in the folder. Its own headers are searched in the folder `headers`. *code: exit code of the
 * compiler, whose output is appended. */
tesela_status tsl_lab_compile_recorded(const char *folder, const char *headers, tsl_lab_language language,
                                       const char *text, const char *work, char program[TSL_LAB_PATH_MAX],
                                       tsl_text *output, int *code);
/* Adds a fault, unless the report is full or has it. */
void tsl_lab_add_fault(tsl_lab_report *report, const tsl_lab_fault *fault);

/* Appends the report as text, with quoted lines of the kernel. `width`, `colour`: of the output, as in
 * cli/table.h. */
void tsl_lab_report_add(const tsl_lab_kernel *kernel, const tsl_lab_report *report, int width, bool colour,
                        tsl_text *out);
/* Appends a line of the report: its name, translated, and an English sentence, which is translated here. */
void tsl_lab_report_add_line(const char *name, const char *sentence, tsl_text *out);
/* Returns a text as JSON; bytes that are no UTF-8, as in old source files, become U+FFFD. */
json_t *tsl_lab_json_text(const char *text);
/* Returns the report as JSON. */
json_t *tsl_lab_report_json(const tsl_lab_kernel *kernel, const tsl_lab_report *report);
/* Opens the page's file of --html, so that an unwritable file is reported first; without --html does nothing,
 * as the functions below. */
tesela_status tsl_lab_page_open(const tsl_lab_options *options, tsl_output *page);
/* Writes the page of a kernel. */
tesela_status tsl_lab_page_write(const tsl_command_call *call, const tsl_lab_kernel *kernel,
                                 const tsl_lab_report *report, tsl_output *page);
/* Writes the page of a class. Takes the reference of `kernels`, a list; `text`: the ranking as text. */
tesela_status tsl_lab_page_write_class(const tsl_command_call *call, json_t *kernels, const tsl_text *text,
                                       tsl_output *page);
/* Removes a page that was not written. */
void tsl_lab_page_close(tsl_output *page);
/* Returns the report as JSON with the kernel's file, text and device, as the page needs it. */
json_t *tsl_lab_page_json(const tsl_lab_kernel *kernel, const tsl_lab_report *report);
/* Returns the data with faults in the language of the texts. */
json_t *tsl_lab_page_json_shown(const tsl_lab_kernel *kernel, const tsl_lab_report *report);
/* Fails with the exit code of the report; TESELA_OK for a right kernel. */
tesela_status tsl_lab_conclude(const tsl_lab_kernel *kernel, const tsl_lab_report *report);

/* The actions of the command. */
tesela_status tsl_lab_new(const tsl_command_call *call);
tesela_status tsl_lab_run(const tsl_command_call *call);
tesela_status tsl_lab_watch(const tsl_command_call *call);
tesela_status tsl_lab_grade(const tsl_command_call *call);
tesela_status tsl_lab_pack(const tsl_command_call *call);

/* Writes a new file; TESELA_BAD_INPUT if it exists. */
tesela_status tsl_lab_write_new(const char *path, const char *text);
/* Runs a program without a shell, its output to a new text. *code: exit code, or 128 + signal. */
tesela_status tsl_lab_command(const char *const *words, double seconds, tsl_text *output, int *code);
/* Makes a temporary folder. The caller removes it with tsl_lab_remove(); interrupts wait until then. */
tesela_status tsl_lab_temporary(char path[TSL_LAB_PATH_MAX]);
void tsl_lab_remove(const char *path);
/* Returns true if an interrupt waits. */
bool tsl_lab_is_interrupted(void);

#endif
