#include "tests/lab/usb_redir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <usbredirparser.h>

#define ENDPOINTS     2u /* of each direction */
#define TRANSFER_MOST (1u << 20)

/* A bulk transfer that QEMU waits for. */
struct transfer {
    struct transfer *next;
    uint64_t id;
    uint8_t endpoint;
    uint32_t wanted; /* bytes */
    uint32_t done;
    uint8_t *bytes; /* OUT: data to send; IN: buffer for packets, allocated when the transfer is the
                       first */
};

/* First in, first out: an endpoint finishes its transfers in order. */
struct transfers {
    struct transfer *first, *last;
    unsigned count;
};

struct usb_redir {
    int socket;
    struct ftdi_chip *chip;
    struct usbredirparser *parser;
    struct transfers in[ENDPOINTS], out[ENDPOINTS];
    bool greeted;   /* QEMU has sent its hello packet */
    bool wanted;    /* plugged in by the caller */
    bool connected; /* plugged in, as reported to QEMU */
    bool leaving;   /* QEMU has not acknowledged the unplug yet */
    bool gone;      /* the socket was closed */
};

static struct transfers *list_of(struct usb_redir *redir, uint8_t endpoint)
{
    unsigned number = (endpoint & 0x0fu) > 2;
    return endpoint & 0x80u ? &redir->in[number] : &redir->out[number];
}

static struct transfer *take_first(struct transfers *list)
{
    struct transfer *transfer = list->first;
    list->first = transfer->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    return transfer;
}

static void answer(struct usb_redir *redir, struct transfer *transfer, uint8_t status)
{
    struct usb_redir_bulk_packet_header header = {
        .endpoint = transfer->endpoint,
        .status = status,
        .length = (uint16_t)transfer->done,
        .length_high = (uint16_t)(transfer->done >> 16),
    };
    bool data = transfer->endpoint & 0x80u && transfer->done > 0;
    usbredirparser_send_bulk_packet(redir->parser, transfer->id, &header,
                                    data ? transfer->bytes : NULL, data ? (int)transfer->done : 0);
    free(transfer->bytes);
    free(transfer);
}

/* --- packets from QEMU --------------------------------------------------------------------------
 */

static void on_log(void *context, int level, const char *message)
{
    (void)context;
    if (level <= usbredirparser_warning)
        fprintf(stderr, "usbredir: %s\n", message);
}

static int on_read(void *context, uint8_t *data, int count)
{
    struct usb_redir *redir = context;
    ssize_t size = recv(redir->socket, data, (size_t)count, MSG_DONTWAIT);
    if (size > 0)
        return (int)size;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    redir->gone = true;
    return -1;
}

static int on_write(void *context, uint8_t *data, int count)
{
    struct usb_redir *redir = context;
    ssize_t size = send(redir->socket, data, (size_t)count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size >= 0)
        return (int)size;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return 0;
    redir->gone = true;
    return -1;
}

static void send_endpoints(struct usb_redir *redir)
{
    const unsigned interfaces = ftdi_chip_settings(redir->chip)->type == FTDI_CHIP_FT2232H ? 2 : 1;
    struct usb_redir_interface_info_header info = {.interface_count = interfaces};
    struct usb_redir_ep_info_header endpoints = {0};
    memset(endpoints.type, usb_redir_type_invalid, sizeof endpoints.type);
    /* control; 0 to 15 are OUT, 16 to 31 IN */
    endpoints.type[0] = endpoints.type[16] = usb_redir_type_control;
    endpoints.max_packet_size[0] = endpoints.max_packet_size[16] = 64;
    for (unsigned i = 0; i < interfaces; i++) {
        const unsigned numbers[2] = {2 + 2 * i, 16 + 1 + 2 * i};
        info.interface[i] = (uint8_t)i;
        info.interface_class[i] = info.interface_subclass[i] = info.interface_protocol[i] = 0xff;
        for (unsigned k = 0; k < 2; k++) {
            endpoints.type[numbers[k]] = usb_redir_type_bulk;
            endpoints.interface[numbers[k]] = (uint8_t)i;
            endpoints.max_packet_size[numbers[k]] = (uint16_t)ftdi_chip_packet_bytes(redir->chip);
        }
    }
    usbredirparser_send_interface_info(redir->parser, &info);
    usbredirparser_send_ep_info(redir->parser, &endpoints);
}

