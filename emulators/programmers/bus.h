/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chip behind the registers of a programmer, and the record of all that reached it. Whoever has
 * the registers says when; here is decided what the chip saw, and what becomes one record.
 *
 * A cycle of a memory bus takes no time of its own: it reaches the chip in the moment of the
 * instruction that makes it, and the program goes on in the same moment. So a wait between two
 * cycles is as long for the chip as it was for the program, and never a nanosecond shorter.
 */
#ifndef EMULATORS_PROGRAMMERS_BUS_H
#define EMULATORS_PROGRAMMERS_BUS_H

#include "model/start_state.h"
#include "record/events.h"

#define BUS_REGISTERS_BYTES 1024

struct bus_options {
	const struct part *part;
	struct corner corner;
	uint64_t seed;
	uint64_t records_max; /* past that many the chip is silent */
	/* As the part is found by its first command or cycle; it must fit. */
	enum start_state start_state;
};

struct bus {
	struct chip chip;
	struct events events;
	struct event open;     /* a record that may go on; kept if it has cycles */
	uint32_t next_address; /* the state of a read that would go on */
	uint64_t records_max;
	enum start_state start_state; /* not begun yet, if it is not START_READY */
	uint64_t last_ns;
	uint64_t backward_count; /* the number of backward steps of the clock: a sound run has none
				  */
	bool gave_up;
	bool selected; /* chip select is low */
	/* The front's own state, zero at first: it begins anew with each chip. */
	_Alignas(uint64_t) uint8_t registers[BUS_REGISTERS_BYTES];
};

/*
 * @memory is for the chip, as for chip_init(). -ENOMEM.
 */
int bus_init(struct bus *bus, const struct bus_options *options, void *memory);
void bus_deinit(struct bus *bus);

/* A cycle of a byte on the bus of a part that is not on SPI. */
uint8_t bus_read_cycle(struct bus *bus, uint64_t now_ns, uint32_t address);
void bus_write_cycle(struct bus *bus, uint64_t now_ns, uint32_t address, uint8_t value);

/*
 * One time that chip select of an SPI part is low, between the transfer's two moments: neither is
 * before those of the last one, and they may lie ahead.
 */
void bus_transfer(struct bus *bus, const struct chip_transfer *transfer);

/*
 * Chip select and bytes, on the bus of a part that is on SPI: of any other it stays silent. A
 * record is one time that chip select was low: read_ns when it fell, reply_ns when it rose.
 */
void bus_select(struct bus *bus, uint64_t now_ns);
uint8_t bus_exchange(struct bus *bus, uint64_t now_ns, uint8_t value);
void bus_deselect(struct bus *bus, uint64_t now_ns);

/* As chip_preview() and chip_cut_short(). */
uint8_t bus_preview(struct bus *bus, uint64_t now_ns);
void bus_cut_short(struct bus *bus);

/* Ends the record that is open: before events are looked at. */
void bus_flush(struct bus *bus);

/* Returns true if every moment and every record can be trusted. */
bool bus_is_clean(const struct bus *bus);

#endif
