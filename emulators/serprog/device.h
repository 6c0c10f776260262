/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A serprog programmer with one chip on its bus: a parsed request in, reply bytes and a record out.
 * It uses nothing of the system but the clock.
 */
#ifndef EMULATORS_SERPROG_DEVICE_H
#define EMULATORS_SERPROG_DEVICE_H

#include "clock.h"
#include "codec.h"
#include "link/link_model.h"
#include "record/events.h"

/*
 * The operation buffer of a serprog programmer: writes and delays that wait for O_EXEC. They are
 * stored as they were received, so that each takes as many bytes as the protocol says.
 */
#define OPERATIONS_BYTES 0x1000
#define OPERATIONS_WRITEN_HEAD_BYTES 7
#define OPERATIONS_WRITE_LEN_MAX (OPERATIONS_BYTES - OPERATIONS_WRITEN_HEAD_BYTES)

struct operations {
	uint8_t bytes[OPERATIONS_BYTES];
	size_t size_bytes; /* the usable part of @bytes */
	size_t len;
	const struct device_quirks *quirks; /* how delays are rounded */
};

/* Returns how long this device takes for a delay of @us. */
uint64_t operations_delay_ns(const struct device_quirks *quirks, uint32_t us);

/* Adds a request. Returns -ENOSPC if it does not fit; the buffer stays as it is then. */
int operations_append(struct operations *operations, const struct serprog_request *request);

/*
 * Runs the operation buffer from @start_ns on (cycles.c). The times of cycles and delays are added
 * up, not read from a clock, so the scheduler cannot make the chip see a cycle too early or late.
 *
 * Appends a record for each command: for the cycles of its sequence, or for the bytes of one
 * O_WRITEN. A cycle that breaks a rule has a separate record. Returns 0 once all that time has
 * passed, or -ECANCELED if a wait was cancelled; operations after that wait are not run.
 */
int cycles_execute(struct chip *chip, const struct operations *operations, struct clock *clock,
	uint64_t start_ns, struct events *events);

/*
 * Reads request->read_len bytes into @out, from @start_ns on, and fills @event. Returns the end of
 * the read in ns: the caller must let that time pass before it replies.
 */
uint64_t cycles_read(struct chip *chip, const struct serprog_request *request, uint64_t start_ns,
	uint8_t *out, struct event *event);

/*
 * The value of device_answer() if a signal or the client's hang-up ended a wait: no answer is sent.
 */
#define DEVICE_ABANDONED SIZE_MAX

struct device_options {
	bool native_delay;      /* offer O_DELAY, and wait in O_EXEC */
	bool spi_wire_time;     /* transfers take time once a client has set a frequency */
	struct link_model link; /* for its limits and quirks; server.c applies its times */
};

struct device {
	struct chip *chip;
	struct clock *clock;
	struct events *executed;
	struct device_options options;
	struct serprog_limits limits;
	uint64_t cs_rises_ns; /* the end of the last transfer: the next one begins no earlier */
	/* The settings of a client; forgotten when the next one connects. */
	uint32_t spi_clock_hz; /* 0: never set */
	struct operations operations;
	size_t unanswered; /* the number of accepted operations whose ACKs O_EXEC will send */
};

/* Returns the part's bus, as Q_BUSTYPE answers it. */
uint8_t device_bus(const struct part *part);

/* Returns true if the firmware acknowledges that request before its arguments arrive. */
bool device_acks_first(const struct device *device, uint8_t op);

/* Returns the limits of one request for a device with that part. */
struct serprog_limits device_limits(const struct part *part, const struct link_model *link);

/* Returns the most bytes that device_answer() writes within these limits. */
size_t device_reply_bytes_max(const struct serprog_limits *limits);

/*
 * Prepares the device. It appends records of executed operations to @executed, without their times
 * on the connection.
 */
void device_init(struct device *device, struct chip *chip, struct clock *clock,
	struct events *executed, const struct device_options *options);

/* Forgets the settings of the last client. The chip stays as it is. */
void device_reconnect(struct device *device);

/*
 * Answers a request from @start_ns on. Returns how many bytes of @reply to send, 0 if the firmware
 * stays silent, or DEVICE_ABANDONED. Fills @event except its times on the connection: empty_ns,
 * read_ns, arrived_ns and reply_ns.
 */
size_t device_answer(struct device *device, const struct serprog_request *request,
	uint64_t start_ns, uint8_t *reply, struct event *event);

#endif
