#pragma once
// What Linux offers and Swift's Glibc module does not show. No system header is included here, so
// that no two C modules can disagree about its contents.
#include <stdint.h>

/// Names the calling thread, for debuggers and `top -H`. Only the first 15 bytes count.
void cs_name_thread(const char *name);

/// Waits for the semaphore, a `sem_t`, until so much time has passed, whatever is done to the calendar. Says
/// whether it was taken.
int cs_semaphore_wait(void *semaphore, uint64_t nanoseconds);

/// Fills 256 bytes with the kernel's chance; 0, or -1 with errno.
int cs_random(void *bytes);

/// A non-blocking eventfd, or -1 with errno.
int cs_eventfd(void);
/// Makes the eventfd readable.
void cs_eventfd_signal(int fd);
/// Makes the eventfd unreadable until it is signalled again.
void cs_eventfd_clear(int fd);

/// What an epoll set reports about one descriptor.
struct cs_event {
    uint64_t token;
    uint32_t events;
};
enum { CS_READABLE = 0x001, CS_WRITABLE = 0x004, CS_ERROR = 0x008, CS_HANGUP = 0x010, CS_PEER_CLOSED = 0x2000 };

/// An epoll set, or -1 with errno.
int cs_epoll(void);
/// Adds, changes (if already there) or removes a descriptor; 0, or -1 with errno.
int cs_epoll_watch(int epoll, int fd, uint32_t events, uint64_t token);
/// Adds a socket whose other end is to be missed: told once when it closes its sending side, and once
/// when it is gone altogether. What it sends is not told.
int cs_epoll_watch_departure(int epoll, int fd, uint64_t token);
int cs_epoll_forget(int epoll, int fd);
/// Waits for at most `milliseconds` (-1: without end); the number of events, 0 also when interrupted.
int cs_epoll_wait(int epoll, struct cs_event *events, int capacity, int milliseconds);

/// Whether nothing happens when that signal comes.
int cs_signal_is_ignored(int signal);

/// Blocks the signals in the calling thread and in all that it starts from now on.
void cs_block_signals(const int *signals, int count);
/// Waits until one of the signals arrives and returns it.
int cs_wait_signal(const int *signals, int count);

/// From now on a signal that ends the program first puts the terminal back into the state it is in now.
void cs_keep_terminal(int fd, const int *signals, int count);
/// Has the signals end the program as before.
void cs_let_terminal_go(const int *signals, int count);

/// Bytes that were handed out and not let go of since.
uint64_t cs_used_memory(void);

/// Gives memory back that was let go of and is kept for the next time.
void cs_give_memory_back(void);

/// From now on, threads share so many heaps. To be called before there are other threads.
void cs_limit_arenas(int count);

/// Who sits at the other end of a Unix socket: 0, or -1 with errno.
int cs_peer_credentials(int fd, uint32_t *uid, uint32_t *gid, int32_t *pid);

/// A non-blocking socket that becomes readable whenever a link of this machine, or a route, has
/// changed; or -1 with errno.
int cs_route_watch(void);
/// Reads all that has come: 1 if something has changed, 0 if not, -1 with errno if it is broken.
/// What the kernel had to drop counts as a change.
int cs_route_read(int fd);

/// Keeps the memory of this process out of core dumps and away from other users' debuggers.
void cs_forbid_dumps(void);

/// A mutex that the thread sanitizer understands; it does not see through futexes.
void *cs_mutex_new(void);
void cs_mutex_free(void *mutex);
void cs_mutex_lock(void *mutex);
void cs_mutex_unlock(void *mutex);
