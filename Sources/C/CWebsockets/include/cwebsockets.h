#pragma once
// The part of libwebsockets that a client needs. No header of the library's is included here, and
// what the library gets wrong for a client (see the comments in the source) is put right behind it.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cw_context cw_context;
typedef struct cw_socket cw_socket;

enum cw_ending {
    /// Closed in good order, after both sides had said so.
    CW_CLOSED,
    /// Never opened: nobody answers.
    CW_UNREACHABLE,
    /// Never opened: the server cannot be trusted, or TLS fails.
    CW_UNTRUSTED,
    /// Never opened: the server (or a proxy) answered with another status than 101.
    CW_REFUSED,
    /// The answer, or a frame, is not as the protocol wants it.
    CW_MALFORMED,
    /// The connection broke.
    CW_LOST,
};

/// What the context tells about its sockets, always on the thread that serves.
struct cw_callbacks {
    void (*opened)(void *owner);
    /// A piece of a message. Anything but 0 ends the socket.
    int (*received)(void *owner, const uint8_t *bytes, size_t count, bool is_text, bool is_last);
    /// The answer to a ping.
    void (*ponged)(void *owner);
    /// Asked for by `cw_ask_to_write`; one call of `cw_write` is allowed. Anything but 0 ends the socket.
    int (*writable)(void *owner);
    /// The peer says goodbye; 1005 stands for no code at all.
    void (*goodbye)(void *owner, uint16_t code);
    /// The last call for this owner. `status` is 0 if no response came.
    void (*ended)(void *owner, enum cw_ending ending, int status, const char *text);
};

/// One thread makes, serves and frees a context; only waking it is for all threads. NULL if there is
/// no memory, or if the file of extra authorities (NULL for none) holds no certificate.
///
/// The library has a timer of its own for each step of opening and closing. Deadlines are the owner's,
/// so `patience_seconds` has to be longer than any of those.
cw_context *cw_context_new(
    const char *authorities_path, unsigned patience_seconds, const struct cw_callbacks *callbacks
);
/// All sockets must have ended before.
void cw_context_free(cw_context *context);
/// How many sockets a context can have.
extern const size_t cw_sockets_max;
/// Sleeps until something happens, and tells what did.
void cw_serve(cw_context *context);
/// Makes `cw_serve` return.
void cw_wake(cw_context *context);
/// Lets `cw_serve` return after so many microseconds at the latest; each call replaces the last one.
void cw_alarm(cw_context *context, int64_t microseconds);

struct cw_target {
    /// A numeric address of the host; of the proxy if there is one.
    const char *address;
    /// The host's name, without brackets, for its certificate.
    const char *name;
    /// The value of the Host header.
    const char *host_field;
    int port;
    bool is_secure;
    const char *path;
    /// Lines of "Name: value\r\n".
    const char *header_lines;
    /// NULL for none; otherwise "user:password", or "".
    const char *proxy_credentials;
    int proxy_port;
};

/// Begins to connect. NULL if that fails at once; the owner is not told anything then.
cw_socket *cw_open(cw_context *context, void *owner, const struct cw_target *target);
/// Asks for a call of `writable`.
void cw_ask_to_write(cw_socket *socket);

enum cw_frame { CW_TEXT, CW_BINARY, CW_PING };
/// Sends one frame, whole. `frame` has `cw_headroom` bytes of room before `bytes`.
bool cw_write(cw_socket *socket, uint8_t *bytes, size_t count, enum cw_frame frame);
extern const size_t cw_headroom;

/// What to say when the socket is ended by a callback's result.
void cw_set_goodbye(cw_socket *socket, uint16_t code);
/// Stops or goes on reading.
void cw_read(cw_socket *socket, bool is_wanted);
/// Ends the socket without goodbye. It is told as ended before this returns.
void cw_kill(cw_socket *socket);
