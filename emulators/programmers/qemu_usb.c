/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLOCK_VIRTUAL 1
#define SCALE_NS 1
#define TOKEN_IN 0x69
#define TOKEN_OUT 0xE1
#define RESULT_NAK (-2)
#define RESULT_STALL (-3)
#define ATTRIBUTE_BULK 2
#define ATTRIBUTE_INTERRUPT 3
#define DIRECTION_IN 0x80
#define BUS_POWERED 0x80
#define CURRENT_2MA 48 /* 96 mA */
#define CONTROL_PACKET_BYTES 8
#define CONTROL_PACKET_BYTES_HIGH 64
#define USB_1_1 0x0110
#define USB_2_0 0x0200

#define ROOM_BYTES 1024 /* QEMU's own structures take less than half */
#define TRANSFER_BYTES_MAX (64 << 10)
#define MODEL_TYPE "usb-tablet" /* one of QEMU's devices, whose class shows where the slots are */
#define MODEL_NAME "QEMU USB Tablet"
#define CLASS_SLOTS_MAX 80
#define ENDPOINTS_MAX 3
#define INTERFACES_MAX 2

/* QEMU's names and layouts. */
typedef struct USBDevice USBDevice;
typedef struct USBEndpoint USBEndpoint;

struct packet {
	int pid;
	uint64_t id;
	USBEndpoint *endpoint;
	unsigned int stream;
	uint64_t data[5];
	uint64_t parameter;
	bool short_not_ok;
	bool interrupt;
	int status;
	int actual_length;
};

struct descriptor_endpoint {
	uint8_t address;
	uint8_t attributes;
	uint16_t bytes_max;
	uint8_t interval;
	uint8_t refresh;
	uint8_t sync_address;
	bool is_audio;
	uint8_t *extra;
	uint8_t burst_max;
	uint8_t attributes_super;
	uint16_t bytes_per_interval;
};

struct descriptor_interface {
	uint8_t number;
	uint8_t alternate;
	uint8_t endpoint_count;
	uint8_t class[3];
	uint8_t name;
	uint8_t other_count;
	void *others;
	const struct descriptor_endpoint *endpoints;
};

struct descriptor_configuration {
	uint8_t interface_count;
	uint8_t value;
	uint8_t name;
	uint8_t attributes;
	uint8_t current_max;
	uint8_t group_count;
	const void *groups;
	uint8_t own_interface_count;
	const struct descriptor_interface *interfaces;
};

struct descriptor_device {
	uint16_t usb_version;
	uint8_t class[3];
	uint8_t control_bytes_max;
	uint8_t configuration_count;
	const struct descriptor_configuration *configurations;
};

struct descriptor {
	struct {
		uint16_t vendor;
		uint16_t product;
		uint16_t revision;
		uint8_t maker_name;
		uint8_t product_name;
		uint8_t serial_name;
	} id;
	const struct descriptor_device *full;
	const struct descriptor_device *high;
	const struct descriptor_device *super;
	const char *const *names;
	const void *os;
};

struct type {
	const char *name;
	const char *parent;
	size_t instance_bytes;
	size_t instance_align;
	void *instance_init;
	void *instance_post_init;
	void *instance_finalize;
	bool is_abstract;
	size_t class_bytes;
	void (*class_init)(void *class, const void *data);
	void *class_base_init;
	const void *class_data;
	const void *interfaces;
};

/* Slots of the class of a USB device, counted from its handle_attach. */
enum slot {
	SLOT_STATE = -6,
	SLOT_BUS_TYPE = -5,
	SLOT_REALIZE = -4,
	SLOT_ATTACH = 0,
	SLOT_RESET = 1,
	SLOT_CONTROL = 2,
	SLOT_DATA = 3,
	SLOT_NAME = 9,
	SLOT_DESCRIPTOR = 10,
};

