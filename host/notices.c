#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "host/notices.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* sd_notify() blocks if the socket's queue is full. */
bool notices_send(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = path ? strlen(path) : 0;
    if (size == 0 || size >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return true;
    memcpy(address.sun_path, path, size);
    if (path[0] == '@')
        address.sun_path[0] = '\0'; /* an abstract address */
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0)
        return false;
    ssize_t sent = sendto(file, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL,
                          (const struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size));
    bool again = sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == EINTR);
    close(file);
    return !again;
}
