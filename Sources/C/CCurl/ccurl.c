#include "ccurl.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(sizeof(curl_off_t) == sizeof(int64_t), "curl counts bytes in 64 bits");

const size_t cc_pause = CURL_WRITEFUNC_PAUSE;
const size_t cc_abort = CURL_READFUNC_ABORT;
_Static_assert(CURL_WRITEFUNC_PAUSE == CURL_READFUNC_PAUSE, "one word for both directions");

int cc_global_init(void) { return (int)curl_global_init(CURL_GLOBAL_DEFAULT); }

// Trust

struct cc_trust {
    STACK_OF(X509_INFO) *certificates;
};

static int count_certificates(STACK_OF(X509_INFO) *all) {
    int count = 0;
    for (int i = 0; i < sk_X509_INFO_num(all); i++) count += sk_X509_INFO_value(all, i)->x509 != NULL;
    return count;
}

cc_trust *cc_trust_new(const char *path) {
    BIO *file = BIO_new_file(path, "r");
    if (file == NULL) {
        ERR_clear_error();
        return NULL;
    }
    STACK_OF(X509_INFO) *certificates = PEM_X509_INFO_read_bio(file, NULL, NULL, NULL);
    BIO_free(file);
    ERR_clear_error();
    cc_trust *trust = calloc(1, sizeof *trust);
    if (certificates == NULL || count_certificates(certificates) == 0 || trust == NULL) {
        sk_X509_INFO_pop_free(certificates, X509_INFO_free);
        free(trust);
        return NULL;
    }
    trust->certificates = certificates;
    return trust;
}

void cc_trust_free(cc_trust *trust) {
    if (trust == NULL) return;
    sk_X509_INFO_pop_free(trust->certificates, X509_INFO_free);
    free(trust);
}

// Added to the store that curl has filled from the system. That store is shared by all connections
// of a multi, all of which have the same trust; a certificate that is there already is left alone.
static CURLcode add_trust(CURL *curl, void *context, void *trust_pointer) {
    (void)curl;
    const cc_trust *trust = trust_pointer;
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    for (int i = 0; i < sk_X509_INFO_num(trust->certificates); i++) {
        X509 *certificate = sk_X509_INFO_value(trust->certificates, i)->x509;
        if (certificate != NULL && X509_STORE_add_cert(store, certificate) != 1) {
            return CURLE_SSL_CACERT_BADFILE;
        }
    }
    return CURLE_OK;
}

// Multi

// Nothing is set that makes curl queue (PIPEWAIT, or a limit of connections to a host): of what it
// queues it keeps no deadline.
cc_multi *cc_multi_new(long connections_kept) {
    CURLM *multi = curl_multi_init();
    if (multi == NULL) return NULL;
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, connections_kept);
    return (cc_multi *)multi;
}

void cc_multi_free(cc_multi *multi) { curl_multi_cleanup((CURLM *)multi); }

// curl's own way to be woken takes three system calls, an eventfd takes two.
bool cc_multi_poll(cc_multi *multi, int bell, int milliseconds) {
    struct curl_waitfd extra = {.fd = bell, .events = CURL_WAIT_POLLIN};
    curl_multi_poll((CURLM *)multi, &extra, 1, milliseconds, NULL);
    return extra.revents != 0;
}

bool cc_multi_perform(cc_multi *multi) {
    int running;
    return curl_multi_perform((CURLM *)multi, &running) == CURLM_OK;
}

cc_easy *cc_multi_next_ended(cc_multi *multi, int *code) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read((CURLM *)multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        CURL *curl = message->easy_handle;
        *code = (int)message->data.result;
        cc_easy *easy = NULL;
        curl_easy_getinfo(curl, CURLINFO_PRIVATE, (char **)&easy);
        curl_multi_remove_handle((CURLM *)multi, curl);
        return easy;
    }
    return NULL;
}

// Easy

struct cc_easy {
    CURL *curl;
    void *owner;
    struct curl_slist *headers;
    struct curl_slist *last_header;
    unsigned int unacknowledged_milliseconds;
    char error[CURL_ERROR_SIZE];
};

