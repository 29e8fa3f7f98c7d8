#define _DEFAULT_SOURCE
#include "ceilings.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

// The same multi loop as the client's, in one thread and with the same options, and nothing around it.

struct tally {
    size_t bytes;
    size_t heads;
};

static size_t count_body(char *bytes, size_t size, size_t count, void *owner) {
    (void)bytes;
    ((struct tally *)owner)->bytes += size * count;
    return size * count;
}

static size_t count_head(char *bytes, size_t size, size_t count, void *owner) {
    (void)bytes;
    ((struct tally *)owner)->heads += size * count;
    return size * count;
}

static CURL *prepare(const char *url, struct curl_slist *headers, struct tally *tally) {
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "holdfast");
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 60000L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 16L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 30L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, count_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, tally);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, count_head);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, tally);
    return curl;
}

static void finish(CURLM *multi, int *left_to_start, int *left_to_end, int *failed) {
    int waiting;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &waiting)) != NULL) {
        long status = 0;
        CURL *curl = message->easy_handle;
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        *failed += message->data.result != CURLE_OK || status != 200;
        *left_to_end -= 1;
        curl_multi_remove_handle(multi, curl);
        if (*left_to_start > 0) {
            *left_to_start -= 1;
            curl_multi_add_handle(multi, curl);
        }
    }
}

static struct curl_slist *split(const char *lines) {
    struct curl_slist *headers = NULL;
    char *copy = strdup(lines), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")) != NULL) {
        if (line[0] != 0) headers = curl_slist_append(headers, line);
    }
    free(copy);
    return headers;
}

int ceiling_curl_loop(const char *url, const char *header_lines, int requests, int concurrency) {
    struct tally tally = {0};
    struct curl_slist *headers = split(header_lines);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 128L);
    CURL **easies = calloc((size_t)concurrency, sizeof *easies);
    int left_to_start = requests, left_to_end = requests, failed = 0, running;
    for (int i = 0; i < concurrency; i++) {
        easies[i] = prepare(url, headers, &tally);
        if (left_to_start == 0) continue;
        left_to_start--;
        curl_multi_add_handle(multi, easies[i]);
    }
    while (left_to_end > 0) {
        curl_multi_perform(multi, &running);
        finish(multi, &left_to_start, &left_to_end, &failed);
        if (left_to_end > 0 && running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    for (int i = 0; i < concurrency; i++) curl_easy_cleanup(easies[i]);
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
    free(easies);
    return failed;
}
