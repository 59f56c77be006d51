#include "lab/lab_templates.h"

#include "core/status.h"

#include <ctype.h>
#include <string.h>

#include <lab_dot_block_tree_cl.h>
#include <lab_dot_sequential_c.h>
#include <lab_gemm_blocked_c.h>
#include <lab_gemm_element_cl.h>
#include <lab_gemm_global_sum_cl.h>
#include <lab_gemm_host_packed_c.h>
#include <lab_gemm_image_microtile_cl.h>
#include <lab_gemm_row_cl.h>
#include <lab_gemm_row_private_cl.h>
#include <lab_gemm_row_private_column_local_cl.h>
#include <lab_gemm_rows_first_cl.h>
#include <lab_gemm_sequential_c.h>
#include <lab_gemm_sequential_optimized_c.h>
#include <lab_gemm_threads_c.h>
#include <lab_gemm_tile_local_c.h>
#include <lab_gemm_tile_local_cl.h>
#include <lab_gemm_whole_row_private_cl.h>
#include <lab_transpose_element_cl.h>
#include <lab_transpose_sequential_c.h>
#include <lab_transpose_tile_local_cl.h>

/* Kernels without a strategy of their name are compared with the neighbours of `like`. */
static const tsl_lab_template templates[] = {
    {TSL_OP_GEMM, "tile_local", NULL, lab_gemm_tile_local_cl, lab_gemm_tile_local_c, "n m", "TILE TILE",
     false},
    {TSL_OP_GEMM, "element", NULL, lab_gemm_element_cl, lab_gemm_sequential_c, "n m", "16 16", false},
    {TSL_OP_GEMM, "rows_first", "element", lab_gemm_rows_first_cl, NULL, "m n", "16 16", false},
    {TSL_OP_GEMM, "global_sum", "element", lab_gemm_global_sum_cl, NULL, "n m", "16 16", false},
    {TSL_OP_GEMM, "row", NULL, lab_gemm_row_cl, lab_gemm_sequential_c, "m", "ITEMS", false},
    {TSL_OP_GEMM, "row_private", NULL, lab_gemm_row_private_cl, NULL, "m", "ITEMS", false},
    {TSL_OP_GEMM, "whole_row_private", "row_private", lab_gemm_whole_row_private_cl, NULL, "m", "ITEMS",
     false},
    {TSL_OP_GEMM, "row_private_column_local", NULL, lab_gemm_row_private_column_local_cl, NULL, "m", "ITEMS",
     false},
    {TSL_OP_GEMM, "image_microtile", NULL, lab_gemm_image_microtile_cl, NULL, "(n+3)/4 (m+7)/8", "16 4",
     true},
    {TSL_OP_GEMM, "sequential", NULL, NULL, lab_gemm_sequential_c, "1", "1", false},
    {TSL_OP_GEMM, "sequential_optimized", NULL, NULL, lab_gemm_sequential_optimized_c, "1", "1", false},
    {TSL_OP_GEMM, "blocked", NULL, NULL, lab_gemm_blocked_c, "1", "1", false},
    {TSL_OP_GEMM, "host_packed", NULL, NULL, lab_gemm_host_packed_c, "1", "1", false},
    {TSL_OP_GEMM, "threads", "sequential", NULL, lab_gemm_threads_c, "1", "1", false},
    {TSL_OP_DOT, "block_tree", NULL, lab_dot_block_tree_cl, NULL, "GROUP*GROUPS", "GROUP", false},
    {TSL_OP_DOT, "sequential", NULL, NULL, lab_dot_sequential_c, "1", "1", false},
    {TSL_OP_TRANSPOSE, "tile_local", NULL, lab_transpose_tile_local_cl, NULL, "cols rows", "TILE TILE",
     false},
    {TSL_OP_TRANSPOSE, "element", NULL, lab_transpose_element_cl, lab_transpose_sequential_c, "cols rows",
     "16 16", false},
};
enum { TEMPLATES = sizeof templates / sizeof *templates };

const char *tsl_lab_function(tsl_op op) {
  return op == TSL_OP_DOT ? "dot_product" : tsl_op_name(op);
}

static const char *template_text(const tsl_lab_template *model, tsl_lab_language language) {
  if (model->has_image && language != TSL_LAB_OPENCL)
    return NULL;
  return language == TSL_LAB_C ? model->c : model->opencl;
}

/* Returns true if the name is the strategy, or operation and strategy. */
static bool template_is(const tsl_lab_template *model, const char *name) {
  const char *op = tsl_op_name(model->op);
  const size_t length = strlen(op);
  if (strncmp(name, op, length) == 0 && name[length] == ' ')
    name += length + 1;
  else if (model->op != TSL_OP_GEMM)
    return false;
  return strcmp(name, model->strategy) == 0;
}

tesela_status tsl_lab_template_find(const char *name, tsl_lab_language language,
                                    const tsl_lab_template **found) {
  tsl_text names = {0};
  for (int i = 0; i < TEMPLATES; i++) {
    if (!template_text(&templates[i], language))
      continue;
    if (template_is(&templates[i], name)) {
      *found = &templates[i];
      tsl_text_free(&names);
      return TESELA_OK;
    }
    tsl_text_add(&names, "%s%s%s%s", names.length ? ", " : "",
                 templates[i].op == TSL_OP_GEMM ? "" : tsl_op_name(templates[i].op),
                 templates[i].op == TSL_OP_GEMM ? "" : " ", templates[i].strategy);
  }
  const tesela_status status = tsl_fail(TESELA_UNSUPPORTED, "\"%s\" has no plain kernel in %s; there are %s",
                                        name, tsl_lab_language_title(language), tsl_text_get(&names));
  tsl_text_free(&names);
  return status;
}

/* Words of OpenCL C and CUDA C++; {0} and {1} are dimensions. */
static const char *const cuda_words[][2] = {
    {"__kernel void", "__global__ void"},
    {"__global const ", "const "},
    {"__global ", ""},
    {"__local ", "__shared__ "},
    {"barrier(CLK_LOCAL_MEM_FENCE)", "__syncthreads()"},
    {"get_global_id(0)", "blockIdx.x * blockDim.x + threadIdx.x"},
    {"get_global_id(1)", "blockIdx.y * blockDim.y + threadIdx.y"},
    {"get_local_id(0)", "threadIdx.x"},
    {"get_local_id(1)", "threadIdx.y"},
    {"get_group_id(0)", "blockIdx.x"},
    {"get_group_id(1)", "blockIdx.y"},
    {"work-items", "threads"},
    {"work-item", "thread"},
    {"work-group", "block"},
    {"local memory", "shared memory"},
    {NULL, NULL},
};

static bool is_word_part(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

void tsl_lab_template_add(const tsl_lab_template *model, tsl_lab_language language, tesela_type type,
                          tsl_text *out) {
  const char *const text = template_text(model, language);
  for (const char *at = text; *at;) {
    int row = 0;
    while (language == TSL_LAB_CUDA && cuda_words[row][0] &&
           strncmp(at, cuda_words[row][0], strlen(cuda_words[row][0])) != 0)
      row++;
    if (language == TSL_LAB_CUDA && cuda_words[row][0]) {
      tsl_text_add(out, "%s", cuda_words[row][1]);
      at += strlen(cuda_words[row][0]);
    } else if (type == TESELA_F64 && strncmp(at, "float", 5) == 0 && !is_word_part(at[5]) &&
               (at == text || !is_word_part(at[-1]))) {
      tsl_text_add(out, "double");
      at += 5;
    } else {
      tsl_text_add_bytes(out, at++, 1);
    }
  }
}