/* Reports changes of the plug state to QEMU. */
static void settle(struct usb_redir *redir)
{
    const struct ftdi_chip_settings *settings = ftdi_chip_settings(redir->chip);
    bool two = settings->type == FTDI_CHIP_FT2232H;
    if (!redir->greeted || redir->leaving || redir->connected == redir->wanted)
        return;
    redir->connected = redir->wanted;
    if (!redir->wanted) {
        usbredirparser_send_device_disconnect(redir->parser);
        redir->leaving =
            usbredirparser_peer_has_cap(redir->parser, usb_redir_cap_device_disconnect_ack);
        return;
    }
    struct usb_redir_device_connect_header connect = {
        .speed = settings->full_speed ? usb_redir_speed_full : usb_redir_speed_high,
        .vendor_id = 0x0403,
        .product_id = two ? 0x6010 : 0x6014,
        .device_version_bcd = two ? 0x0700 : 0x0900,
    };
    send_endpoints(redir);
    usbredirparser_send_device_connect(redir->parser, &connect);
}

static void on_hello(void *context, struct usb_redir_hello_header *hello)
{
    struct usb_redir *redir = context;
    (void)hello;
    redir->greeted = true;
    settle(redir);
}

static void on_disconnect_ack(void *context)
{
    struct usb_redir *redir = context;
    redir->leaving = false;
    settle(redir);
}

static void drop_all(struct usb_redir *redir, bool tell)
{
    struct transfers *lists[] = {&redir->in[0], &redir->in[1], &redir->out[0], &redir->out[1]};
    for (unsigned i = 0; i < 4; i++)
        while (lists[i]->first) {
            struct transfer *transfer = take_first(lists[i]);
            transfer->done = 0;
            if (tell) {
                answer(redir, transfer, usb_redir_cancelled);
            } else {
                free(transfer->bytes);
                free(transfer);
            }
        }
}

static void on_reset(void *context)
{
    drop_all(context, true);
}

static void on_set_configuration(void *context, uint64_t id,
                                 struct usb_redir_set_configuration_header *set)
{
    struct usb_redir *redir = context;
    struct usb_redir_configuration_status_header status = {.status = usb_redir_success,
                                                           .configuration = set->configuration};
    send_endpoints(redir);
    usbredirparser_send_configuration_status(redir->parser, id, &status);
}

static void on_get_configuration(void *context, uint64_t id)
{
    struct usb_redir *redir = context;
    struct usb_redir_configuration_status_header status = {.status = usb_redir_success,
                                                           .configuration = 1};
    usbredirparser_send_configuration_status(redir->parser, id, &status);
}

static void send_alternate(struct usb_redir *redir, uint64_t id, uint8_t interface, uint8_t alt)
{
    struct usb_redir_alt_setting_status_header status = {
        .status = alt == 0 ? usb_redir_success : usb_redir_stall, .interface = interface};
    usbredirparser_send_alt_setting_status(redir->parser, id, &status);
}

static void on_set_alternate(void *context, uint64_t id,
                             struct usb_redir_set_alt_setting_header *set)
{
    send_alternate(context, id, set->interface, set->alt);
}

static void on_get_alternate(void *context, uint64_t id,
                             struct usb_redir_get_alt_setting_header *get)
{
    send_alternate(context, id, get->interface, 0);
}

static void on_filter(void *context, struct usbredirfilter_rule *rules, int count)
{
    (void)context;
    (void)count;
    free(rules);
}

