#define _GNU_SOURCE
#include "cwebsockets.h"

#include <libwebsockets.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

const size_t cw_headroom = LWS_PRE;

enum {
    // Handshake and headers of both sides have to fit; a hub's URL carries a token of some KB.
    BUFFER_SIZE = 32 * 1024,
    // Each line keeps so much to read into, for as long as it is open. What is longer comes in pieces, and what
    // hubs say hardly ever is.
    PIECE_SIZE = 2 * 1024,
    DESCRIPTORS_MAX = 1024,
    // The library has a few descriptors of its own.
    SOCKETS_MAX = DESCRIPTORS_MAX - 16,
    PROXY_SIZE = 256,
    HOST_SIZE = 256,
};

const size_t cw_sockets_max = SOCKETS_MAX;

// The library knows proxies by virtual host only, and frees those with the context. The credentials
// are read again when the connection is there, so each has a host of its own; the address is read
// when the connection is begun, and set anew each time.
struct route {
    char *credentials;
    struct lws_vhost *vhost;
    struct route *next;
};

struct cw_context {
    struct lws_context *lws;
    struct lws_vhost *direct;
    struct route *routes;
    struct cw_callbacks callbacks;
    unsigned patience_seconds;
    SSL_CTX *tls;
    lws_sorted_usec_list_t alarm;
};

struct cw_socket {
    cw_context *context;
    struct lws *lws;
    void *owner;
    char *name;
    char *path;
    char *header_lines;
    const char *distrust;
    bool is_secure;
    bool is_beginning;
    bool is_open;
    bool has_ended;
    bool was_goodbye_said;
    bool is_ending;
    int status;
    uint16_t goodbye;
};

// Socket

static void release(cw_socket *socket) {
    free(socket->name);
    free(socket->path);
    free(socket->header_lines);
    free(socket);
}

static void tell_end(cw_socket *socket, enum cw_ending ending, const char *text) {
    if (socket->has_ended) return;
    socket->has_ended = true;
    if (socket->is_beginning) return;
    socket->context->callbacks.ended(socket->owner, ending, socket->status, text);
}

static bool begins(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

// The library has no codes for its failures, only words.
static void tell_failure(cw_socket *socket, const char *text) {
    if (socket->distrust != NULL) return tell_end(socket, CW_UNTRUSTED, socket->distrust);
    if (begins(text, "connect S") || begins(text, "connect unk") || begins(text, "server's cert")) {
        return tell_end(socket, CW_UNTRUSTED, "the TLS handshake fails");
    }
    if (socket->status != 0 && socket->status != 101) return tell_end(socket, CW_REFUSED, text);
    if (begins(text, "HS:") || begins(text, "problems parsing") || begins(text, "proxy not h1")) {
        return tell_end(socket, CW_MALFORMED, text);
    }
    if (begins(text, "Unable to connect")) return tell_end(socket, CW_UNREACHABLE, text);
    tell_end(socket, CW_LOST, text);
}

// The library cuts a request line after 2 KB without a word. So it is given "/" for a path, and the
// real one is put in when the request is complete but for our headers.
static int finish_request(cw_socket *socket, char **end, size_t room) {
    static const char placeholder[] = "GET / HTTP/1.1\r\n";
    size_t path = strlen(socket->path), headers = strlen(socket->header_lines);
    if (path - 1 + headers >= room) return -1;
    char *start = *end;
    do {
        start--;
    } while (strncmp(start, placeholder, sizeof placeholder - 1) != 0);
    char *rest = start + strlen("GET /");
    memmove(rest + path - 1, rest, (size_t)(*end - rest));
    memcpy(rest - 1, socket->path, path);
    *end += path - 1;
    memcpy(*end, socket->header_lines, headers);
    *end += headers;
    return 0;
}

// The library's own check of the name takes an IPv6 address for an empty name, which is to say for
// any. So the name is checked here as well, whatever the library finds.
static int judge_certificate(cw_socket *socket, X509_STORE_CTX *chain, bool is_trusted) {
    if (!is_trusted) {
        socket->distrust = X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain));
        return 0;
    }
    if (X509_STORE_CTX_get_error_depth(chain) != 0) return 0;
    X509 *certificate = X509_STORE_CTX_get_current_cert(chain);
    if (X509_check_ip_asc(certificate, socket->name, 0) == 1) return 0;
    unsigned flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;
    if (X509_check_host(certificate, socket->name, 0, flags, NULL) == 1) return 0;
    X509_STORE_CTX_set_error(chain, X509_V_ERR_HOSTNAME_MISMATCH);
    socket->distrust = X509_verify_cert_error_string(X509_V_ERR_HOSTNAME_MISMATCH);
    return 1;
}

