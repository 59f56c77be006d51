/* A failure of one rank, heard by the others while they wait for messages that no longer come: for messages that travel beside the ranks'
 * own (comm/lane.h), which have no other way to tell. Ranks are a binary tree, in which each sends one number to each neighbour, and hears
 * one: at once where it has failed or heard so; else to its parent when it and all below have come to the end, and to its children when all
 * ranks have. So nobody is deaf while another one may still have to hear, and all end with the same answer. */
#ifndef TSL_COMM_ALARM_H
#define TSL_COMM_ALARM_H

#include "comm/comm.h"

#include <stdbool.h>

/* Parent, and two children. */
enum { TSL_ALARM_NEIGHBOURS = 3 };

typedef struct tsl_alarm {
  tsl_ranks *ranks;
  int neighbour[TSL_ALARM_NEIGHBOURS], count;
  int32_t heard[TSL_ALARM_NEIGHBOURS];
  bool has_heard[TSL_ALARM_NEIGHBOURS], has_told[TSL_ALARM_NEIGHBOURS];
  bool is_raised;
} tsl_alarm;

/* Takes the memory that all alarms of these ranks need: once, by each rank for itself. TESELA_OUT_OF_MEMORY. */
tesela_status tsl_alarm_reserve(tsl_ranks *ranks);

/* What fails in all of these is the ranks' own messages, for which there is no remedy (comm/comm.h). Its messages are not counted.
 *
 * Called by all ranks, and followed by tsl_alarm_end() on all. The struct stays where it is meanwhile. */
tesela_status tsl_alarm_start(tsl_alarm *alarm, tsl_ranks *ranks);
tesela_status tsl_alarm_raise(tsl_alarm *alarm);
/* Whether it was raised, here or elsewhere; now and then, while waiting. */
tesela_status tsl_alarm_look(tsl_alarm *alarm, bool *raised);
/* Waits for all ranks to come here: whether any of them raised it. */
tesela_status tsl_alarm_end(tsl_alarm *alarm, bool *raised);

#endif