static void on_control(void *context, uint64_t id, struct usb_redir_control_packet_header *header,
                       uint8_t *data, int size)
{
    struct usb_redir *redir = context;
    const struct ftdi_chip_request request = {.type = header->requesttype,
                                              .request = header->request,
                                              .value = header->value,
                                              .index = header->index,
                                              .length = header->length};
    uint8_t reply[512];
    (void)size;
    int length = ftdi_chip_control(redir->chip, &request, reply);
    struct usb_redir_control_packet_header status = *header;
    status.status = length < 0 ? usb_redir_stall : usb_redir_success;
    bool in = header->endpoint & 0x80;
    status.length = (uint16_t)(length < 0 ? 0 : in ? length : header->length);
    usbredirparser_send_control_packet(redir->parser, id, &status, in && length > 0 ? reply : NULL,
                                       in && length > 0 ? length : 0);
    usbredirparser_free_packet_data(redir->parser, data);
}

/* Queues a transfer; OUT keeps the data. */
static void on_bulk(void *context, uint64_t id, struct usb_redir_bulk_packet_header *header,
                    uint8_t *data, int size)
{
    struct usb_redir *redir = context;
    struct transfers *list = list_of(redir, header->endpoint);
    struct transfer *transfer = calloc(1, sizeof *transfer);
    bool in = header->endpoint & 0x80;
    uint32_t wanted = header->length | (uint32_t)header->length_high << 16;
    if (!transfer || wanted > TRANSFER_MOST || (!in && wanted != (uint32_t)size)) {
        struct usb_redir_bulk_packet_header refusal = {.endpoint = header->endpoint,
                                                       .status = usb_redir_inval};
        usbredirparser_send_bulk_packet(redir->parser, id, &refusal, NULL, 0);
        usbredirparser_free_packet_data(redir->parser, data);
        free(transfer);
        return;
    }
    *transfer = (struct transfer){
        .id = id, .endpoint = header->endpoint, .wanted = wanted, .bytes = in ? NULL : data};
    if (in)
        usbredirparser_free_packet_data(redir->parser, data);
    if (list->last)
        list->last->next = transfer;
    else
        list->first = transfer;
    list->last = transfer;
    list->count++;
}

static bool cancel_in(struct usb_redir *redir, struct transfers *list, uint64_t id)
{
    struct transfer *before = NULL;
    for (struct transfer *t = list->first; t; before = t, t = t->next) {
        if (t->id != id)
            continue;
        if (before)
            before->next = t->next;
        else
            list->first = t->next;
        if (list->last == t)
            list->last = before;
        list->count--;
        t->done = 0;
        answer(redir, t, usb_redir_cancelled);
        return true;
    }
    return false;
}

static void on_cancel(void *context, uint64_t id)
{
    struct usb_redir *redir = context;
    for (unsigned i = 0; i < ENDPOINTS; i++)
        if (cancel_in(redir, &redir->in[i], id) || cancel_in(redir, &redir->out[i], id))
            return;
}

/* --- making it ----------------------------------------------------------------------------------
 */

struct usb_redir *usb_redir_new(int socket, struct ftdi_chip *chip)
{
    static const int capabilities[] = {
        usb_redir_cap_connect_device_version,  usb_redir_cap_filter,
        usb_redir_cap_device_disconnect_ack,   usb_redir_cap_64bits_ids,
        usb_redir_cap_ep_info_max_packet_size, usb_redir_cap_32bits_bulk_length};
    uint32_t caps[USB_REDIR_CAPS_SIZE] = {0};
    struct usb_redir *redir = calloc(1, sizeof *redir);
    struct usbredirparser *parser = redir ? usbredirparser_create() : NULL;
    if (!parser) {
        free(redir);
        return NULL;
    }
    redir->socket = socket;
    redir->chip = chip;
    redir->parser = parser;
    parser->priv = redir;
    parser->log_func = on_log;
    parser->read_func = on_read;
    parser->write_func = on_write;
    parser->hello_func = on_hello;
    parser->device_disconnect_ack_func = on_disconnect_ack;
    parser->reset_func = on_reset;
    parser->set_configuration_func = on_set_configuration;
    parser->get_configuration_func = on_get_configuration;
    parser->set_alt_setting_func = on_set_alternate;
    parser->get_alt_setting_func = on_get_alternate;
    parser->filter_filter_func = on_filter;
    parser->control_packet_func = on_control;
    parser->bulk_packet_func = on_bulk;
    parser->cancel_data_packet_func = on_cancel;
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        usbredirparser_caps_set_cap(caps, capabilities[i]);
    usbredirparser_init(parser, "bustap laboratory", caps, USB_REDIR_CAPS_SIZE,
                        usbredirparser_fl_usb_host);
    return redir;
}

