/* Plain kernels as the courses write them, one a strategy and language. The OpenCL texts are files
 * (kernels/<op>_<strategy>.cl); the CUDA texts are made from these, because only words differ. */
#ifndef TSL_TOOL_LAB_TEMPLATES_H
#define TSL_TOOL_LAB_TEMPLATES_H

#include "lab/lab_kernel.h"

typedef struct tsl_lab_template {
  tsl_op op;
  const char *strategy;
  const char *like;          /* strategy of the library that is nearest; NULL: `strategy` itself */
  const char *opencl, *c;    /* texts; NULL: none in this language */
  const char *items, *group; /* values of the lines in `parameters`, for OpenCL and CUDA */
  bool has_image;            /* B is an image: OpenCL only, f32 only, and not for `lab new` */
} tsl_lab_template;

/* Finds a template by its strategy, optionally after the operation ("dot block_tree"), with a text in this
 * language. TESELA_UNSUPPORTED lists the names. */
tesela_status tsl_lab_template_find(const char *name, tsl_lab_language language,
                                    const tsl_lab_template **found);
/* Appends the kernel in a language and for a type, f32 or f64. */
void tsl_lab_template_add(const tsl_lab_template *model, tsl_lab_language language, tesela_type type,
                          tsl_text *out);

/* Returns the name of the templates' function: "gemm", "dot_product" (dot is OpenCL's own), "transpose". */
const char *tsl_lab_function(tsl_op op);

#endif
