/* A .npy file written in blocks, in any order, over several runs. Until c.npy is complete:
 *
 *   c.npy.tesela-part      its bytes, with space reserved from the start
 *   c.npy.tesela-journal   text: lines about the inputs ("a 8388736 1790000000.000000000 a.npy"), and
 *                          blocks on the disk with the CRC-32 of their bytes ("done 17 9ae0daaf")
 *
 * A block's line follows the sync of its bytes, so a noted block survives a crash. An incomplete line is
 * ignored. The journal is locked while in use. One thread at a time. Both files are private (0600) until the
 * commit. A symbolic link, a hard link, or a file that another user owns or may write is not used. */
#ifndef TSL_IO_RESUMABLE_NPY_H
#define TSL_IO_RESUMABLE_NPY_H

#include "core/text.h"
#include "io/io.h"

typedef struct tsl_resumable tsl_resumable;

/* Finds and locks an earlier run's files. TESELA_BAD_CALL if another process uses them, TESELA_IO_FAILED if
 * the file cannot be written. Close with tsl_resumable_close(). *part is NULL on failure. */
tesela_status tsl_resumable_open(const char *path, tsl_resumable **part);
/* Returns the number of finished blocks of all runs. */
int64_t tsl_resumable_finished_blocks(const tsl_resumable *part);
bool tsl_resumable_is_finished(const tsl_resumable *part, int64_t block);
/* Returns the rest of an earlier journal line from `word`, or NULL; valid until this thread's next call. */
const char *tsl_resumable_earlier_line(const tsl_resumable *part, const char *word);

/* Starts anew and reserves the file's disk space. `lines` about the inputs go to the journal. */
tesela_status tsl_resumable_begin(tsl_resumable *part, const tsl_rectangle *whole, tesela_type type,
                                  int64_t blocks, const char *lines);
/* Continues an earlier run of this shape. TESELA_BAD_INPUT for another shape. */
tesela_status tsl_resumable_continue(tsl_resumable *part, const tsl_rectangle *whole, tesela_type type,
                                     int64_t blocks);
/* Compares a finished block with its checksum. *good false: altered, the block is unfinished. */
tesela_status tsl_resumable_check_block(tsl_resumable *part, const tsl_rectangle *block, int64_t index,
                                        bool *good);
/* Returns true if both files (after tsl_resumable_open_shared() the data file) still have their names. */
bool tsl_resumable_keeps_its_names(const tsl_resumable *part);

/* Opens another process's file, only to write, sync and close. *part is NULL on failure. */
tesela_status tsl_resumable_open_shared(const char *path, const tsl_rectangle *whole, tesela_type type,
                                        tsl_resumable **part);
/* Sets the function that writes blocks; NULL: the system's. */
void tsl_resumable_set_write_function(tsl_resumable *part, tsl_write_function write_function,
                                      void *write_state);
tesela_status tsl_resumable_sync_data(tsl_resumable *part);

/* Writes a block of the file's type, with contiguous columns; row stride in elements. */
tesela_status tsl_resumable_write(tsl_resumable *part, const tsl_rectangle *block, const void *data,
                                  int64_t row_stride);
/* Reads a written block, densely, in the file's type. */
tesela_status tsl_resumable_read(const tsl_resumable *part, const tsl_rectangle *block, void *data);
/* Marks block `index` as written. The journal notes it after a sync; syncs take at most 10 % of the time. */
tesela_status tsl_resumable_mark_written(tsl_resumable *part, int64_t index);
/* Syncs, and notes all collected blocks. */
tesela_status tsl_resumable_record_written(tsl_resumable *part);
/* Renames the data file and removes the journal. */
tesela_status tsl_resumable_commit(tsl_resumable *part);
/* Closes and frees; keeps both files if blocks are noted, else removes them. NULL is allowed. */
void tsl_resumable_close(tsl_resumable *part);

/* Returns the data file's name, for signal handlers that end the process before a block is noted. */
const char *tsl_resumable_data_name(const tsl_resumable *part);
const char *tsl_resumable_journal_name(const tsl_resumable *part);

#endif