void usb_redir_free(struct usb_redir *redir)
{
    if (!redir)
        return;
    drop_all(redir, false);
    usbredirparser_destroy(redir->parser);
    close(redir->socket);
    free(redir);
}

/* Completes the first transfer if packets have already filled part of it. */
static void finish_first(struct usb_redir *redir, struct transfers *list)
{
    if (list->first && list->first->done > 0)
        answer(redir, take_first(list), usb_redir_success);
}

void usb_redir_plug(struct usb_redir *redir, bool plugged)
{
    redir->wanted = plugged;
    for (unsigned i = 0; !plugged && i < ENDPOINTS; i++)
        finish_first(redir, &redir->in[i]);
    if (!plugged)
        drop_all(redir, false);
    settle(redir);
}

/* --- moving -------------------------------------------------------------------------------------
 */

/* Fills the first transfer with packets; a short one ends it. Returns whether any moved. */
static bool pump_in(struct usb_redir *redir, struct transfers *list, int64_t now_ns)
{
    bool moved = false;
    while (list->first) {
        struct transfer *first = list->first;
        size_t packet = ftdi_chip_packet_bytes(redir->chip), got = packet;
        if (first->wanted < packet) {
            answer(redir, take_first(list), usb_redir_babble);
            continue;
        }
        if (!first->bytes && !(first->bytes = malloc(first->wanted)))
            return moved;
        while (got == packet && first->done + packet <= first->wanted) {
            got = ftdi_chip_in(redir->chip, first->endpoint, first->bytes + first->done, now_ns);
            first->done += (uint32_t)got;
            moved |= got > 0;
        }
        if (got == 0)
            return moved;
        answer(redir, take_first(list), usb_redir_success);
    }
    return moved;
}

static bool pump_out(struct usb_redir *redir, struct transfers *list)
{
    bool moved = false;
    while (list->first) {
        struct transfer *first = list->first;
        size_t took = ftdi_chip_out(redir->chip, first->endpoint, first->bytes + first->done,
                                    first->wanted - first->done);
        first->done += (uint32_t)took;
        moved |= took > 0;
        if (first->done < first->wanted)
            return moved;
        moved = true;
        answer(redir, take_first(list), usb_redir_success);
    }
    return moved;
}

bool usb_redir_pump(struct usb_redir *redir, int64_t now_ns)
{
    bool moved = false;
    for (unsigned i = 0; i < ENDPOINTS; i++) {
        moved |= pump_in(redir, &redir->in[i], now_ns);
        moved |= pump_out(redir, &redir->out[i]);
    }
    return moved;
}

bool usb_redir_service(struct usb_redir *redir)
{
    int result = usbredirparser_do_read(redir->parser);
    if (result == usbredirparser_read_parse_error)
        redir->gone = true;
    if (!redir->gone && usbredirparser_has_data_to_write(redir->parser))
        (void)usbredirparser_do_write(redir->parser);
    return !redir->gone;
}

int usb_redir_socket(const struct usb_redir *redir)
{
    return redir->socket;
}

bool usb_redir_wants_write(const struct usb_redir *redir)
{
    return usbredirparser_has_data_to_write(redir->parser) > 0;
}

unsigned usb_redir_queued(const struct usb_redir *redir)
{
    return redir->in[0].count;
}
