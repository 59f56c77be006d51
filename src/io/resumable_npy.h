/* A .npy file written in blocks, in any order, over several runs of a program. Until the final file c.npy is
 * complete there are two files:
 *
 *   c.npy.tesela-part      its bytes, with space reserved from the start
 *   c.npy.tesela-journal   text: lines about the inputs ("a 8388736 1790000000.000000000 a.npy"), and a
 *                          line for each block on the disk with the CRC-32 of its bytes
 *                          ("done 17 9ae0daaf")
 *
 * A block's line is written after its bytes are synced, so a noted block survives a crash of the process or
 * the machine. An incomplete line is ignored. c.npy appears by a rename. The journal is locked while in use.
 * One thread at a time.
 *
 * Both files are private (0600) until the commit. They are never opened through a symbolic link. A file that
 * another user owns or may write, or that has a hard link, is not used. */
#ifndef TSL_IO_RESUMABLE_NPY_H
#define TSL_IO_RESUMABLE_NPY_H

#include "base/text.h"
#include "io/io.h"

typedef struct tsl_part tsl_part;

/* Looks for the files of an earlier run and locks them. TESELA_BAD_CALL if another process uses
 * them, TESELA_IO_FAILED if the file cannot be written. The caller calls tsl_part_close(). *part is
 * NULL after a failure. */
tesela_status tsl_part_open(const char *path, tsl_part **part);
/* Returns the number of finished blocks, including earlier runs. */
int64_t tsl_part_done(const tsl_part *part);
/* Returns true if a block is finished. */
bool tsl_part_has(const tsl_part *part, int64_t block);
/* Returns the rest of the earlier journal's line that begins with `word`; NULL: no such line. Valid
 * until the next call in this thread. */
const char *tsl_part_says(const tsl_part *part, const char *word);

/* Starts anew and reserves disk space for the whole file. `lines` go to the journal; they describe
 * the inputs. */
tesela_status tsl_part_begin(tsl_part *part, const tsl_rectangle *whole, tesela_type type, int64_t blocks,
                             const char *lines);
/* Continues an earlier run of this shape. TESELA_BAD_INPUT for another shape. */
tesela_status tsl_part_continue(tsl_part *part, const tsl_rectangle *whole, tesela_type type, int64_t blocks);
/* Compares a finished block with its checksum. *good is false if its bytes were altered; then the
 * block counts as unfinished. */
tesela_status tsl_part_check(tsl_part *part, const tsl_rectangle *block, int64_t index, bool *good);
/* Returns true if the files (only the data file after tsl_part_join()) still have their names: they
 * were neither removed nor replaced. */
bool tsl_part_remains(const tsl_part *part);

/* Opens a file that another process began by tsl_part_begin(), to write blocks of it. Only
 * tsl_part_write(), tsl_part_flush() and tsl_part_close() are allowed. *part is NULL after a
 * failure. */
tesela_status tsl_part_join(const char *path, const tsl_rectangle *whole, tesela_type type, tsl_part **part);
/* Sets the function that writes blocks. NULL: the system's. */
void tsl_part_write_by(tsl_part *part, tsl_write_way way, void *by);
/* Syncs the data file. */
tesela_status tsl_part_flush(tsl_part *part);

/* Writes a block of elements of the file's type, with contiguous columns. */
tesela_status tsl_part_write(tsl_part *part, const tsl_rectangle *block, const void *data,
                             int64_t row_stride);
/* Reads back a written block to elements of the file's type, with contiguous columns. */
tesela_status tsl_part_read(const tsl_part *part, const tsl_rectangle *block, void *data);
/* Marks block `index` as written. It is noted in the journal after a sync; blocks are collected so
 * that syncs take at most a tenth of the time. */
tesela_status tsl_part_note(tsl_part *part, int64_t index);
/* Syncs, and notes all collected blocks. */
tesela_status tsl_part_sync(tsl_part *part);
/* Renames the data file and removes the journal. */
tesela_status tsl_part_commit(tsl_part *part);
/* Closes and frees; preserves both files if blocks are noted, else removes them. NULL is allowed. */
void tsl_part_close(tsl_part *part);

/* Returns the data file's name, for signal handlers that end the process before any block is noted. */
const char *tsl_part_data_name(const tsl_part *part);
/* Returns the journal's name, for signal handlers. */
const char *tsl_part_journal_name(const tsl_part *part);

#endif
