/* A .npy file that is written in blocks, in any order, and may take longer than a process lives. Beside the
 * file c.npy that is to be there are, until it is complete:
 *
 *   c.npy.tesela-part      its bytes, with room for all of them from the start
 *   c.npy.tesela-journal   text: lines that say what it is made of ("a 8388736 1790000000.000000000 a.npy"),
 * and a line for each block that is on the disk, with the CRC-32 of its bytes ("done 17 9ae0daaf")
 *
 * A block's line is written once its bytes are synced, so whatever ends the process, and the machine with it,
 * a block that is noted is there. A line that was cut off says nothing. c.npy itself appears whole, by its
 * name alone. The journal is locked while it is used. One thread at a time.
 *
 * Both files are their user's alone (0600) until the commit. Neither is ever opened through a symbolic link,
 * and none that another user owns, may write to or has a second name for is used. */
#ifndef TSL_IO_RESUMABLE_NPY_H
#define TSL_IO_RESUMABLE_NPY_H

#include "base/text.h"
#include "io/io.h"

typedef struct tsl_part tsl_part;

/* Looks for what an earlier run left of a file, and locks it. TESELA_BAD_CALL where another process is at it,
 * TESELA_IO_FAILED where the file cannot be written. *part is NULL after a failure. */
tesela_status tsl_part_open(const char *path, tsl_part **part);
/* Blocks that are done: of an earlier run, and noted since. */
int64_t tsl_part_done(const tsl_part *part);
bool tsl_part_has(const tsl_part *part, int64_t block);
/* What the earlier run's journal says after this word; NULL where it has no such line. */
const char *tsl_part_says(const tsl_part *part, const char *word);

/* Starts anew, whatever is left over: takes room for all of a file of this shape on the disk. `lines` say
 * what it is made of. */
tesela_status tsl_part_begin(tsl_part *part, const tsl_rectangle *whole, tesela_type type, int64_t blocks,
                             const char *lines);
/* Goes on with what is left over, which is of this shape. TESELA_BAD_INPUT where it is not. */
tesela_status tsl_part_continue(tsl_part *part, const tsl_rectangle *whole, tesela_type type, int64_t blocks);
/* Compares a block that is done with its checksum in the journal. *good is false where its bytes were altered
 * since: the block counts as not done. */
tesela_status tsl_part_check(tsl_part *part, const tsl_rectangle *block, int64_t index, bool *good);
/* Returns true if both files, or the one of a part that was joined, still have their names: nobody removed or
 * replaced them. */
bool tsl_part_remains(const tsl_part *part);

/* A file that another process began (tsl_part_begin()), whose blocks this one writes, too: tsl_part_write(),
 * tsl_part_flush() and tsl_part_close() are for it, nothing else. *part is NULL after a failure. */
tesela_status tsl_part_join(const char *path, const tsl_rectangle *whole, tesela_type type, tsl_part **part);
/* Blocks are written by another way from now on. NULL: the system's. */
void tsl_part_write_by(tsl_part *part, tsl_write_way way, void *by);
/* What was written is on the disk. */
tesela_status tsl_part_flush(tsl_part *part);

/* Writes a block of elements of the file's type, whose columns lie side by side. */
tesela_status tsl_part_write(tsl_part *part, const tsl_rectangle *block, const void *data,
                             int64_t row_stride);
/* Reads a block that was written, as it was given: to elements of the file's type, whose columns lie side by
 * side. */
tesela_status tsl_part_read(const tsl_part *part, const tsl_rectangle *block, void *data);
/* Block `index` is written. It is noted once it is on the disk: with others, where blocks come so fast that
 * syncing would take more than a tenth of the time. */
tesela_status tsl_part_note(tsl_part *part, int64_t index);
/* Notes what is not yet. */
tesela_status tsl_part_sync(tsl_part *part);
/* The file takes its name, and the journal goes. */
tesela_status tsl_part_commit(tsl_part *part);
/* Keeps what is noted; removes both files where nothing is. NULL is allowed. */
void tsl_part_close(tsl_part *part);

/* The two names, for signal handlers that end the process before anything is noted. */
const char *tsl_part_data_name(const tsl_part *part);
const char *tsl_part_journal_name(const tsl_part *part);

#endif