/* QEMU's functions, by its names. */
#define USB_FUNCTIONS(FUNCTION)                                                                    \
	FUNCTION(void *, type_register_static, const struct type *type)                            \
	FUNCTION(void *, object_class_by_name, const char *name)                                   \
	FUNCTION(void, usb_desc_attach, USBDevice *)                                               \
	FUNCTION(void, usb_desc_init, USBDevice *)                                                 \
	FUNCTION(int, usb_desc_handle_control, USBDevice *, struct packet *, int request,          \
		int value, int index, int length, uint8_t *data)                                   \
	FUNCTION(int, usb_desc_device, const void *id, const struct descriptor_device *device,     \
		bool os, uint8_t *out, size_t len)                                                 \
	FUNCTION(int, usb_desc_config, const struct descriptor_configuration *configuration,       \
		int flags, uint8_t *out, size_t len)                                               \
	FUNCTION(void, usb_packet_init, struct packet *)                                           \
	FUNCTION(void, usb_packet_setup, struct packet *, int pid, USBEndpoint *endpoint,          \
		unsigned int stream, uint64_t id, bool short_not_ok, bool interrupt)               \
	FUNCTION(void, usb_packet_addbuf, struct packet *, void *bytes, size_t len)                \
	FUNCTION(void, usb_packet_cleanup, struct packet *)                                        \
	FUNCTION(size_t, usb_packet_size, struct packet *)                                         \
	FUNCTION(void, usb_packet_copy, struct packet *, void *bytes, size_t len)                  \
	FUNCTION(USBEndpoint *, usb_ep_get, USBDevice *, int pid, int number)                      \
	FUNCTION(void, usb_wakeup, USBEndpoint *, unsigned int stream)                             \
	FUNCTION(void, timer_init_full, void *timer, void *group, int clock, int scale,            \
		int attributes, void (*fire)(void *opaque), void *opaque)                          \
	FUNCTION(void, timer_mod_ns, void *timer, int64_t at_ns)                                   \
	FUNCTION(void, timer_del, void *timer)

struct qemu_usb {
	const struct qemu *qemu;
	const struct front_usb *front;
	void *state; /* the state of the front */
	struct bus *(*bus_of)(void *owner);
	void *owner;
	USBDevice *self; /* NULL: the machine has none */
	bool write_waits;
	size_t attach_slot;
	_Alignas(max_align_t) uint8_t timer[ROOM_BYTES];
	uint8_t transfer[TRANSFER_BYTES_MAX];

	struct descriptor_endpoint endpoints[INTERFACES_MAX][ENDPOINTS_MAX];
	struct descriptor_interface interfaces[INTERFACES_MAX];
	struct descriptor_configuration configuration;
	struct descriptor_device whole;
	struct descriptor descriptor;
	const char *names[3];
	struct type type;

	USB_FUNCTIONS(QEMU_FIELD)
	const char *const *vmstate_usb_device; /* one of QEMU's constants; begins with its name */
};

/* QEMU passes no context pointer to the functions of a device's class. */
static struct qemu_usb *usb;

#define SYMBOL(result_, name_, ...) QEMU_SYMBOL(struct qemu_usb, name_),

static const struct qemu_symbol symbols[] = {
	USB_FUNCTIONS(SYMBOL) QEMU_SYMBOL(struct qemu_usb, vmstate_usb_device)};

static USBEndpoint *endpoint_in(const struct qemu_usb *self)
{
	return self->usb_ep_get(self->self, TOKEN_IN, self->front->endpoint_in);
}

static USBEndpoint *endpoint_out(const struct qemu_usb *self)
{
	return self->usb_ep_get(self->self, TOKEN_OUT, self->front->endpoint_out);
}

/* Sets the timer that wakes the host when a packet is ready; until then a read gets a NAK. */
static void arm(struct qemu_usb *self)
{
	uint64_t ready_ns = self->front->ready_ns(self->state);

	if (ready_ns > INT64_MAX)
		self->timer_del(self->timer);
	else
		self->timer_mod_ns(
			self->timer, (int64_t)front_later(ready_ns, qemu_now_ns(self->qemu)));
}

static void on_time(void *opaque)
{
	struct qemu_usb *self = opaque;

	self->usb_wakeup(endpoint_in(self), 0);
	if (self->write_waits)
		self->usb_wakeup(endpoint_out(self), 0);
}

static int take_write(struct qemu_usb *self, struct packet *packet)
{
	size_t len = self->usb_packet_size(packet);
	int ret = -EMSGSIZE;

	if (len <= sizeof(self->transfer)) {
		self->usb_packet_copy(packet, self->transfer, len);
		ret = self->front->write(self->state, self->bus_of(self->owner),
			qemu_now_ns(self->qemu), self->transfer, len);
	}
	self->write_waits = ret == -EAGAIN;
	if (ret == 0)
		arm(self);
	else
		packet->actual_length = 0;
	return ret;
}

