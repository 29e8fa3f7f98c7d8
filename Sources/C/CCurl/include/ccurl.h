#pragma once
// The part of libcurl that the HTTP client needs, as plain typed functions: curl's own are variadic,
// which Swift cannot call. No header of curl's is included here.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cc_multi cc_multi;
typedef struct cc_easy cc_easy;
typedef struct cc_trust cc_trust;

/// Once in a process, before anything else; 0 if all is well.
int cc_global_init(void);

// Trust: certificates of authorities that are believed besides those of the system.

/// Reads PEM certificates; NULL if there is none in the file or it cannot be read.
cc_trust *cc_trust_new(const char *path);
void cc_trust_free(cc_trust *trust);

// A set of transfers that share connections. One thread at a time.

cc_multi *cc_multi_new(long connections_kept);
void cc_multi_free(cc_multi *multi);
/// Sleeps until there is something to do or the descriptor `bell` is readable (which it returns), at
/// most so long; a timer of curl's own ends it earlier.
bool cc_multi_poll(cc_multi *multi, int bell, int milliseconds);
/// Moves all transfers on; false if curl has no memory left or is otherwise beyond help.
bool cc_multi_perform(cc_multi *multi);
/// The next transfer that has ended, taken out of the set; NULL if there is none.
cc_easy *cc_multi_next_ended(cc_multi *multi, int *code);
bool cc_multi_add(cc_multi *multi, cc_easy *easy);
void cc_multi_remove(cc_multi *multi, cc_easy *easy);

// One transfer. It may be used again and again, and keeps what all requests have in common.

/// What a transfer tells its owner, always on the thread that performs.
struct cc_callbacks {
    /// One line of a head (status line, field, or the empty one). Returns what it took.
    size_t (*head)(char *bytes, size_t size, size_t count, void *owner);
    /// A piece of the body, perhaps packed with gzip. Returns what it took, or `cc_pause`.
    size_t (*body)(char *bytes, size_t size, size_t count, void *owner);
    /// Fills in more of the request's body. Returns how much, 0 at its end, or `cc_pause`, `cc_abort`.
    size_t (*upload)(char *room, size_t size, size_t count, void *owner);
    /// The request is about to be sent, for the first time or (on a fresh connection) again. 0 lets it.
    int (*sending)(void *owner, char *peer, char *local, int peer_port, int local_port);
};
extern const size_t cc_pause;
extern const size_t cc_abort;

struct cc_defaults {
    const char *user_agent;
    /// Certificates believed besides the system's; NULL for none. Lives longer than the transfer.
    const cc_trust *trust;
    /// Idle connections older than this are not used again.
    long connection_age_seconds;
    /// Data that is not acknowledged for so long ends its connection.
    unsigned int unacknowledged_milliseconds;
};

cc_easy *cc_easy_new(const struct cc_defaults *defaults, const struct cc_callbacks *callbacks);
void cc_easy_free(cc_easy *easy);
void *cc_easy_owner(cc_easy *easy);

enum cc_body { CC_BODY_NONE, CC_BODY_BYTES, CC_BODY_PULLED };

struct cc_request {
    const char *url;
    const char *method;
    enum cc_body body;
    /// Of a CC_BODY_BYTES; copied.
    const void *bytes;
    /// Of the body; -1 if it is not known beforehand.
    int64_t length;
    /// "" for none.
    const char *proxy;
    /// NULL for none.
    const char *socket_path;
    long connect_milliseconds;
    long total_milliseconds;
    long stall_bytes_per_second;
    long stall_seconds;
};

/// Adds a header line to the request that is prepared next.
bool cc_easy_add_header(cc_easy *easy, const char *line);
bool cc_easy_prepare(cc_easy *easy, void *owner, const struct cc_request *request);
/// Forgets the last request.
void cc_easy_clear(cc_easy *easy);
/// Moves on in whichever direction a callback had paused. What the callbacks refuse meanwhile is in the
/// result code, and there only: the transfer itself would go on without it, and end as complete.
int cc_easy_resume(cc_easy *easy);

/// What curl's result code means.
enum cc_ending {
    CC_COMPLETE,
    CC_UNRESOLVABLE,
    CC_PROXY_UNRESOLVABLE,
    CC_UNREACHABLE,
    CC_TLS_FAILED,
    CC_TIMED_OUT,
    CC_LOST,
    CC_MALFORMED,
    CC_BAD_REQUEST,
    CC_STOPPED,
    CC_LOCAL,
};
enum cc_ending cc_ending_of(int code);
/// The name that curl gives its result code.
const char *cc_code_text(int code);

struct cc_report {
    int64_t uploaded;
    int64_t elapsed_microseconds;
    long system_error;
};
struct cc_report cc_easy_report(cc_easy *easy);
/// What curl said about the last failure. May hold names of hosts.
const char *cc_easy_error(cc_easy *easy);
/// The length that the head announced, or -1.
int64_t cc_easy_content_length(cc_easy *easy);

// URLs.

/// Where a Location leads, seen from the page that has it; to be freed. NULL if it makes no sense.
char *cc_url_resolve(const char *base, const char *location);
void cc_string_free(char *string);
