#define _GNU_SOURCE
#include "slownames.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int hanging = 0;
static bool is_let_go = false;

int slow_names_hanging(void) {
    pthread_mutex_lock(&lock);
    int count = hanging;
    pthread_mutex_unlock(&lock);
    return count;
}

void slow_names_let_go(void) {
    pthread_mutex_lock(&lock);
    is_let_go = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int hang(void) {
    pthread_mutex_lock(&lock);
    hanging++;
    while (!is_let_go) pthread_cond_wait(&changed, &lock);
    hanging--;
    pthread_mutex_unlock(&lock);
    return EAI_AGAIN;
}

/* Nobody has such a name (RFC 6761), and no test waits for a server to say so. */
static bool is_invalid(const char *name) {
    static const char ending[] = ".invalid";
    size_t length = strlen(name), tail = sizeof ending - 1;
    return length >= tail && strcasecmp(name + length - tail, ending) == 0;
}

int getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found
) {
    if (name != NULL && strcmp(name, "slow.test") == 0) return hang();
    if (name != NULL && is_invalid(name)) return EAI_NONAME;
    int (*usual)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    *(void **)&usual = dlsym(RTLD_NEXT, "getaddrinfo");
    return usual(name, service, hints, found);
}
