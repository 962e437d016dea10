/* Puts the packed form of a capture file in the place of the file. */
#ifndef CAPTURE_PACK_PACK_REPLACE_H
#define CAPTURE_PACK_PACK_REPLACE_H

#include "capture/pack/pack_file.h"

struct pack_replace_settings {
    struct pack_settings pack;
    /* A file that has the new name already is replaced: the caller knows that it is left from the
     * same work, which was killed before it removed the old file. */
    bool replaces;
    /* Called with true before a file is named or removed, and with false afterwards, so that
     * nothing else removes these files in between; NULL: not. */
    void (*hold)(void *context, bool held);
};

/* What has become of a file. */
enum pack_outcome {
    PACK_DONE,  /* its packed form is in its place */
    PACK_STAYS, /* it is unchanged: for an archive, its packed form would be larger */
    PACK_GONE /* it was removed, changed, or another file took its name, meanwhile: nothing was done
               */
};

/*
 * Packs the file at path, verifies, and gives the result the mode and the times of path and the
 * name `name` (capture_name_coded); path is removed if that is another name. At any time, and after
 * a loss of power, one of the two files is there and whole. Sets *counts, also if the file stays.
 * Returns an outcome, or a code of pack_file or BT_FULL; path then remains.
 */
int pack_replace(const char *path, const char *name, const struct pack_replace_settings *settings,
                 struct pack_counts *counts, struct bt_error *error);

#endif
