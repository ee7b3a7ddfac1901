// Answers ethtool's questions for statistics of eth0 with what a file says: "NAME BEGIN PER_SECOND" by line, so that
// any driver can be made up. Loaded with LD_PRELOAD; the file is $ETHTOOL_SHIM.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define MOST 64
static char names[MOST][ETH_GSTRING_LEN];
static unsigned long long begin[MOST], rate[MOST];
static unsigned count;

static void load(void) {
    char line[256];
    FILE* file = count == 0 ? fopen(getenv("ETHTOOL_SHIM"), "r") : NULL;
    while (file != NULL && count < MOST && fgets(line, sizeof line, file) != NULL) {
        // The name is all before the last two words: it may have spaces.
        char* second = strrchr(line, ' ');
        rate[count] = strtoull(second, NULL, 10);
        *second = '\0';
        char* first = strrchr(line, ' ');
        begin[count] = strtoull(first, NULL, 10);
        *first = '\0';
        strncpy(names[count++], line, ETH_GSTRING_LEN);
    }
    if (file != NULL) {
        fclose(file);
    }
}

int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void* argument = va_arg(arguments, void*);
    va_end(arguments);
    int (*real)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    struct ifreq* asked = argument;
    if (request != SIOCETHTOOL || strcmp(asked->ifr_name, "eth0") != 0) {
        return real(descriptor, request, argument);
    }
    load();
    const __u32 command = *(__u32*)(void*)asked->ifr_data;
    if (command == ETHTOOL_GSSET_INFO) {
        ((struct ethtool_sset_info*)(void*)asked->ifr_data)->data[0] = count;
        return 0;
    }
    if (command == ETHTOOL_GSTRINGS) {
        struct ethtool_gstrings* strings = (void*)asked->ifr_data;
        strings->len = count;
        memcpy(strings->data, names, count * sizeof names[0]);
        return 0;
    }
    if (command == ETHTOOL_GSTATS) {
        struct ethtool_stats* values = (void*)asked->ifr_data;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        values->n_stats = count;
        for (unsigned i = 0; i < count; ++i) {
            values->data[i] = begin[i] + rate[i] * (unsigned long long)now.tv_sec;
        }
        return 0;
    }
    return real(descriptor, request, argument);
}
