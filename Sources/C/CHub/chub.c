#define _GNU_SOURCE
#include "chub.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int chub_accept_key(const char *key, char answer[29]) {
    char text[256];
    int length = snprintf(text, sizeof text, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key);
    if (length < 0 || (size_t)length >= sizeof text) return 0;
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (EVP_Digest(text, (size_t)length, hash, &size, EVP_sha1(), NULL) != 1 || size != 20) return 0;
    return EVP_EncodeBlock((unsigned char *)answer, hash, 20) == 28;
}

int chub_set(void) { return epoll_create1(EPOLL_CLOEXEC); }

int chub_waker(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static int control(int set, int operation, int fd, uint64_t name, int writes) {
    struct epoll_event event = {.events = EPOLLIN | (writes ? EPOLLOUT : 0), .data.u64 = name};
    return epoll_ctl(set, operation, fd, &event);
}

int chub_watch(int set, int fd, uint64_t name) { return control(set, EPOLL_CTL_ADD, fd, name, 0); }

int chub_change(int set, int fd, uint64_t name, int writes) {
    return control(set, EPOLL_CTL_MOD, fd, name, writes);
}

void chub_forget(int set, int fd) { epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL); }

void chub_hurry(int fd) {
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void chub_wake(int waker) {
    uint64_t one = 1;
    while (write(waker, &one, sizeof one) < 0 && errno == EINTR) {}
}

void chub_calm(int waker) {
    uint64_t count;
    while (read(waker, &count, sizeof count) < 0 && errno == EINTR) {}
}

int chub_wait(int set, struct chub_event *events, int capacity, int milliseconds) {
    struct epoll_event found[64];
    int count = epoll_wait(set, found, capacity < 64 ? capacity : 64, milliseconds);
    for (int index = 0; index < count; index++) {
        events[index].name = found[index].data.u64;
        events[index].readable = (found[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
        events[index].writable = (found[index].events & EPOLLOUT) != 0;
    }
    return count < 0 ? 0 : count;
}
