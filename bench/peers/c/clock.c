// The clock that the benchmark reads where one thread does all the work: other programs on the machine do not count in it.
#define _POSIX_C_SOURCE 199309L
#include <time.h>

double thread_milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}
