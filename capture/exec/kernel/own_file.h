/* Recognizes the files of /proc that describe the calling process: an executed program must see
 * itself in them, and not bustap. */
#ifndef CAPTURE_EXEC_KERNEL_OWN_FILE_H
#define CAPTURE_EXEC_KERNEL_OWN_FILE_H

enum own_file {
    OWN_NONE, /* any other file */
    OWN_EXE,  /* the link /proc/self/exe */
    OWN_MAPS,
    OWN_CMDLINE,
    OWN_ENVIRON,
    OWN_AUXV,
    OWN_MEM,
    OWN_NOT_MEM /* the memory of another process */
};

/* Classifies a descriptor, regardless of the path that it was opened by: /proc/self,
 * /proc/thread-self, a process ID, a folder's descriptor, links, another mount of proc. */
enum own_file own_file_of(int descriptor);

#endif
