/* Files of /proc that are about the calling process: a program that is executed here must find
 * itself in them, and not its host. */
#ifndef CAPTURE_EXEC_KERNEL_OWN_FILE_H
#define CAPTURE_EXEC_KERNEL_OWN_FILE_H

enum own_file {
    OWN_NONE, /* any other file */
    OWN_EXE,  /* the link itself */
    OWN_MAPS,
    OWN_CMDLINE,
    OWN_ENVIRON,
    OWN_AUXV,
    OWN_MEM,
    OWN_NOT_MEM /* the memory of another process */
};

/* What a descriptor is open for, by whatever path it was opened: /proc/self, /proc/thread-self, a
 * number, a folder's descriptor, links, another place where proc is mounted. */
enum own_file own_file_of(int descriptor);

#endif
