/* A line of text below a figure's title, broken where the figure is narrow. */
#ifndef TOOLS_PLOT_SUBTITLE_H
#define TOOLS_PLOT_SUBTITLE_H

#define SUBTITLE_BYTES 1024u /* longer text is cut off */
#define SUBTITLE_LINES 3u    /* the last one may be too long */

struct subtitle {
    char text[SUBTITLE_BYTES];
    const char *lines[SUBTITLE_LINES]; /* parts of text */
    unsigned count;
};

/* Breaks the text at blanks into lines of at most `characters` octets; NULL: no lines. */
void subtitle_break(struct subtitle *subtitle, const char *text, unsigned characters);

#endif