// A peer that is gone without a word would keep an HTTP/2 connection, and all requests that are put
// on it, for a quarter of an hour.
static int bound_silence(void *pointer, curl_socket_t socket, curlsocktype purpose) {
    (void)purpose;
    const cc_easy *easy = pointer;
    // Refused on Unix sockets, where there is nothing to bound.
    setsockopt(
        socket,
        IPPROTO_TCP,
        TCP_USER_TIMEOUT,
        &easy->unacknowledged_milliseconds,
        sizeof easy->unacknowledged_milliseconds
    );
    return CURL_SOCKOPT_OK;
}

static void set_defaults(cc_easy *easy, const struct cc_defaults *defaults) {
    CURL *curl = easy->curl;
    curl_easy_setopt(curl, CURLOPT_PRIVATE, (char *)easy);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, easy->error);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, defaults->user_agent);
    // Asked for here and unpacked by the owner: curl takes a gzip body that ends early for whole.
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    curl_easy_setopt(curl, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    // Otherwise who gives up while a name is looked up would hold all transfers until it is found.
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    // A server may have moved. Lines are kept, so it is seldom asked where one is.
    curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXAGE_CONN, defaults->connection_age_seconds);
    curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    // With a directory of certificates curl would read all of them for every connection; the one
    // file holds the same and is read once.
    curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
    if (defaults->trust != NULL) {
        curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, add_trust);
        curl_easy_setopt(curl, CURLOPT_SSL_CTX_DATA, (void *)defaults->trust);
    }
    easy->unacknowledged_milliseconds = defaults->unacknowledged_milliseconds;
    curl_easy_setopt(curl, CURLOPT_SOCKOPTFUNCTION, bound_silence);
    curl_easy_setopt(curl, CURLOPT_SOCKOPTDATA, easy);
}

static void set_callbacks(CURL *curl, const struct cc_callbacks *callbacks) {
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, callbacks->head);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, callbacks->body);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, callbacks->upload);
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, callbacks->sending);
}

cc_easy *cc_easy_new(const struct cc_defaults *defaults, const struct cc_callbacks *callbacks) {
    cc_easy *easy = calloc(1, sizeof *easy);
    if (easy == NULL) return NULL;
    easy->curl = curl_easy_init();
    if (easy->curl == NULL) {
        free(easy);
        return NULL;
    }
    set_defaults(easy, defaults);
    set_callbacks(easy->curl, callbacks);
    return easy;
}

void cc_easy_free(cc_easy *easy) {
    if (easy == NULL) return;
    curl_easy_cleanup(easy->curl);
    curl_slist_free_all(easy->headers);
    free(easy);
}

void *cc_easy_owner(cc_easy *easy) { return easy->owner; }

bool cc_multi_add(cc_multi *multi, cc_easy *easy) {
    return curl_multi_add_handle((CURLM *)multi, easy->curl) == CURLM_OK;
}

void cc_multi_remove(cc_multi *multi, cc_easy *easy) {
    curl_multi_remove_handle((CURLM *)multi, easy->curl);
}

bool cc_easy_add_header(cc_easy *easy, const char *line) {
    // curl_slist_append walks to the end each time; appending to the last node does not.
    struct curl_slist *last = curl_slist_append(easy->last_header, line);
    if (last == NULL) return false;
    if (easy->headers == NULL) {
        easy->headers = last;
        easy->last_header = last;
    } else {
        easy->last_header = easy->last_header->next;
    }
    return true;
}

static CURLcode set_method(CURL *curl, const struct cc_request *request) {
    bool is_get = strcmp(request->method, "GET") == 0, is_head = strcmp(request->method, "HEAD") == 0;
    bool has_body = request->body != CC_BODY_NONE;
    // NOBODY and POST each switch the other off, so the order matters: GET clears both first.
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    if (has_body) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
        bool is_copied = request->body == CC_BODY_BYTES;
        CURLcode code = curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, is_copied ? request->bytes : NULL);
        if (code != CURLE_OK) return code;
    } else if (is_head) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    }
    bool is_named = has_body || !(is_get || is_head);
    return curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, is_named ? request->method : NULL);
}

