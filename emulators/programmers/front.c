/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "front.h"

#include <string.h>

static const struct front *const fronts[] = {
	&amd8111_front,
	&butterfly_front,
	&ch341a_front,
	&ft2232_front,
	&ich9_front,
	&nicintel_front,
	&nicintel_spi_front,
};

const struct front *front_find(const char *name)
{
	for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
		if (strcmp(fronts[i]->name, name) == 0)
			return fronts[i];
	}
	return NULL;
}

bool front_reaches(const struct front *front, const struct part *part)
{
	if (!part->parallel)
		return front->memory_buses == 0;
	return front->memory_buses >> part->parallel->bus & 1;
}

uint64_t front_next_ns(uint64_t free_ns, const struct bus *bus, uint64_t now_ns)
{
	return front_later(free_ns, front_later(now_ns, bus ? bus->last_ns : 0));
}

uint8_t front_reversed(uint8_t value)
{
	uint8_t result = 0;

	for (int i = 0; i < 8; i++)
		result |= (uint8_t)((value >> i & 1) << (7 - i));
	return result;
}

#define BYTE_BITS 8

static void select_part(struct spi_pins *pins, struct bus *bus, uint64_t now_ns)
{
	pins->bits = 0;
	pins->driven = BUS_FLOATING;
	bus_select(bus, now_ns);
}

static void deselect_part(const struct spi_pins *pins, struct bus *bus, uint64_t now_ns)
{
	if (pins->bits > 0)
		bus_cut_short(bus);
	bus_deselect(bus, now_ns);
}

/* drive_bit() reads the part's byte by bus_preview(), so the result of bus_exchange() is unused. */
static void take_bit(struct spi_pins *pins, struct bus *bus, uint64_t now_ns, bool bit)
{
	pins->taken = (uint8_t)(pins->taken << 1 | bit);
	if (++pins->bits < BYTE_BITS)
		return;
	bus_exchange(bus, now_ns, pins->taken);
	pins->bits = 0;
}

static void drive_bit(struct spi_pins *pins, struct bus *bus, uint64_t now_ns)
{
	if (pins->bits == 0)
		pins->driven = bus_preview(bus, now_ns);
	else
		pins->driven = (uint8_t)(pins->driven << 1);
}

void spi_pins_set(
	struct spi_pins *pins, struct bus *bus, uint64_t now_ns, const struct spi_levels *levels)
{
	if (levels->selected && !pins->selected)
		select_part(pins, bus, now_ns);
	else if (!levels->selected && pins->selected)
		deselect_part(pins, bus, now_ns);
	else if (levels->selected && levels->clock && !pins->clock)
		take_bit(pins, bus, now_ns, levels->data);
	else if (levels->selected && !levels->clock && pins->clock)
		drive_bit(pins, bus, now_ns);
	pins->selected = levels->selected;
	pins->clock = levels->clock;
}

bool spi_pins_reply(const struct spi_pins *pins)
{
	return !pins->selected || pins->driven >> (BYTE_BITS - 1);
}
