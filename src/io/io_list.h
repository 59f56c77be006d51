/* Formats of matrix files, in the order in which first bytes are tried if a name's ending does not
 * tell the format. X(name): format_<name>.c defines `const tsl_format tsl_format_<name>`. */
#ifndef TSL_IO_IO_LIST_H
#define TSL_IO_IO_LIST_H

#define TSL_FORMAT_LIST(X) X(npy) X(mtx) X(csv) X(txt)

#endif
