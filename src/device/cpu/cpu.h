/* The cpu room's own page. The host's processor is a device whose memory is the host's: buffers are blocks of
 * memory, a stream does its work at once, an event is a reading of the clock. Strategies run on it in C. */
#ifndef TSL_DEVICE_CPU_CPU_H
#define TSL_DEVICE_CPU_CPU_H

#include "device/device.h"

/* Fills everything of the device but ops and impl. TESELA_BAD_CALL when TESELA_ISA is none of its values. */
tesela_status tsl_cpu_describe(tsl_device *device);

/* Parts of it, which read the files that Linux shows below `root` ("" for this machine). */

/* Whether tile registers for bf16 and 8-bit integers are there; asks the kernel for permission to use them.
 */
bool tsl_cpu_has_amx(void);
/* Whether a core does two multiply-adds of 64 bytes a clock, as all that have tile registers do, whether or
 * not they are used; and whether its units of 32 bytes take such a vector twice. */
bool tsl_cpu_pairs_vectors(void);
bool tsl_cpu_halves_vectors(void);
/* The first of AMD's: by its family, and what CPUID 8000001Ah says in EAX of its data paths, which virtual
 * machines hide. */
bool tsl_cpu_paths_of_64(unsigned family, unsigned paths);
/* The processor's name: the model name of x86-64, or on arm64 its maker and part. Cut to `size`. */
void tsl_cpu_label_at(const char *root, char *label, size_t size);
/* The highest clock in MHz: cpufreq's, else the one that /proc/cpuinfo says in numbers, else in the name; 0
 * when nothing tells. */
int tsl_cpu_clock_at(const char *root);

/* Members of the vtable; device.h says what they do. */
tesela_status tsl_cpu_buffer_create(tsl_device *device, size_t bytes, tsl_buffer **buffer);
tesela_status tsl_cpu_buffer_wrap(tsl_device *device, void *host, size_t bytes, tsl_buffer **buffer);
void tsl_cpu_buffer_destroy(tsl_buffer *buffer);
tesela_status tsl_cpu_buffer_map(tsl_stream *stream, tsl_buffer *buffer, int write, void **host);
tesela_status tsl_cpu_buffer_unmap(tsl_stream *stream, tsl_buffer *buffer, void *host);
tesela_status tsl_cpu_write(tsl_stream *stream, const tsl_copy *copy);
tesela_status tsl_cpu_read(tsl_stream *stream, const tsl_copy *copy);
tesela_status tsl_cpu_copy(tsl_stream *stream, tsl_buffer *from, size_t from_offset, tsl_buffer *buffer,
                           size_t to_offset, size_t bytes);
bool tsl_cpu_reaches(tsl_device *device, tsl_device *other);
tesela_status tsl_cpu_copy_rows(tsl_stream *stream, const tsl_copy_rect *rows);
tesela_status tsl_cpu_fill(tsl_stream *stream, tsl_buffer *buffer, size_t offset, unsigned char byte,
                           size_t bytes);

#endif
