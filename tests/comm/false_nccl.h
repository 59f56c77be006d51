/* A fake library with NCCL's function names. Its ranks are threads of one process, and its device
 * memory is host memory. Messages are matched and copied when both ranks query their state; the
 * call that a test selects fails. */
#ifndef TESTS_COMM_FALSE_NCCL_H
#define TESTS_COMM_FALSE_NCCL_H

/* Calls that can fail: at once, by their return value, or later, when their state is queried. */
typedef enum false_nccl_call {
  FALSE_NCCL_NOTHING,
  FALSE_NCCL_VERSION,      /* this rank's is another one */
  FALSE_NCCL_VERSION_CALL, /* the question for it */
  FALSE_NCCL_ID,
  FALSE_NCCL_JOIN,
  FALSE_NCCL_JOIN_LATER,
  FALSE_NCCL_GROUP,
  FALSE_NCCL_SEND,
  FALSE_NCCL_RECEIVE,
  FALSE_NCCL_GROUP_END,
  FALSE_NCCL_MESSAGE_LATER
} false_nccl_call;

typedef struct false_nccl_state {
  false_nccl_call fails;
  int nth; /* the so manyth such call from now on, once; whichever rank's it is */
  int failed;
  int (*entered)(void); /* whether this thread has entered a device: without it calls are wrong */
  int wrong;            /* calls as no NCCL would take them */
  int alive;            /* communicators */
  int messages;         /* that arrived */
} false_nccl_state;

/* Set before ranks begin, and read when they are done. */
extern false_nccl_state false_nccl;

#endif