/* Wakes a host that waits to write, because its read may have made room. */
static int give_read(struct qemu_usb *self, struct packet *packet)
{
	size_t len = self->usb_packet_size(packet);

	if (len > sizeof(self->transfer))
		len = sizeof(self->transfer);
	len = self->front->read(self->state, self->bus_of(self->owner), qemu_now_ns(self->qemu),
		self->transfer, len);
	if (len == 0) {
		arm(self);
		return -EAGAIN;
	}
	self->usb_packet_copy(packet, self->transfer, len);
	if (self->write_waits)
		self->timer_mod_ns(self->timer, (int64_t)qemu_now_ns(self->qemu));
	else
		arm(self);
	return 0;
}

static void on_data(USBDevice *device, struct packet *packet)
{
	int ret = -EAGAIN;

	(void)device;
	if (packet->pid == TOKEN_OUT && packet->endpoint == endpoint_out(usb))
		ret = take_write(usb, packet);
	else if (packet->pid == TOKEN_IN && packet->endpoint == endpoint_in(usb))
		ret = give_read(usb, packet);
	if (ret < 0)
		packet->status = ret == -EAGAIN ? RESULT_NAK : RESULT_STALL;
}

static int answer(
	struct packet *packet, int request, int value, int index, int length, uint8_t *data)
{
	const struct front_request vendor_request = {
		.type = (uint8_t)(request >> 8),
		.number = (uint8_t)request,
		.value = (uint16_t)value,
		.channel = (uint8_t)index,
		.len = (size_t)length,
	};
	int ret = -EOPNOTSUPP;

	if (usb->front->control)
		ret = usb->front->control(usb->state, usb->bus_of(usb->owner),
			qemu_now_ns(usb->qemu), &vendor_request, data);
	if (ret > 0)
		packet->actual_length = ret;
	return ret;
}

static void on_control(USBDevice *device, struct packet *packet, int request, int value, int index,
	int length, uint8_t *data)
{
	if (usb->usb_desc_handle_control(device, packet, request, value, index, length, data) < 0 &&
		answer(packet, request, value, index, length, data) < 0)
		packet->status = RESULT_STALL;
}

void qemu_usb_reset(struct qemu_usb *self)
{
	self->write_waits = false;
	if (self->self)
		self->timer_del(self->timer);
	self->front->reset(self->state);
}

static void on_reset(USBDevice *device)
{
	(void)device;
	qemu_usb_reset(usb);
}

static void on_realize(USBDevice *device, void *error)
{
	(void)error;
	usb->usb_desc_init(device);
	usb->timer_init_full(usb->timer, NULL, CLOCK_VIRTUAL, SCALE_NS, 0, on_time, usb);
	usb->self = device;
}

static void put_slot(void **class, enum slot slot, const void *value)
{
	class[(int)usb->attach_slot + (int)slot] = (void *)value;
}

static void init_class(void *opaque, const void *data)
{
	void **class = (void **)opaque;

	(void)data;
	put_slot(class, SLOT_STATE, (const void *)usb->vmstate_usb_device);
	put_slot(class, SLOT_REALIZE, (const void *)on_realize);
	put_slot(class, SLOT_ATTACH, (const void *)usb->usb_desc_attach);
	put_slot(class, SLOT_RESET, (const void *)on_reset);
	put_slot(class, SLOT_CONTROL, (const void *)on_control);
	put_slot(class, SLOT_DATA, (const void *)on_data);
	put_slot(class, SLOT_NAME, usb->front->name);
	put_slot(class, SLOT_DESCRIPTOR, &usb->descriptor);
}

static bool is_text(const void *slot, const char *text)
{
	return (uintptr_t)slot > ROOM_BYTES && strcmp(slot, text) == 0;
}

