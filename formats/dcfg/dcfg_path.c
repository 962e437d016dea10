/* Paths of a graph's rows in its file. */
#include "formats/dcfg/dcfg.h"

#include <stdio.h>
#include <string.h>

static uint32_t process_number(const struct dcfg_process *process)
{
    uint32_t number = 0;
    while (process->graph->processes[number] != process)
        number++;
    return number;
}

struct dcfg_path dcfg_path_in_process(const struct dcfg_process *process, const char *table,
                                      uint32_t row)
{
    struct dcfg_path path;
    snprintf(path.text, sizeof path.text, "PROCESSES[%u][%u].%s[%u]", process_number(process) + 1,
             process->graph->columns.process_data, table, row + 1);
    return path;
}

/* One of an image's ranges. */
enum image_part { PART_SYMBOLS, PART_LINES, PART_BLOCKS, PART_ROUTINES };

static const struct dcfg_range *part_of(const struct dcfg_image *image, enum image_part part)
{
    const struct dcfg_range *const parts[] = {&image->symbols, &image->lines, &image->blocks,
                                              &image->routines};
    return parts[part];
}

/* The last image whose part begins at or before the row: images with an empty part that begins at
 * the same row precede the one with the row. */
static uint32_t image_of(const struct dcfg_process *process, enum image_part part, uint32_t row)
{
    uint32_t low = 0;
    uint32_t high = process->image_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (part_of(&process->images[middle], part)->first <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t dcfg_image_of_block(const struct dcfg_process *process, uint32_t block)
{
    return image_of(process, PART_BLOCKS, block);
}

static void append(struct dcfg_path *path, const char *what, uint32_t column, uint32_t row)
{
    size_t used = strlen(path->text);
    snprintf(path->text + used, sizeof path->text - used, "[%u]%s[%u]", column, what, row + 1);
}

static struct dcfg_path path_in_image(const struct dcfg_process *process, enum image_part part,
                                      const char *table, uint32_t row)
{
    uint32_t image = image_of(process, part, row);
    struct dcfg_path path = dcfg_path_in_process(process, "IMAGES", image);
    append(&path, table, process->graph->columns.image_data,
           row - part_of(&process->images[image], part)->first);
    return path;
}

struct dcfg_path dcfg_path_symbol(const struct dcfg_process *process, uint32_t symbol)
{
    return path_in_image(process, PART_SYMBOLS, ".SYMBOLS", symbol);
}

struct dcfg_path dcfg_path_line(const struct dcfg_process *process, uint32_t line)
{
    return path_in_image(process, PART_LINES, ".SOURCE_DATA", line);
}

struct dcfg_path dcfg_path_block(const struct dcfg_process *process, uint32_t block)
{
    return path_in_image(process, PART_BLOCKS, ".BASIC_BLOCKS", block);
}

struct dcfg_path dcfg_path_routine(const struct dcfg_process *process, uint32_t routine)
{
    return path_in_image(process, PART_ROUTINES, ".ROUTINES", routine);
}

struct dcfg_path dcfg_path_node(const struct dcfg_process *process, uint32_t routine, uint32_t node)
{
    struct dcfg_path path = dcfg_path_routine(process, routine);
    append(&path, "", process->graph->columns.nodes, node - process->routines[routine].nodes.first);
    return path;
}

struct dcfg_path dcfg_path_loop(const struct dcfg_process *process, uint32_t routine, uint32_t loop)
{
    struct dcfg_path path = dcfg_path_routine(process, routine);
    append(&path, "", process->graph->columns.loops, loop - process->routines[routine].loops.first);
    return path;
}
