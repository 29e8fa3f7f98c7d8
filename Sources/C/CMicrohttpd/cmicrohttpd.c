#define _GNU_SOURCE
#include "cmicrohttpd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// Suspending without the library's own wake-up descriptor: its owner runs it after every resume, so
// a write and a read for each of them would be for nothing.
#define SUSPEND_WITHOUT_SIGNAL (MHD_ALLOW_SUSPEND_RESUME & ~MHD_USE_ITC)
_Static_assert(SUSPEND_WITHOUT_SIGNAL == 8192, "libmicrohttpd");
_Static_assert(CM_READ_END == MHD_CONTENT_READER_END_OF_STREAM, "libmicrohttpd");
_Static_assert(CM_READ_BROKEN == MHD_CONTENT_READER_END_WITH_ERROR, "libmicrohttpd");

struct cm_daemon {
    struct MHD_Daemon *daemon;
    struct cm_callbacks callbacks;
    void *server;
};

static struct MHD_Connection *inner(struct cm_connection *connection) {
    return (struct MHD_Connection *)connection;
}

static void *owner_of(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static void on_connection(
    void *context, struct MHD_Connection *connection, void **owner, enum MHD_ConnectionNotificationCode code) {
    struct cm_daemon *self = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *owner = self->callbacks.opened(self->server, (struct cm_connection *)connection, fd);
    } else {
        self->callbacks.closed(self->server, *owner);
    }
}

static void *on_target(void *context, const char *target, struct MHD_Connection *connection) {
    struct cm_daemon *self = context;
    if (target == NULL) target = "";
    void *exchange =
        self->callbacks.targeted(self->server, owner_of(connection), target, strlen(target));
    // The library would make a record of every argument, and when there are more than its memory
    // holds, leave the connection in a state in which it neither reads nor closes but always has
    // work to do. The query is ours to read. So it sees an empty one; the memory is its own.
    char *query = strchr((char *)target, '?');
    if (query != NULL) query[1] = 0;
    return exchange;
}

