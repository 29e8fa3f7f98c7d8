// A machine that is not well, for a program that is started with this before its C library. The file DISK_MOOD
// says how its disk is: so many milliseconds for each flush, "hang" until it says something else, or "fail".
// The file CLOCK_SHIFT says by how many seconds its clock is wrong.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void read_order(const char *name, char *text, size_t room) {
    const char *path = getenv(name);
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t count = file < 0 ? 0 : read(file, text, room - 1);
    text[count > 0 ? count : 0] = 0;
    if (file >= 0) close(file);
}

static int flush(const char *name, int file) {
    char mood[16];
    for (read_order("DISK_MOOD", mood, sizeof mood); !strcmp(mood, "hang"); usleep(20000))
        read_order("DISK_MOOD", mood, sizeof mood);
    if (!strcmp(mood, "fail")) {
        errno = EIO;
        return -1;
    }
    usleep(1000 * atoi(mood));
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return flush("fsync", file); }
int fdatasync(int file) { return flush("fdatasync", file); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int outcome = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME && getenv("CLOCK_SHIFT")) {
        char shift[16];
        int before = errno;
        read_order("CLOCK_SHIFT", shift, sizeof shift);
        errno = before;
        now->tv_sec += atoi(shift);
    }
    return outcome;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return place ? (*place = now.tv_sec) : now.tv_sec;
}
