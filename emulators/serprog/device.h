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

/*
 * The operation buffer of a serprog programmer: writes and delays that wait for O_EXEC, kept as
 * they came, so that each takes the room that the protocol gives it.
 */
#define OPERATIONS_BYTES 0x1000
#define OPERATIONS_WRITEN_HEAD_BYTES 7
#define OPERATIONS_WRITE_LEN_MAX (OPERATIONS_BYTES - OPERATIONS_WRITEN_HEAD_BYTES)

struct operations {
	uint8_t bytes[OPERATIONS_BYTES];
	size_t size_bytes; /* the number of usable ones */
	size_t len;
	const struct device_quirks *quirks; /* the quirks of the delays in it */
};

void operations_clear(struct operations *operations);

/* Returns the duration of a delay of @us that this device runs. */
uint64_t operations_delay_ns(const struct device_quirks *quirks, uint32_t us);

/* -ENOSPC: there is no room, and the buffer stays as it is. */
int operations_append(struct operations *operations, const struct serprog_request *request);

/*
 * Work on a bus of cycles (cycles.c): what is in the operation buffer, and reads. It goes on in the
 * chip's own time, cycle by cycle as long as each takes on the bus: the chip is never early or late
 * by what the scheduler did to this program.
 *
 * Runs the buffer from @start_ns on. Appends a record for each command, that is for the cycles of
 * its sequence and for the bytes of one O_WRITEN; a cycle that breaks a rule has its own. When it
 * is over, that time has passed. -ECANCELED: somebody ended it in a wait, and what is left was not
 * run.
 */
int cycles_execute(struct chip *chip, const struct operations *operations, struct clock *clock,
	uint64_t start_ns, struct events *events);

/*
 * Reads request->read_len bytes into @out, from @start_ns on. Fills @event. When it is over:
 * whoever calls must let that time pass before it replies.
 */
uint64_t cycles_read(struct chip *chip, const struct serprog_request *request, uint64_t start_ns,
	uint8_t *out, struct event *event);

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
