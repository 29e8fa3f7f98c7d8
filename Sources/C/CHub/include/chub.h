#pragma once
// Waiting for the connections of the development server's hub, and the one hash that its protocol wants.
#include <stddef.h>
#include <stdint.h>

/// The answer to a `Sec-WebSocket-Key`: 28 characters and a zero. 1, or 0 if it cannot be made.
int chub_accept_key(const char *key, char answer[29]);

/// A set of descriptors to wait for, and one that wakes it; -1 with errno.
int chub_set(void);
int chub_waker(void);
/// Watches a descriptor under a name of the caller's.
int chub_watch(int set, int fd, uint64_t name);
/// From now on also (`writes`) or no longer for room to write.
int chub_change(int set, int fd, uint64_t name, int writes);
void chub_forget(int set, int fd);
/// Has every message sent at once, however small.
void chub_hurry(int fd);
void chub_wake(int waker);
void chub_calm(int waker);

struct chub_event {
    uint64_t name;
    int readable;
    int writable;
};
/// Waits so long; the number of events, 0 after an interruption as well.
int chub_wait(int set, struct chub_event *events, int capacity, int milliseconds);
