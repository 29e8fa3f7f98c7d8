#pragma once
// Sockets of the development server's hub, and the one hash that its protocol wants.
#include <stddef.h>
#include <stdint.h>

/// A bound and listening TCP socket (`port` 0 picks one) for a numeric address, close-on-exec and
/// non-blocking, or -1 with errno.
int chub_listen(const char *host, int port);
/// The port of a bound socket, or -1 with errno.
int chub_port(int fd);
/// The next connection, close-on-exec and non-blocking, or -1 with errno.
int chub_accept(int fd);
/// The answer to a `Sec-WebSocket-Key`: 28 characters and a zero. 1, or 0 if it cannot be made.
int chub_accept_key(const char *key, char answer[29]);

/// A set of descriptors to wait for, and one that wakes it; -1 with errno.
int chub_set(void);
int chub_waker(void);
/// Watches a descriptor under a name of the caller's; `writes` asks for room to write as well.
int chub_watch(int set, int fd, uint64_t name, int writes);
int chub_change(int set, int fd, uint64_t name, int writes);
void chub_wake(int waker);
void chub_calm(int waker);

struct chub_event {
    uint64_t name;
    int readable;
    int writable;
};
/// Waits so long; the number of events, 0 after an interruption as well.
int chub_wait(int set, struct chub_event *events, int capacity, int milliseconds);