/// Leaves the path as it was sent.
static size_t unescape_nothing(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

// What `cm_read_head` needs and the library tells its handler only. Valid during the call.
struct call {
    struct MHD_Connection *connection;
    const char *url, *method, *version;
};
static _Thread_local struct call current;

static enum MHD_Result on_call(
    void *context, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *bytes, size_t *count, void **exchange) {
    struct cm_daemon *self = context;
    current = (struct call){connection, url, method, version};
    int goes_on =
        self->callbacks.called(self->server, *exchange, (struct cm_connection *)connection, bytes, count);
    current.connection = NULL;
    return goes_on ? MHD_YES : MHD_NO;
}

static void on_completion(
    void *context, struct MHD_Connection *connection, void **exchange, enum MHD_RequestTerminationCode code) {
    struct cm_daemon *self = context;
    (void)connection;
    void *over = *exchange;
    *exchange = NULL;
    if (over != NULL) self->callbacks.completed(self->server, over, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

static void on_upgrade(
    void *context, struct MHD_Connection *connection, void *exchange, const char *bytes, size_t count,
    MHD_socket fd, struct MHD_UpgradeResponseHandle *line) {
    struct cm_daemon *self = context;
    (void)connection;
    (void)fd;
    self->callbacks.upgraded(self->server, exchange, bytes, count, (struct cm_line *)line);
}

struct cm_response *cm_response_upgrade(struct cm_daemon *self) {
    return (struct cm_response *)MHD_create_response_for_upgrade(on_upgrade, self);
}

void cm_take_back(struct cm_line *line) {
    MHD_upgrade_action((struct MHD_UpgradeResponseHandle *)line, MHD_UPGRADE_ACTION_CLOSE);
}

struct cm_daemon *cm_start(size_t memory, const struct cm_callbacks *callbacks, void *server) {
    struct cm_daemon *self = calloc(1, sizeof *self);
    if (self == NULL) return NULL;
    self->callbacks = *callbacks;
    self->server = server;
    self->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | SUSPEND_WITHOUT_SIGNAL | MHD_ALLOW_UPGRADE, 0, NULL, NULL,
        on_call, self,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)1 << 20,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, self,
        MHD_OPTION_NOTIFY_COMPLETED, on_completion, self,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, self,
        MHD_OPTION_UNESCAPE_CALLBACK, unescape_nothing, NULL,
        MHD_OPTION_END);
    if (self->daemon == NULL) {
        free(self);
        return NULL;
    }
    return self;
}

void cm_stop(struct cm_daemon *self) {
    MHD_stop_daemon(self->daemon);
    free(self);
}

int cm_epoll(struct cm_daemon *self) {
    return MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void cm_run(struct cm_daemon *self) { MHD_run(self->daemon); }

int cm_is_pending(struct cm_daemon *self) {
    MHD_UNSIGNED_LONG_LONG milliseconds;
    return MHD_get_timeout(self->daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}

int cm_add(struct cm_daemon *self, int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getpeername(fd, (struct sockaddr *)&address, &length) != 0) {
        memset(&address, 0, sizeof address);
        length = sizeof(struct sockaddr);
    }
    return MHD_add_connection(self->daemon, fd, (struct sockaddr *)&address, length) == MHD_YES;
}

void cm_suspend(struct cm_connection *connection) { MHD_suspend_connection(inner(connection)); }
void cm_resume(struct cm_connection *connection) { MHD_resume_connection(inner(connection)); }

void cm_look_again(struct cm_connection *connection) {
    cm_suspend(connection);
    cm_resume(connection);
}

struct harvest {
    struct cm_field *fields;
    size_t count, capacity;
};

static enum MHD_Result gather(
    void *context, enum MHD_ValueKind kind, const char *name, size_t name_length, const char *value,
    size_t value_length) {
    struct harvest *harvest = context;
    (void)kind;
    if (harvest->count < harvest->capacity) {
        harvest->fields[harvest->count] = (struct cm_field){name, name_length, value, value_length};
    }
    harvest->count++;
    return MHD_YES;
}

/// Whether the fields lie one after the other from `place` up to `end`.
static int is_seamless(const char *place, const char *end, const struct cm_field *fields, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct cm_field *field = &fields[i];
        if (field->name != place || field->name_length == 0) return 0;
        place += field->name_length;
        if (*place++ != 0) return 0;
        while (*place == ' ' || *place == '\t') place++;
        if (field->value != place) return 0;
        place += field->value_length;
        if (place[0] != 0 || place[1] != 0) return 0;
        place += 2;
    }
    return place[0] == 0 && place[1] == 0 && place + 2 == end;
}

enum cm_block cm_read_head(
    struct cm_connection *connection, size_t target_length, struct cm_head *head, struct cm_field *fields,
    size_t capacity) {
    struct harvest harvest = {fields, 0, capacity};
    MHD_get_connection_values_n(inner(connection), MHD_HEADER_KIND, gather, &harvest);
    size_t size =
        MHD_get_connection_info(inner(connection), MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
    size_t method_length = strlen(current.method);
    *head = (struct cm_head){current.method, 0, size, harvest.count};
    if (harvest.count > capacity) return CM_BLOCK_CROWDED;
    if (current.url != current.method + method_length + 1) return CM_BLOCK_SUSPICIOUS;
    if (current.version != current.url + target_length + 1) return CM_BLOCK_SUSPICIOUS;
    if (strlen(current.version) != 8 || current.version[9] != 0) return CM_BLOCK_SUSPICIOUS;
    head->minor_version = current.version[7] - '0';
    int is_plain = is_seamless(current.version + 10, current.method + size, fields, harvest.count);
    return is_plain ? CM_BLOCK_PLAIN : CM_BLOCK_SUSPICIOUS;
}

struct cm_response *cm_response_bytes(const void *bytes, size_t count, int forever) {
    enum MHD_ResponseMemoryMode mode = forever ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY;
    return (struct cm_response *)MHD_create_response_from_buffer(count, (void *)bytes, mode);
}

struct cm_response *cm_response_reader(
    int64_t size, size_t block, cm_reader reader, void *context, void (*release)(void *)) {
    uint64_t total = size < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)size;
    _Static_assert(sizeof(ssize_t) == sizeof(int64_t), "64 bits");
    return (struct cm_response *)MHD_create_response_from_callback(
        total, block, (MHD_ContentReaderCallback)reader, context, release);
}

int cm_response_header(struct cm_response *response, const char *name, const char *value) {
    return MHD_add_response_header((struct MHD_Response *)response, name, value) == MHD_YES;
}

void cm_response_drop(struct cm_response *response) {
    MHD_destroy_response((struct MHD_Response *)response);
}

int cm_answer(struct cm_connection *connection, int status, struct cm_response *response) {
    enum MHD_Result result =
        MHD_queue_response(inner(connection), (unsigned)status, (struct MHD_Response *)response);
    MHD_destroy_response((struct MHD_Response *)response);
    return result == MHD_YES;
}

int cm_accept(int fd) { return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

const char *cm_phrase(int status) { return MHD_get_reason_phrase_for((unsigned)status); }

void cm_say(int fd, const void *bytes, size_t count) {
    // A client that does not take so little at once is not told.
    ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent;
    shutdown(fd, SHUT_WR);
}

void cm_reset(int fd) {
    struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    connect(fd, &nowhere, sizeof nowhere);
}

int cm_discard(int fd) {
    char buffer[16384];
    ssize_t count = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

int cm_unread(int fd) {
    int count;
    return ioctl(fd, FIONREAD, &count) == 0 ? count : -1;
}

int cm_unsent(int fd) {
    int count;
    return ioctl(fd, SIOCOUTQ, &count) == 0 ? count : -1;
}

int cm_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

int cm_address(int fd, int peer, char *host, int *port) {
    union {
        struct sockaddr_storage any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
        struct sockaddr_un un;
    } address;
    memset(&address, 0, sizeof address);
    socklen_t length = sizeof address.any;
    int code = peer ? getpeername(fd, (struct sockaddr *)&address, &length)
                    : getsockname(fd, (struct sockaddr *)&address, &length);
    if (code != 0) return -1;
    if (address.any.ss_family == AF_INET) {
        *port = ntohs(address.in.sin_port);
        return inet_ntop(AF_INET, &address.in.sin_addr, host, 108) == NULL ? -1 : 0;
    }
    if (address.any.ss_family == AF_INET6) {
        *port = ntohs(address.in6.sin6_port);
        return inet_ntop(AF_INET6, &address.in6.sin6_addr, host, 108) == NULL ? -1 : 0;
    }
    if (address.any.ss_family != AF_UNIX) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    *port = -1;
    strncpy(host, address.un.sun_path, 107);
    host[107] = 0;
    return 0;
}

static int close_keeping_errno(int fd) {
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

static int bind_and_listen(int fd, const struct sockaddr *address, socklen_t length, int backlog) {
    if (bind(fd, address, length) != 0) return close_keeping_errno(fd);
    if (listen(fd, backlog) != 0) return close_keeping_errno(fd);
    return fd;
}

int cm_listen_tcp(const char *host, int port, int backlog) {
    struct addrinfo wish = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (getaddrinfo(host, NULL, &wish, &found) != 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        int on = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (found->ai_family == AF_INET6) {
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
            ((struct sockaddr_in6 *)found->ai_addr)->sin6_port = htons((uint16_t)port);
        } else {
            ((struct sockaddr_in *)found->ai_addr)->sin_port = htons((uint16_t)port);
        }
        fd = bind_and_listen(fd, found->ai_addr, found->ai_addrlen, backlog);
    }
    int code = errno;
    freeaddrinfo(found);
    errno = code;
    return fd;
}

/// An address holds 107 bytes, a state directory may be deeper: such a path begins at its directory, which has to stay
/// open for as long as the address is used. It is -1 where there is none to close.
static int unix_address(const char *path, struct sockaddr_un *address, int *directory) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    *directory = -1;
    if (strlen(path) < sizeof address->sun_path) {
        strcpy(address->sun_path, path);
        return 0;
    }
    const char *slash = strrchr(path, '/');
    char *parent = slash == NULL ? NULL : strndup(path, (size_t)(slash - path) + 1);
    if (parent == NULL) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int opened = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    if (opened < 0) return -1;
    size_t room = sizeof address->sun_path;
    if ((size_t)snprintf(address->sun_path, room, "/proc/self/fd/%d%s", opened, slash) >= room) {
        close(opened);
        errno = ENAMETOOLONG;
        return -1;
    }
    *directory = opened;
    return 0;
}

static void close_directory(int directory) {
    if (directory >= 0) close_keeping_errno(directory);
}

static int listen_at(const struct sockaddr_un *address, int backlog) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    // Linux gives the new file the mode of the socket itself, so there is no moment in which others
    // could connect, and the process's umask is left alone.
    if (fchmod(fd, 0600) != 0) return close_keeping_errno(fd);
    return bind_and_listen(fd, (const struct sockaddr *)address, sizeof *address, backlog);
}

int cm_listen_unix(const char *path, int backlog) {
    struct sockaddr_un address;
    int directory;
    if (unix_address(path, &address, &directory) != 0) return -1;
    int fd = listen_at(&address, backlog);
    close_directory(directory);
    return fd;
}

int cm_is_answered(const char *path) {
    struct sockaddr_un address;
    int directory;
    if (unix_address(path, &address, &directory) != 0) return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        close_directory(directory);
        return -1;
    }
    int code = connect(fd, (struct sockaddr *)&address, sizeof address);
    int reason = code == 0 ? 0 : errno;
    close(fd);
    close_directory(directory);
    errno = reason;
    if (reason == 0 || reason == EAGAIN) return 1;  // EAGAIN: its queue is full, so it is somebody's.
    return reason == ECONNREFUSED || reason == ENOENT ? 0 : -1;
}
