#include "firmware/gateware/sim/ft245_chip.h"

#include "firmware/virtual/random.h"

#define IDLE_DATA 0xa5 /* on pins that are not driven */

void ft245_chip_init(struct ft245_chip *chip, uint64_t seed)
{
    *chip =
        (struct ft245_chip){.random = seed, .write_share = UINT32_MAX, .read_share = UINT32_MAX};
}

void ft245_chip_edge(struct ft245_chip *chip, const struct gateware_pins *pins)
{
    if (!pins->oe_n && pins->d_driven)
        chip->fault = "board and chip drive the data pins";
    if (!pins->siwu_n)
        chip->flushes++;
    if (!pins->wr_n && !pins->txe_n) {
        if (!pins->d_driven)
            chip->fault = "WR# is low and the data pins are not driven";
        chip->to_host[(chip->to_head + chip->to_count++) % FT245_BYTES] = pins->d_out;
    }
    if (!pins->rd_n && !pins->rxf_n) {
        if (pins->oe_n)
            chip->fault = "RD# is low and OE# is not";
        chip->from_head = (chip->from_head + 1) % FT245_BYTES;
        chip->from_count--;
    }
}

static bool pause(struct ft245_chip *chip, uint32_t share)
{
    return share != UINT32_MAX && virtual_random(&chip->random) >> 32 > share;
}

void ft245_chip_drive(struct ft245_chip *chip, struct gateware_pins *pins)
{
    pins->txe_n = chip->to_count == FT245_BYTES || pause(chip, chip->write_share);
    pins->rxf_n = chip->from_count == 0 || pause(chip, chip->read_share);
    pins->d_in = !pins->oe_n && chip->from_count > 0 ? chip->from_host[chip->from_head] : IDLE_DATA;
}

size_t ft245_chip_take(struct ft245_chip *chip, uint8_t *bytes, size_t capacity)
{
    size_t size = chip->to_count < capacity ? chip->to_count : capacity;
    for (size_t i = 0; i < size; i++)
        bytes[i] = chip->to_host[(chip->to_head + i) % FT245_BYTES];
    chip->to_head = (chip->to_head + size) % FT245_BYTES;
    chip->to_count -= size;
    return size;
}

size_t ft245_chip_put(struct ft245_chip *chip, const uint8_t *bytes, size_t size)
{
    size_t room = FT245_BYTES - chip->from_count;
    size = size < room ? size : room;
    for (size_t i = 0; i < size; i++)
        chip->from_host[(chip->from_head + chip->from_count + i) % FT245_BYTES] = bytes[i];
    chip->from_count += size;
    return size;
}
