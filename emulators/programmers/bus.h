/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A chip behind the registers of a programmer, and the record of all that reached it. The front
 * that has the registers passes the time; the bus decides what the chip sees, and what becomes one
 * record.
 *
 * A cycle of a memory bus takes no time: it reaches the chip at the time of the instruction that
 * makes it, and the program continues at the same time. So a wait between two cycles is exactly as
 * long for the chip as for the program.
 */
#ifndef EMULATORS_PROGRAMMERS_BUS_H
#define EMULATORS_PROGRAMMERS_BUS_H

#include "model/family.h"
#include "model/start_state.h"
#include "record/events.h"

#define BUS_REGISTERS_BYTES 1024

struct bus_options {
	const struct part *part;
	struct corner corner;
	uint64_t seed;
	uint64_t records_max; /* the number of records after which the chip does not answer */
	/* The state of the part at its first command or cycle; it must fit the part. */
	enum start_state start_state;
};

struct bus {
	struct chip chip;
	struct events events;
	struct event open;     /* a record that may still grow; appended if it has cycles */
	uint32_t next_address; /* the address at which a read continues @open */
	uint64_t records_max;
	enum start_state start_state; /* the state at the next access; START_READY: as it is */
	uint64_t last_ns;
	uint64_t backward_count; /* the number of steps back; 0 in a valid run */
	bool gave_up;
	bool selected; /* chip select is low */
	/* The front's own state; all zeros for each new chip. */
	_Alignas(uint64_t) uint8_t registers[BUS_REGISTERS_BYTES];
};

/* Defines TYPE_of(), which returns the front's own state on the bus as a `struct TYPE`. */
#define BUS_REGISTERS(type_)                                                                       \
	_Static_assert(sizeof(struct type_) <= BUS_REGISTERS_BYTES, "no room for the registers");  \
	static inline struct type_ *type_##_of(struct bus *bus)                                    \
	{                                                                                          \
		return (struct type_ *)(void *)bus->registers;                                     \
	}

/* Passes @memory to chip_init(). Returns -ENOMEM if there is no memory for events. */
int bus_init(struct bus *bus, const struct bus_options *options, void *memory);
void bus_deinit(struct bus *bus);

/* A bus cycle of one byte, for a part that is not on SPI. */
uint8_t bus_read_cycle(struct bus *bus, uint64_t now_ns, uint32_t address);
void bus_write_cycle(struct bus *bus, uint64_t now_ns, uint32_t address, uint8_t value);

/*
 * Sends a transfer to an SPI part: chip select is low between its two times. Neither may be before
 * the end of the last transfer; both may lie in the future.
 */
void bus_transfer(struct bus *bus, const struct chip_transfer *transfer);

/*
 * Chip select and bytes on an SPI bus; a part that is not on SPI does not answer. One record covers
 * the time for which chip select was low: it fell at read_ns and rose at reply_ns.
 */
void bus_select(struct bus *bus, uint64_t now_ns);
uint8_t bus_exchange(struct bus *bus, uint64_t now_ns, uint8_t value);
void bus_deselect(struct bus *bus, uint64_t now_ns);

/* These call chip_preview() and chip_cut_short() while chip select is low. */
uint8_t bus_preview(struct bus *bus, uint64_t now_ns);
void bus_cut_short(struct bus *bus);

/* Ends the open record. Must be called before events are read. */
void bus_flush(struct bus *bus);

/* Returns true if the time never stepped back and no record was lost. */
bool bus_is_clean(const struct bus *bus);

#endif
