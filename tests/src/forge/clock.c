/* Replaces CLOCK_REALTIME of a process by the time in a file. Tests that set the clock of programs preload it. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile struct timespec *shown;

__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("HEXFORGE_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        abort();
    void *mapped = mmap(NULL, sizeof *shown, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        abort();
    shown = mapped;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock == CLOCK_REALTIME && shown) {
        time->tv_sec = shown->tv_sec;
        time->tv_nsec = shown->tv_nsec;
        return 0;
    }
    return (int)syscall(SYS_clock_gettime, clock, time);
}
