/* Notices to the supervisor (sd_notify(3)), without waiting for it to read them. */
#ifndef HOST_NOTICES_H
#define HOST_NOTICES_H

#include <stdbool.h>

/* Sends text, "READY=1" for example, to the socket that $NOTIFY_SOCKET names. False: the supervisor
 * does not read at the moment: try again. True: sent, or no supervisor exists. */
bool notices_send(const char *text);

#endif
