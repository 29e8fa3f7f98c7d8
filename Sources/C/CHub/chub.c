#define _GNU_SOURCE
#include "chub.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

int chub_listen(const char *host, int port) {
    char service[8];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = {
        .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(host, service, &hints, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, 1024) != 0)) {
        int code = errno;
        close(fd);
        errno = code;
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

int chub_port(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0) return -1;
    return address.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&address)->sin6_port)
                                         : ntohs(((struct sockaddr_in *)&address)->sin_port);
}

int chub_accept(int fd) {
    int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int on = 1;
    if (accepted >= 0) setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return accepted;
}

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

int chub_watch(int set, int fd, uint64_t name, int writes) {
    return control(set, EPOLL_CTL_ADD, fd, name, writes);
}

int chub_change(int set, int fd, uint64_t name, int writes) {
    return control(set, EPOLL_CTL_MOD, fd, name, writes);
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