/* Finds the slots of a class by known values in the class of one of QEMU's devices. */
static bool find_slots(struct qemu_usb *self)
{
	void **model = (void **)self->object_class_by_name(MODEL_TYPE);
	size_t slot = -SLOT_STATE;

	while (model && slot < CLASS_SLOTS_MAX && model[slot] != (void *)self->usb_desc_attach)
		slot++;
	self->attach_slot = slot;
	return model && slot < CLASS_SLOTS_MAX && is_text(model[slot + SLOT_NAME], MODEL_NAME) &&
	       is_text(model[(int)slot + SLOT_BUS_TYPE], "usb-bus") &&
	       model[(int)slot + SLOT_STATE] != NULL && model[(int)slot + SLOT_REALIZE] != NULL &&
	       is_text(self->vmstate_usb_device[0], "USBDevice");
}

/* Returns true if QEMU's functions lay out a packet as struct packet does. */
static bool packets_work(struct qemu_usb *self)
{
	_Alignas(max_align_t) uint8_t room[ROOM_BYTES];
	_Alignas(max_align_t) uint8_t endpoint[ROOM_BYTES] = {0};
	struct packet *packet = (struct packet *)room;
	char bytes[] = "0123";
	char copy[2];
	bool work;

	memset(room, 0xA5, sizeof(room));
	self->usb_packet_init(packet);
	self->usb_packet_setup(
		packet, TOKEN_OUT, (USBEndpoint *)endpoint, 0, UINT64_C(0x123456789), true, true);
	work = packet->pid == TOKEN_OUT && packet->id == UINT64_C(0x123456789) &&
	       packet->endpoint == (USBEndpoint *)endpoint && packet->short_not_ok &&
	       packet->interrupt && packet->status == 0 && packet->actual_length == 0;
	self->usb_packet_addbuf(packet, bytes, sizeof(bytes));
	self->usb_packet_copy(packet, copy, sizeof(copy));
	work = work && packet->actual_length == sizeof(copy) && memcmp(copy, "01", 2) == 0;
	self->usb_packet_cleanup(packet);
	return work;
}

static uint16_t usb_version(const struct front_usb *front)
{
	return front->is_high_speed ? USB_2_0 : USB_1_1;
}

static uint8_t control_packet_bytes(const struct front_usb *front)
{
	return front->is_high_speed ? CONTROL_PACKET_BYTES_HIGH : CONTROL_PACKET_BYTES;
}

static uint8_t endpoint_count(const struct front_usb *front)
{
	return front->endpoint_interrupt ? 3 : 2;
}

static bool device_descriptor_works(struct qemu_usb *self)
{
	const struct front_usb *front = self->front;
	const uint8_t wanted[] = {18, 1, (uint8_t)usb_version(front),
		(uint8_t)(usb_version(front) >> 8), 0, 0, 0, control_packet_bytes(front),
		(uint8_t)front->vendor, (uint8_t)(front->vendor >> 8), (uint8_t)front->product,
		(uint8_t)(front->product >> 8), (uint8_t)front->revision,
		(uint8_t)(front->revision >> 8), 0, 2, 0, 1};
	uint8_t out[ROOM_BYTES] = {0};

	return self->usb_desc_device(&self->descriptor.id, &self->whole, false, out, sizeof(out)) ==
		       (int)sizeof(wanted) &&
	       memcmp(out, wanted, sizeof(wanted)) == 0;
}

/* Moves *@out past @len bytes. Returns true if these are equal to @wanted. */
static bool take_off(const uint8_t **out, const uint8_t *wanted, size_t len)
{
	const uint8_t *bytes = *out;

	*out += len;
	return memcmp(bytes, wanted, len) == 0;
}

static bool interface_works(const struct qemu_usb *self, uint8_t number, const uint8_t **out)
{
	const struct front_usb *front = self->front;
	const uint8_t head[] = {9, 4, number, 0, endpoint_count(front), front->interface_class[0],
		front->interface_class[1], front->interface_class[2], 0};
	bool works = take_off(out, head, sizeof(head));

	for (size_t i = 0; i < endpoint_count(front); i++) {
		const struct descriptor_endpoint *endpoint = &self->endpoints[number][i];
		const uint8_t wanted[] = {7, 5, endpoint->address, endpoint->attributes,
			(uint8_t)front->packet_bytes, (uint8_t)(front->packet_bytes >> 8),
			endpoint->interval};

		works = take_off(out, wanted, sizeof(wanted)) && works;
	}
	return works;
}

