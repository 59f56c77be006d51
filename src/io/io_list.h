/* X(name), in the order of recognition by first bytes: format_<name>.c defines tsl_format_<name>. */
#ifndef TSL_IO_IO_LIST_H
#define TSL_IO_IO_LIST_H

#define TSL_FORMAT_LIST(X) X(npy) X(mtx) X(csv) X(txt)

#endif
