/* tesela lab new: a folder with a plain kernel, its parameters and a README. */
#include "cli/language.h"
#include "core/status.h"
#include "lab/lab.h"
#include "lab/lab_templates.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

tesela_status tsl_lab_write_new(const char *path, const char *text) {
  FILE *file = fopen(path, "wbx");
  if (!file)
    return tsl_fail(errno == EEXIST ? TESELA_BAD_INPUT : TESELA_IO_FAILED, "%s: %s", path, strerror(errno));
  const bool written = fputs(text, file) >= 0;
  return fclose(file) == 0 && written ? TESELA_OK
                                      : tsl_fail(TESELA_IO_FAILED, "%s: %s", path, strerror(errno));
}

static void new_add_parameters(const tsl_lab_template *model, tsl_lab_language language, tesela_type type,
                               tsl_text *out) {
  const bool is_cuda = language == TSL_LAB_CUDA;
  tsl_text_add(out, "# ");
  tsl_text_add(out, tsl_tr("What tesela must know of kernel.%s, one parameter a line."),
               tsl_lab_language_extension(language));
  tsl_text_add(out, "\noperation = %s\nkernel = %s\ntype = %s\n", tsl_op_name(model->op),
               tsl_lab_function(model->op), type == TESELA_F64 ? "f64" : "f32");
  if (language != TSL_LAB_C)
    tsl_text_add(out, "items = %s  # %s\ngroup = %s  # %s\n", model->items,
                 is_cuda ? tsl_tr("threads in dimension 0, 1, ...; rounded up to whole blocks")
                         : tsl_tr("work-items in dimension 0, 1, ...; rounded up to whole groups"),
                 model->group, is_cuda ? tsl_tr("threads of a block") : tsl_tr("work-items of a group"));
  tsl_text_add(out, "from = %s\n", model->like ? model->like : model->strategy);
}

static void new_add_readme(const char *name, const tsl_lab_template *model, tsl_lab_language language,
                           tsl_text *out) {
  static const char *const titles[] = {[TSL_OP_GEMM] = N_("A product kernel in %s that began as `%s`."),
                                       [TSL_OP_DOT] = N_("A dot product kernel in %s that began as `%s`."),
                                       [TSL_OP_TRANSPOSE] =
                                           N_("A transpose kernel in %s that began as `%s`.")};
  tsl_text_add(out, "# %s\n\n", name);
  tsl_text_add(out, tsl_tr(titles[model->op]), tsl_lab_language_title(language), model->strategy);
  tsl_text_add(out, " ");
  tsl_text_add(out, tsl_tr("Change `kernel.%s`, then:"), tsl_lab_language_extension(language));
  tsl_text_add(out,
               "\n\n    tesela lab run %s     %s\n    tesela lab watch %s   %s\n"
               "    tesela lab pack %s    %s\n\n",
               name, tsl_tr("compile it, look for faults, judge it and time it"), name,
               tsl_tr("the same whenever you save the file"), name, tsl_tr("one file to hand in"));
  tsl_text_add(
      out, "%s\n\n",
      tsl_tr("The kernel's arguments are known by their names, in any order; leave out what you do not "
             "need."));
#define NEW_ADD_ARGUMENT(member, word, role, what) tsl_text_add(out, "- `%s`: %s\n", word, tsl_tr(what));
  TSL_LAB_ARGUMENT_LIST(NEW_ADD_ARGUMENT)
#undef NEW_ADD_ARGUMENT
  tsl_text_add(
      out, "\n%s\n",
      tsl_tr("An argument with another name needs a line in `parameters`, such as `Mdim = m`. "
             "Without lda, ldb and ldc rows follow each other without gaps. A kernel without alpha and "
             "beta computes C = A B."));
}

tesela_status tsl_lab_new(const tsl_command_call *call) {
  const tsl_lab_options *given = call->options;
  const char *const folder = call->words[1];
  const tsl_lab_language language = tsl_lab_language_find(given->language);
  const tsl_lab_template *model = NULL;
  char path[3][PATH_MAX];
  tsl_text kernel = {0}, parameters = {0}, readme = {0}, out = {0};
  tesela_status status = TESELA_OK;
  if (language == TSL_LAB_LANGUAGES)
    return tsl_fail(TESELA_BAD_CALL, "--language: \"%s\" is none; there are opencl, cuda and c",
                    given->language);
  if (given->type != TESELA_F32 && given->type != TESELA_F64)
    return tsl_fail(TESELA_BAD_CALL, "--type: a kernel of one's own computes in f32 or f64");
  TSL_TRY(tsl_lab_template_find(given->from, language, &model));
  if (model->has_image)
    return tsl_fail(TESELA_UNSUPPORTED,
                    "kernels with images are only in programs: tesela strategies %s --program opencl",
                    model->strategy);
  if (strlen(folder) > PATH_MAX - 64)
    return tsl_fail(TESELA_BAD_CALL, "the name of the folder is too long");
  if (mkdir(folder, 0777) != 0)
    return tsl_fail(TESELA_BAD_INPUT, errno == EEXIST ? N_("%s: %s; a new name would be right") : "%s: %s",
                    folder, strerror(errno));
  snprintf(path[0], sizeof path[0], "%.4000s/kernel.%s", folder, tsl_lab_language_extension(language));
  snprintf(path[1], sizeof path[1], "%.4000s/parameters", folder);
  snprintf(path[2], sizeof path[2], "%.4000s/README.md", folder);
  tsl_lab_template_add(model, language, given->type, &kernel);
  new_add_parameters(model, language, given->type, &parameters);
  new_add_readme(folder, model, language, &readme);
  tsl_text_add(&out, "%s: %s, %s\n%s: %s\n%s: %s\n", path[0], model->strategy,
               tsl_lab_language_title(language), path[1], tsl_tr("its parameters"), path[2],
               tsl_tr("what to do now"));
  TSL_GO(tsl_text_status(&kernel));
  TSL_GO(tsl_text_status(&parameters));
  TSL_GO(tsl_text_status(&readme));
  TSL_GO(tsl_lab_write_new(path[0], tsl_text_get(&kernel)));
  TSL_GO(tsl_lab_write_new(path[1], tsl_text_get(&parameters)));
  TSL_GO(tsl_lab_write_new(path[2], tsl_text_get(&readme)));
out:
  if (status == TESELA_OK)
    status = tsl_print(&out);
  else
    tsl_lab_remove(folder); /* half a folder would stop a second attempt */
  tsl_text_free(&kernel);
  tsl_text_free(&parameters);
  tsl_text_free(&readme);
  tsl_text_free(&out);
  return status;
}
