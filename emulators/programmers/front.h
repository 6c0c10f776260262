/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A front: the registers of one real programmer, through which programs reach the chip. It turns
 * each access of a program into cycles and transfers on the bus, and uses nothing else. The caller
 * lays the registers over a machine and passes the time.
 *
 * The guest is not trusted: a front must accept any offset inside a window, any value and any order
 * of accesses.
 */
#ifndef EMULATORS_PROGRAMMERS_FRONT_H
#define EMULATORS_PROGRAMMERS_FRONT_H

#include "bus.h"

/* One access to @size_bytes bytes at @offset of a window, all of them inside the window. */
struct front_access {
	uint64_t now_ns;
	uint64_t offset;
	unsigned int size_bytes;
	uint64_t index;   /* the value of the index register, if the window has one */
	uint64_t beneath; /* the value of the register beneath, for a read of a passed window */
};

/* Returns the bytes of a register that the access reads. */
static inline uint64_t front_part_of(const struct front_access *access, uint64_t reg)
{
	return reg >> 8 * access->offset & ((UINT64_C(1) << 8 * access->size_bytes) - 1);
}

/* Consecutive registers, laid over a memory region of the machine. */
struct front_window {
	const char *region; /* QEMU's name of it */
	uint64_t offset;
	uint64_t size_bytes;
	unsigned int access_bytes_max; /* QEMU splits longer ones, lowest address first */
	/* Writes also reach the machine's own registers, and reads get the value of those. */
	bool is_passed;
	/*
	 * For registers that are reached by index and data: the region of the index, of four bytes.
	 * NULL: none.
	 */
	const char *index_region;
	/*
	 * Returns true if the window is visible. Called after each write, and when the machine
	 * starts or resumes. NULL: always.
	 */
	bool (*is_shown)(struct bus *bus);
	/* @bus is NULL if there is no chip. */
	uint64_t (*read)(struct bus *bus, const struct front_access *access);
	/* Not called if there is no chip. NULL: writes have no effect. */
	void (*write)(struct bus *bus, const struct front_access *access, uint64_t value);
};

/* Writes the registers of a window; @bus may be NULL. */
static inline void front_write(const struct front_window *window, struct bus *bus,
	const struct front_access *access, uint64_t value)
{
	if (bus && window->write)
		window->write(bus, access, value);
}

/* A control transfer that the USB standard does not define. */
struct front_request {
	uint8_t type;    /* bmRequestType */
	uint8_t number;  /* bRequest */
	uint16_t value;  /* wValue */
	uint8_t channel; /* the low byte of wIndex */
	size_t len;      /* wLength: the room for the answer */
};

/* A USB device with a bulk endpoint in each direction. */
struct front_usb {
	uint16_t vendor;
	uint16_t product;
	uint16_t revision; /* binary coded decimal */
	const char *name;
	uint8_t interface_class[3]; /* class, subclass, protocol */
	/* A second interface never answers. Its endpoint numbers follow those of the first. */
	uint8_t interface_count;
	uint8_t endpoint_out;
	uint8_t endpoint_in;
	uint8_t endpoint_interrupt; /* never answers; 0: there is none */
	bool is_high_speed;         /* false: full speed */
	uint16_t packet_bytes;
	/* The size of the device's state: all zeros at first; @reset sets it as after power-up. */
	size_t state_bytes;
	void (*reset)(void *state);
	/* Returns the length of the answer, or -EOPNOTSUPP. NULL: the device has no requests. */
	int (*control)(void *state, struct bus *bus, uint64_t now_ns,
		const struct front_request *request, uint8_t *bytes);
	/*
	 * Takes all bytes that the host sent, or none. @bus is NULL if there is no chip. Returns
	 * -EAGAIN if the host must read first, -EMSGSIZE if the bytes can never fit.
	 */
	int (*write)(
		void *state, struct bus *bus, uint64_t now_ns, const uint8_t *bytes, size_t len);
	/* Puts packets for the host into @bytes. Returns their length; 0: there are none yet. */
	size_t (*read)(void *state, struct bus *bus, uint64_t now_ns, uint8_t *bytes, size_t room);
	/* Returns when the host can read the next packet, in ns; UINT64_MAX: there is none. */
	uint64_t (*ready_ns)(const void *state);
};

struct front {
	const char *name;
	unsigned int memory_buses; /* those of its parts: a bit for each PARALLEL_BUS_...; 0: SPI */
	const struct front_window *windows;
	size_t window_count;
	const struct front_usb *usb; /* NULL: it is not a USB device */
};

extern const struct front amd8111_front;
extern const struct front butterfly_front;
extern const struct front ch341a_front;
extern const struct front ft2232_front;
extern const struct front ich9_front;
extern const struct front nicintel_front;
extern const struct front nicintel_spi_front;

/* Returns NULL if no front has that name. */
const struct front *front_find(const char *name);

/* Returns true if the front has the bus of that part. */
bool front_reaches(const struct front *front, const struct part *part);

/* Returns the later of two times. */
static inline uint64_t front_later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/*
 * Returns the time of the next access of a front that is free from @free_ns on: not before @now_ns
 * nor the last access on the bus. A USB reset clears @free_ns, but commands from before the reset
 * may end after @now_ns.
 */
uint64_t front_next_ns(uint64_t free_ns, const struct bus *bus, uint64_t now_ns);

/* Returns the byte with its bits in reverse order. */
uint8_t front_reversed(uint8_t value);

/*
 * A bit-banged SPI bus: a program sets each pin, in mode 0 or 3, highest bit first. The part
 * samples a bit when the clock rises, and drives one when it falls. This struct is part of a
 * front's registers, and all zeros at first.
 */
struct spi_pins {
	bool selected;
	bool clock;
	unsigned int bits; /* the number of bits of the current byte that have passed */
	uint8_t taken;
	uint8_t driven;
};

/* The levels that the program drives; @selected: chip select is low. */
struct spi_levels {
	bool selected;
	bool clock;
	bool data;
};

void spi_pins_set(
	struct spi_pins *pins, struct bus *bus, uint64_t now_ns, const struct spi_levels *levels);

/* Returns the level of the part's pin, which is pulled up: true if the part drives nothing. */
bool spi_pins_reply(const struct spi_pins *pins);

#endif