bool cc_easy_prepare(cc_easy *easy, void *owner, const struct cc_request *request) {
    CURL *curl = easy->curl;
    easy->owner = owner;
    easy->error[0] = 0;
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, owner);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, owner);
    curl_easy_setopt(curl, CURLOPT_READDATA, owner);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, owner);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, request->connect_milliseconds);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, request->total_milliseconds);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, request->stall_bytes_per_second);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, request->stall_seconds);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, easy->headers);
    // Once a server speaks HTTP/2, curl takes a tunnel that is still being made for a connection like any
    // other, and what is put on it fails.
    bool is_direct = request->proxy[0] == 0;
    long version = is_direct ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, version);
    // A command's path is made of what somebody typed, and dots are to lead nowhere else in it.
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, request->socket_path ? 1L : 0L);
    return curl_easy_setopt(curl, CURLOPT_URL, request->url) == CURLE_OK
        && curl_easy_setopt(curl, CURLOPT_PROXY, request->proxy) == CURLE_OK
        && curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, request->socket_path) == CURLE_OK
        && set_method(curl, request) == CURLE_OK;
}

void cc_easy_clear(cc_easy *easy) {
    easy->owner = NULL;
    curl_easy_setopt(easy->curl, CURLOPT_HTTPHEADER, NULL);
    curl_easy_setopt(easy->curl, CURLOPT_COPYPOSTFIELDS, NULL);
    curl_slist_free_all(easy->headers);
    easy->headers = NULL;
    easy->last_header = NULL;
}

int cc_easy_resume(cc_easy *easy) { return (int)curl_easy_pause(easy->curl, CURLPAUSE_CONT); }

enum cc_ending cc_ending_of(int code) {
    switch ((CURLcode)code) {
    case CURLE_OK: return CC_COMPLETE;
    case CURLE_COULDNT_RESOLVE_HOST: return CC_UNRESOLVABLE;
    case CURLE_COULDNT_RESOLVE_PROXY: return CC_PROXY_UNRESOLVABLE;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY: return CC_UNREACHABLE;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
    case CURLE_USE_SSL_FAILED: return CC_TLS_FAILED;
    case CURLE_OPERATION_TIMEDOUT: return CC_TIMED_OUT;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return CC_LOST;
    // "HTTP/0.9 when not allowed" comes as an unsupported protocol; that the URL's own scheme is
    // not supported has been ruled out before.
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_FILESIZE_EXCEEDED: return CC_MALFORMED;
    case CURLE_URL_MALFORMAT: return CC_BAD_REQUEST;
    case CURLE_WRITE_ERROR:
    case CURLE_READ_ERROR:
    case CURLE_ABORTED_BY_CALLBACK: return CC_STOPPED;
    default: return CC_LOCAL;
    }
}

const char *cc_code_text(int code) { return curl_easy_strerror((CURLcode)code); }

struct cc_report cc_easy_report(cc_easy *easy) {
    struct cc_report report = {0};
    curl_easy_getinfo(easy->curl, CURLINFO_SIZE_UPLOAD_T, &report.uploaded);
    curl_easy_getinfo(easy->curl, CURLINFO_TOTAL_TIME_T, &report.elapsed_microseconds);
    curl_easy_getinfo(easy->curl, CURLINFO_OS_ERRNO, &report.system_error);
    return report;
}

const char *cc_easy_error(cc_easy *easy) { return easy->error; }

int64_t cc_easy_content_length(cc_easy *easy) {
    curl_off_t length = -1;
    curl_easy_getinfo(easy->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length;
}

// URLs

char *cc_url_resolve(const char *base, const char *location) {
    CURLU *url = curl_url();
    char *resolved = NULL;
    if (url != NULL && curl_url_set(url, CURLUPART_URL, base, 0) == CURLUE_OK
        && curl_url_set(url, CURLUPART_URL, location, CURLU_DISALLOW_USER) == CURLUE_OK) {
        curl_url_get(url, CURLUPART_URL, &resolved, 0);
    }
    curl_url_cleanup(url);
    return resolved;
}

void cc_string_free(char *string) { curl_free(string); }