/* Returns true if the host will see the descriptors of the front. */
static bool descriptors_work(struct qemu_usb *self)
{
	const struct front_usb *front = self->front;
	const uint8_t bytes =
		(uint8_t)(9 + front->interface_count * (9 + 7 * endpoint_count(front)));
	const uint8_t head[] = {
		9, 2, bytes, 0, front->interface_count, 1, 0, BUS_POWERED, CURRENT_2MA};
	uint8_t out[ROOM_BYTES] = {0};
	const uint8_t *left = out;
	bool work = device_descriptor_works(self) &&
		    self->usb_desc_config(&self->configuration, 0, out, sizeof(out)) == bytes &&
		    take_off(&left, head, sizeof(head));

	for (uint8_t i = 0; i < front->interface_count; i++)
		work = work && interface_works(self, i, &left);
	return work;
}

static struct descriptor_endpoint describe_endpoint(const struct front_usb *front, uint8_t address)
{
	return (struct descriptor_endpoint){
		.address = address,
		.attributes = ATTRIBUTE_BULK,
		.bytes_max = front->packet_bytes,
	};
}

static void describe_interface(struct qemu_usb *self, uint8_t number)
{
	const struct front_usb *front = self->front;
	const uint8_t number_offset = (uint8_t)(2 * number);
	struct descriptor_endpoint *endpoints = self->endpoints[number];
	struct descriptor_interface *interface = &self->interfaces[number];

	endpoints[0] =
		describe_endpoint(front, DIRECTION_IN | (front->endpoint_in + number_offset));
	endpoints[1] = describe_endpoint(front, front->endpoint_out + number_offset);
	endpoints[2] = describe_endpoint(front, DIRECTION_IN | front->endpoint_interrupt);
	endpoints[2].attributes = ATTRIBUTE_INTERRUPT;
	endpoints[2].interval = 1;
	*interface = (struct descriptor_interface){
		.number = number, .endpoint_count = endpoint_count(front), .endpoints = endpoints};
	memcpy(interface->class, front->interface_class, sizeof(interface->class));
}

static void describe(struct qemu_usb *self)
{
	const struct front_usb *front = self->front;

	for (uint8_t i = 0; i < front->interface_count; i++)
		describe_interface(self, i);
	self->configuration = (struct descriptor_configuration){
		.interface_count = front->interface_count,
		.value = 1,
		.attributes = BUS_POWERED,
		.current_max = CURRENT_2MA,
		.own_interface_count = front->interface_count,
		.interfaces = self->interfaces,
	};
	self->whole = (struct descriptor_device){
		.usb_version = usb_version(front),
		.control_bytes_max = control_packet_bytes(front),
		.configuration_count = 1,
		.configurations = &self->configuration,
	};
	self->names[0] = self->names[1] = "";
	self->names[2] = front->name;
	self->descriptor = (struct descriptor){
		.id = {front->vendor, front->product, front->revision, 0, 2, 0},
		.full = front->is_high_speed ? NULL : &self->whole,
		.high = front->is_high_speed ? &self->whole : NULL,
		.names = self->names,
	};
}

/* Returns the name of the first structure that QEMU lays out differently, or NULL. */
static const char *other_layout(struct qemu_usb *self)
{
	if (!find_slots(self))
		return "class of USB devices as known";
	if (!packets_work(self))
		return "USB packets as known";
	return descriptors_work(self) ? NULL : "USB descriptors as known";
}

struct qemu_usb *qemu_usb_register(const struct qemu *qemu, const char *type,
	const struct front_usb *front, struct bus *(*bus_of)(void *owner), void *owner,
	const char **missing)
{
	struct qemu_usb *self = calloc(1, sizeof(*self));
	void *state = calloc(1, front->state_bytes);
	bool is_found;

	*missing = "memory";
	is_found = self && state &&
		   qemu_find_symbols(symbols, sizeof(symbols) / sizeof(symbols[0]), self, missing);
	if (is_found) {
		self->qemu = qemu;
		self->front = front;
		self->state = state;
		self->bus_of = bus_of;
		self->owner = owner;
		describe(self);
		*missing = other_layout(self);
	}
	if (!is_found || *missing) {
		free(state);
		free(self);
		return NULL;
	}
	usb = self;
	self->type = (struct type){.name = type, .parent = "usb-device", .class_init = init_class};
	self->type_register_static(&self->type);
	return self;
}