static int tell_received(cw_socket *socket, const uint8_t *bytes, size_t count) {
    bool is_last = lws_is_final_fragment(socket->lws) && lws_remaining_packet_payload(socket->lws) == 0;
    return socket->context->callbacks.received(
        socket->owner,
        bytes,
        count,
        !lws_frame_is_binary(socket->lws),
        is_last
    );
}

static uint16_t goodbye_code(const uint8_t *bytes, size_t count) {
    return count < 2 ? 1005 : (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static int say_goodbye(cw_socket *socket) {
    socket->is_ending = true;
    if (socket->goodbye != 0) {
        lws_close_reason(socket->lws, (enum lws_close_status)socket->goodbye, NULL, 0);
    }
    return -1;
}

// Who ends the connection in the middle of a frame gets the rest of it nevertheless, and the library writes that
// beyond its buffer. So it ends with the next turn to write, and what still comes is read over.
static int take_received(cw_socket *socket, const uint8_t *bytes, size_t count) {
    if (socket->is_ending || tell_received(socket, bytes, count) == 0) return 0;
    socket->is_ending = true;
    lws_callback_on_writable(socket->lws);
    return 0;
}

static void tell_closed(cw_socket *socket) {
    bool is_orderly = socket->was_goodbye_said;
    tell_end(socket, is_orderly ? CW_CLOSED : CW_LOST, "the connection ended");
}

static int on_socket(cw_socket *socket, enum lws_callback_reasons reason, void *in, size_t count) {
    const struct cw_callbacks *tell = &socket->context->callbacks;
    switch (reason) {
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: return finish_request(socket, in, count);
    case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP:
        socket->status = (int)lws_http_client_http_response(socket->lws);
        return 0;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        tell_failure(socket, in != NULL ? in : "");
        return 0;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        socket->is_open = true;
        tell->opened(socket->owner);
        return 0;
    case LWS_CALLBACK_CLIENT_RECEIVE: return take_received(socket, in, count);
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG: tell->ponged(socket->owner); return 0;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        if (!socket->is_ending && tell->writable(socket->owner) == 0) return 0;
        return say_goodbye(socket);
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        socket->was_goodbye_said = true;
        tell->goodbye(socket->owner, goodbye_code(in, count));
        return 0;
    case LWS_CALLBACK_CLIENT_CLOSED: tell_closed(socket); return 0;
    case LWS_CALLBACK_WSI_DESTROY:
        tell_end(socket, CW_LOST, "the connection ended");
        if (socket->is_beginning) {
            socket->lws = NULL;
        } else {
            release(socket);
        }
        return 0;
    default: return 0;
    }
}

// Context

// The library's own would be leaked with each context, and would go on without the extra authorities
// if it could not read them.
static SSL_CTX *make_tls(const char *authorities_path) {
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    if (tls == NULL) return NULL;
    SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(tls, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    bool is_trusting = SSL_CTX_set_default_verify_paths(tls) == 1
        && (authorities_path == NULL || SSL_CTX_load_verify_file(tls, authorities_path) == 1);
    ERR_clear_error();
    if (is_trusting) return tls;
    SSL_CTX_free(tls);
    return NULL;
}

static int on_event(
    struct lws *lws, enum lws_callback_reasons reason, void *user, void *in, size_t count
) {
    cw_socket *socket = lws != NULL ? lws_get_opaque_user_data(lws) : NULL;
    if (socket == NULL) return 0;
    // The library leaves the owner to us only after the call that makes the socket has begun.
    socket->lws = lws;
    if (reason == LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION) {
        return judge_certificate(socket, user, count != 0);
    }
    return on_socket(socket, reason, in, count);
}

static const struct lws_protocols protocols[] = {
    {.name = "client",
     .callback = on_event,
     .rx_buffer_size = PIECE_SIZE,
     .tx_packet_size = 16 * 1024},
    {0},
};

static struct lws_vhost *make_vhost(cw_context *context, const char *proxy, int proxy_port) {
    struct lws_context_creation_info info = {0};
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.protocols = protocols;
    info.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info.provided_client_ssl_ctx = context->tls;
    // Without one, even an empty one, the library takes it from the environment.
    info.http_proxy_address = proxy;
    info.http_proxy_port = (unsigned)proxy_port;
    info.timeout_secs = context->patience_seconds;
    return lws_create_vhost(context->lws, &info);
}

cw_context *cw_context_new(
    const char *authorities_path, unsigned patience_seconds, const struct cw_callbacks *callbacks
) {
    cw_context *context = calloc(1, sizeof *context);
    if (context == NULL) return NULL;
    context->patience_seconds = patience_seconds;
    context->callbacks = *callbacks;
    lws_set_log_level(0, NULL);
    struct lws_context_creation_info info = {0};
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info.pt_serv_buf_size = BUFFER_SIZE;
    info.max_http_header_data2 = BUFFER_SIZE - 1;
    // Otherwise a table for as many descriptors as the process may have.
    info.fd_limit_per_thread = DESCRIPTORS_MAX;
    info.timeout_secs = patience_seconds;
    context->tls = make_tls(authorities_path);
    if (context->tls != NULL) context->lws = lws_create_context(&info);
    if (context->lws != NULL) context->direct = make_vhost(context, "", 0);
    if (context->direct != NULL) return context;
    cw_context_free(context);
    return NULL;
}

static void free_routes(struct route *route) {
    while (route != NULL) {
        struct route *next = route->next;
        free(route->credentials);
        free(route);
        route = next;
    }
}

void cw_context_free(cw_context *context) {
    if (context->lws != NULL) {
        lws_sul_cancel(&context->alarm);
        lws_context_destroy(context->lws);
    }
    SSL_CTX_free(context->tls);
    free_routes(context->routes);
    free(context);
}

void cw_serve(cw_context *context) { lws_service(context->lws, 0); }
void cw_wake(cw_context *context) { lws_cancel_service(context->lws); }

// The library stops polling when the time comes. Where it had come before the library began, that would
// go on to the next of its own timers.
static void ring(lws_sorted_usec_list_t *alarm) {
    cw_wake(lws_container_of(alarm, cw_context, alarm));
}

void cw_alarm(cw_context *context, int64_t microseconds) {
    lws_sul_schedule(context->lws, 0, &context->alarm, ring, microseconds);
}

// Open

static struct route *new_route(cw_context *context, const char *credentials, const char *proxy, int port) {
    struct route *route = calloc(1, sizeof *route);
    if (route == NULL) return NULL;
    route->credentials = strdup(credentials);
    if (route->credentials != NULL) route->vhost = make_vhost(context, proxy, port);
    if (route->vhost == NULL) {
        free_routes(route);
        return NULL;
    }
    route->next = context->routes;
    context->routes = route;
    return route;
}

static struct lws_vhost *vhost_of(
    cw_context *context, const char *credentials, const char *proxy, int port
) {
    struct route *route = context->routes;
    while (route != NULL && strcmp(route->credentials, credentials) != 0) route = route->next;
    if (route == NULL) route = new_route(context, credentials, proxy, port);
    if (route == NULL || lws_set_proxy(route->vhost, proxy) != 0) return NULL;
    return route->vhost;
}

static struct lws_vhost *vhost_for(cw_context *context, const struct cw_target *target) {
    if (target->proxy_credentials == NULL) return context->direct;
    char proxy[PROXY_SIZE];
    bool has_credentials = target->proxy_credentials[0] != 0;
    bool is_ipv6 = strchr(target->address, ':') != NULL;
    int length = snprintf(
        proxy,
        sizeof proxy,
        is_ipv6 ? "%s%s[%s]:%d" : "%s%s%s:%d",
        target->proxy_credentials,
        has_credentials ? "@" : "",
        target->address,
        target->proxy_port
    );
    if (length < 0 || (size_t)length >= sizeof proxy) return NULL;
    return vhost_of(context, target->proxy_credentials, proxy, target->proxy_port);
}

static cw_socket *make_socket(cw_context *context, void *owner, const struct cw_target *target) {
    cw_socket *socket = calloc(1, sizeof *socket);
    if (socket == NULL) return NULL;
    socket->context = context;
    socket->owner = owner;
    socket->name = strdup(target->name);
    socket->path = strdup(target->path);
    socket->header_lines = strdup(target->header_lines);
    socket->is_secure = target->is_secure;
    if (socket->name != NULL && socket->path != NULL && socket->header_lines != NULL) return socket;
    release(socket);
    return NULL;
}

static int flags_for(const struct cw_target *target) {
    int flags = LCCSCF_HTTP_NO_FOLLOW_REDIRECT;
    if (!target->is_secure) return flags;
    flags |= LCCSCF_USE_SSL;
    // The library cuts the name at its first colon; `judge_certificate` does not.
    if (strchr(target->name, ':') != NULL) flags |= LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK;
    return flags;
}

// To whom the library connects; of a host behind a proxy, how the proxy is told of it, which reads the port behind the
// last colon. `room` has HOST_SIZE bytes.
static const char *address_of(const struct cw_target *target, char *room) {
    if (target->proxy_credentials == NULL) return target->address;
    if (strchr(target->name, ':') == NULL) return target->name;
    int length = snprintf(room, HOST_SIZE, "[%s]", target->name);
    return length > 0 && length < HOST_SIZE ? room : NULL;
}

cw_socket *cw_open(cw_context *context, void *owner, const struct cw_target *target) {
    // Pings and silence are watched over by the owner.
    static const lws_retry_bo_t no_policy = {0};
    cw_socket *socket = make_socket(context, owner, target);
    if (socket == NULL) return NULL;
    struct lws_client_connect_info info = {0};
    info.context = context->lws;
    info.vhost = vhost_for(context, target);
    char room[HOST_SIZE];
    info.address = address_of(target, room);
    info.port = target->port;
    info.path = "/";
    info.host = target->host_field;
    info.ssl_connection = flags_for(target);
    info.local_protocol_name = "client";
    info.alpn = "http/1.1";
    info.retry_and_idle_policy = &no_policy;
    info.opaque_user_data = socket;
    socket->is_beginning = true;
    bool is_known = info.vhost != NULL && info.address != NULL;
    struct lws *lws = is_known ? lws_client_connect_via_info(&info) : NULL;
    socket->is_beginning = false;
    if (lws == NULL) {
        release(socket);
        return NULL;
    }
    socket->lws = lws;
    return socket;
}

// Use

void cw_ask_to_write(cw_socket *socket) { lws_callback_on_writable(socket->lws); }

bool cw_write(cw_socket *socket, uint8_t *bytes, size_t count, enum cw_frame frame) {
    static const enum lws_write_protocol kinds[] = {
        [CW_TEXT] = LWS_WRITE_TEXT,
        [CW_BINARY] = LWS_WRITE_BINARY,
        [CW_PING] = LWS_WRITE_PING,
    };
    return lws_write(socket->lws, bytes, count, kinds[frame]) >= (int)count;
}

void cw_set_goodbye(cw_socket *socket, uint16_t code) { socket->goodbye = code; }

void cw_read(cw_socket *socket, bool is_wanted) { lws_rx_flow_control(socket->lws, is_wanted); }

void cw_kill(cw_socket *socket) {
    lws_set_timeout(socket->lws, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_SYNC);
}
