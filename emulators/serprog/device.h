/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A serprog programmer with one chip on its bus: a parsed request in, reply bytes and a record out.
 * Of the system it uses the clock alone.
 */
#ifndef EMULATORS_SERPROG_DEVICE_H
#define EMULATORS_SERPROG_DEVICE_H

#include "clock.h"
#include "codec.h"
#include "link/link_model.h"
#include "record/events.h"
#include "cycles.h"

/*
 * The value of device_answer() if a signal or the client's hang-up came first: no answer is sent.
 */
#define DEVICE_ABANDONED SIZE_MAX

struct device_options {
	bool native_delay;      /* offer O_DELAY and wait in O_EXEC */
	bool spi_wire_time;     /* once a client set a frequency, transfers take their time */
	struct link_model link; /* only its limits count */
};

struct device {
	struct chip *chip;
	struct clock *clock;
	struct events *executed;
	struct device_options options;
	struct serprog_limits limits;
	uint64_t cs_rises_ns; /* the end of the last transfer: the next one does not begin before */
	/* The settings of a client; forgotten when it disconnects. */
	uint32_t spi_clock_hz; /* 0: never set */
	struct operations operations;
	size_t unanswered; /* operations in it, where O_EXEC answers for them */
};

/* The bus of that part, as Q_BUSTYPE tells it. */
uint8_t device_bus(const struct part *part);

/* Returns true if the firmware acknowledges that request before its arguments are here. */
bool device_acks_first(const struct device *device, uint8_t op);

/* The limits of one request for a device with that part. */
struct serprog_limits device_limits(const struct part *part, const struct link_model *link);

/* The most bytes that device_answer() writes within these limits. */
size_t device_reply_bytes_max(const struct serprog_limits *limits);

/* Records of what the operation buffer did go to @executed, still without their moments. */
void device_init(struct device *device, struct chip *chip, struct clock *clock,
	struct events *executed, const struct device_options *options);

/* A new client found the device: the chip stays as it is. */
void device_reconnect(struct device *device);

/*
 * Begins at @start_ns. How many bytes of @reply to send, 0 where it stays silent, or
 * DEVICE_ABANDONED. Fills @event but for its moments on the connection: empty_ns, read_ns and
 * reply_ns.
 */
size_t device_answer(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event);

#endif
