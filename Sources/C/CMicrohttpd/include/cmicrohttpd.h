#pragma once
// libmicrohttpd, as much of it as the server needs. No header of the library is included here, so
// that its closed enums and variadic functions stay on the other side.
#include <stddef.h>
#include <stdint.h>

struct cm_daemon;
struct cm_connection;
struct cm_response;
struct cm_line;

/// What the library tells its owner. `server` is what was given to `cm_start`; `connection` and
/// `exchange` are what `opened` and `targeted` returned. All of it happens inside `cm_run`,
/// `cm_add` and `cm_stop`, on their thread.
struct cm_callbacks {
    /// A connection was added. Returns the owner's name for it.
    void *(*opened)(void *server, struct cm_connection *connection, int fd);
    /// A connection is about to be closed; its descriptor is still open.
    void (*closed)(void *server, void *connection);
    /// The request line is there. Returns the owner's name for the exchange, never NULL.
    void *(*targeted)(void *server, void *connection, const char *target, size_t length);
    /// First with the headers, then with every piece of the body, at last with the whole request.
    /// Sets `count` to the number of bytes left over. Returns 0 to close the connection.
    int (*called)(void *server, void *exchange, struct cm_connection *, const char *bytes, size_t *count);
    /// The exchange is over, one way or the other (`delivered`: its answer was sent to the end); nothing
    /// of it may be used from now on.
    void (*completed)(void *server, void *exchange, int delivered);
    /// The head of an upgrading answer is out, and the connection's descriptor is the owner's until
    /// `cm_take_back`. The bytes were sent right behind the request and have been read already.
    void (*upgraded)(void *server, void *exchange, const char *bytes, size_t count, struct cm_line *);
};

/// A daemon without a listening socket and without a thread: its owner accepts, waits and runs.
/// Each connection has `memory` bytes for the header block and the answer's. NULL if refused.
struct cm_daemon *cm_start(size_t memory, const struct cm_callbacks *callbacks, void *server);
/// Closes all connections. None may be suspended.
void cm_stop(struct cm_daemon *);
/// The epoll set to wait for.
int cm_epoll(struct cm_daemon *);
/// Does what can be done without waiting.
void cm_run(struct cm_daemon *);
/// Whether `cm_run` has something to do at once, whatever the epoll set says.
int cm_is_pending(struct cm_daemon *);
/// Hands over a connected socket; 0 if the daemon refused and closed it.
int cm_add(struct cm_daemon *, int fd);
/// Takes a connection out of the run until it is resumed.
void cm_suspend(struct cm_connection *);
void cm_resume(struct cm_connection *);
/// Has the next run read from a connection and write to it, whatever was heard of its socket. Not
/// for one that is suspended or upgraded.
void cm_look_again(struct cm_connection *);

/// The bytes of a header field; they live as long as the exchange.
struct cm_field {
    const char *name;
    size_t name_length;
    const char *value;
    size_t value_length;
};

enum cm_block {
    CM_BLOCK_PLAIN,
    /// More than the capacity of `fields`.
    CM_BLOCK_CROWDED,
    /// Something stands in the block that the library passed over in silence.
    CM_BLOCK_SUSPICIOUS,
};

/// The request line and the header fields, once they are whole.
struct cm_head {
    const char *method;
    /// 0 or 1 for HTTP/1.0 and HTTP/1.1, higher for what calls itself 1.2 to 1.9.
    int minor_version;
    /// Bytes of the block, from the method up to and including the empty line.
    size_t size;
    size_t count;
};

/// Reads the head of the request and holds it against the bytes that arrived.
///
/// The library cuts the block in place: it writes a zero over every CR, LF and colon it understood.
/// So a walk over the pieces it names shows whether they touch, with nothing in between but what
/// the grammar puts there. Bare LFs, folded lines, zero bytes, spaces too many: all leave a gap.
enum cm_block cm_read_head(
    struct cm_connection *, size_t target_length, struct cm_head *head, struct cm_field *fields, size_t capacity);

/// An answer whose bytes are copied, or (`forever`) stay where they are until the process ends.
struct cm_response *cm_response_bytes(const void *bytes, size_t count, int forever);

enum { CM_READ_END = -1, CM_READ_BROKEN = -2 };
/// Fills the buffer and returns the number of bytes, or one of the above. 0 means that there is
/// nothing at present; the connection is to be suspended when `cm_run` is over.
typedef int64_t (*cm_reader)(void *context, uint64_t position, char *buffer, size_t capacity);

/// An answer that is read piece by piece; `size` is -1 if nobody knows it, and then it is chunked.
/// `context` is given to `release` when the answer is gone.
struct cm_response *cm_response_reader(
    int64_t size, size_t block, cm_reader reader, void *context, void (*release)(void *));
/// An answer that ends HTTP on its connection. Its status is 101, and it needs an `Upgrade` header.
struct cm_response *cm_response_upgrade(struct cm_daemon *);
/// Returns an upgraded connection, which is then `completed` and `closed` like any other.
void cm_take_back(struct cm_line *);
/// 0 if the library finds a fault with the name or the value.
int cm_response_header(struct cm_response *, const char *name, const char *value);
/// Lets go of an answer that will not be sent.
void cm_response_drop(struct cm_response *);
/// Sends the answer and gives it away, also when it is refused (0).
int cm_answer(struct cm_connection *, int status, struct cm_response *);

/// The next connection of a listening socket, close-on-exec and non-blocking, or -1 with errno.
int cm_accept(int fd);
/// What a status is called.
const char *cm_phrase(int status);
/// Says one last thing to a client and closes the sending side.
void cm_say(int fd, const void *bytes, size_t count);
/// Ends a TCP connection at once and without its end in the stream, so that the other side sees it reset.
void cm_reset(int fd);
/// Forgets what can be read at this moment; 0 once the other end has closed.
int cm_discard(int fd);
/// How many bytes wait to be read, or -1.
int cm_unread(int fd);
/// How many bytes the other end has not taken yet, or -1.
int cm_unsent(int fd);
/// A second descriptor for the socket, close-on-exec, or -1.
int cm_duplicate(int fd);

/// The numeric address of a socket's own (`peer` 0) or other end: its family's text in `host` (at
/// least 108 bytes), the port or -1 for a Unix socket. 0, or -1 with errno.
int cm_address(int fd, int peer, char *host, int *port);
/// A bound and listening TCP socket (`port` 0 picks one) for a numeric address, or -1 with errno.
int cm_listen_tcp(const char *host, int port, int backlog);
/// A bound and listening Unix socket, mode 0600 from the first moment, or -1 with errno.
int cm_listen_unix(const char *path, int backlog);
/// Whether somebody answers at the path: 1, 0, or -1 with errno if that cannot be known.
int cm_is_answered(const char *path);
