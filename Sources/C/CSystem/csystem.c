#define _GNU_SOURCE
#include "csystem.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

_Static_assert(CS_READABLE == EPOLLIN && CS_WRITABLE == EPOLLOUT && CS_ERROR == EPOLLERR, "epoll");
_Static_assert(CS_HANGUP == EPOLLHUP && CS_PEER_CLOSED == EPOLLRDHUP, "epoll");

void cs_name_thread(const char *name) {
    char shortened[16] = {0};
    strncpy(shortened, name, sizeof shortened - 1);
    pthread_setname_np(pthread_self(), shortened);
}

int cs_semaphore_wait(void *semaphore, uint64_t nanoseconds) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    nanoseconds += end.tv_nsec;
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &end) != 0) {
        if (errno != EINTR) return 0;
    }
    return 1;
}

uint64_t cs_used_memory(void) {
    struct mallinfo2 all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

void cs_give_memory_back(void) { malloc_trim(0); }

void cs_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }

// So much the kernel gives whole, whatever interrupts it.
int cs_random(void *bytes) { return getrandom(bytes, 256, 0) == 256 ? 0 : -1; }

int cs_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

void cs_eventfd_signal(int fd) {
    uint64_t one = 1;
    // EAGAIN means that the counter is full, which is as readable as it gets.
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

void cs_eventfd_clear(int fd) {
    uint64_t count;
    while (read(fd, &count, sizeof count) < 0 && errno == EINTR) {}
}

int cs_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int cs_epoll_watch(int epoll, int fd, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0) return 0;
    if (errno != ENOENT) return -1;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int cs_epoll_watch_departure(int epoll, int fd, uint64_t token) {
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.u64 = token};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int cs_epoll_forget(int epoll, int fd) { return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL); }

int cs_epoll_wait(int epoll, struct cs_event *events, int capacity, int milliseconds) {
    struct epoll_event ready[128];
    if (capacity > 128) capacity = 128;
    int count = epoll_wait(epoll, ready, capacity, milliseconds);
    if (count < 0) return errno == EINTR ? 0 : -1;
    for (int i = 0; i < count; i++) {
        events[i].token = ready[i].data.u64;
        events[i].events = ready[i].events;
    }
    return count;
}

static sigset_t set_of(const int *signals, int count) {
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < count; i++) sigaddset(&set, signals[i]);
    return set;
}

int cs_signal_is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void cs_block_signals(const int *signals, int count) {
    sigset_t set = set_of(signals, count);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int cs_wait_signal(const int *signals, int count) {
    sigset_t set = set_of(signals, count);
    int signal;
    while (sigwait(&set, &signal) != 0) {}
    return signal;
}

// A handler of signals is told nothing else, and a process has one terminal.
static int kept_terminal = -1;
static struct termios kept_state;

static void put_terminal_right(int number) {
    tcsetattr(kept_terminal, TCSANOW, &kept_state);
    // It is not handled any more, and ends the program as it would have.
    raise(number);
}

void cs_keep_terminal(int fd, const int *signals, int count) {
    if (tcgetattr(fd, &kept_state) != 0) return;
    kept_terminal = fd;
    struct sigaction action = {.sa_handler = put_terminal_right, .sa_flags = SA_RESETHAND};
    struct sigaction former;
    for (int i = 0; i < count; i++) {
        // One that is ignored ends nothing.
        if (sigaction(signals[i], NULL, &former) != 0 || former.sa_handler != SIG_DFL) continue;
        sigaction(signals[i], &action, NULL);
    }
}

void cs_let_terminal_go(const int *signals, int count) {
    struct sigaction action;
    for (int i = 0; i < count; i++) {
        if (sigaction(signals[i], NULL, &action) != 0) continue;
        if (action.sa_handler == put_terminal_right) signal(signals[i], SIG_DFL);
    }
}

int cs_peer_credentials(int fd, uint32_t *uid, uint32_t *gid, int32_t *pid) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return -1;
    *uid = peer.uid;
    *gid = peer.gid;
    *pid = peer.pid;
    return 0;
}

int cs_route_watch(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

int cs_route_read(int fd) {
    char message[8192];
    int changed = 0;
    for (;;) {
        struct sockaddr_nl sender = {0};
        socklen_t length = sizeof sender;
        ssize_t count =
            recvfrom(fd, message, sizeof message, 0, (struct sockaddr *)&sender, &length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return changed;
        if (count < 0 && errno == ENOBUFS) {
            changed = 1;
            continue;
        }
        if (count < 0) return -1;
        // Anybody on this machine may write to the socket; only the kernel has no port.
        if (sender.nl_pid == 0) changed = 1;
    }
}

void cs_forbid_dumps(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void *cs_mutex_new(void) {
    pthread_mutex_t *mutex = malloc(sizeof *mutex);
    if (mutex == NULL || pthread_mutex_init(mutex, NULL) != 0) abort();
    return mutex;
}

void cs_mutex_free(void *mutex) {
    pthread_mutex_destroy(mutex);
    free(mutex);
}

void cs_mutex_lock(void *mutex) { pthread_mutex_lock(mutex); }
void cs_mutex_unlock(void *mutex) { pthread_mutex_unlock(mutex); }
