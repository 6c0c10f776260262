/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a card among the PCI devices, and maps its registers. */
#include <errno.h>
#include <sys/mman.h>

#include "nicintel.h"
#include "pci.h"

#define CONTROL_BYTES 4096
#define CONTROL_REGION 0
#define FLASH_REGION 2

/* 82551IT, and 82557 to 82559. */
static const uint16_t controllers[] = {0x1209, 0x1229, 0};

int nicintel_find(const char *devices, struct nicintel_card *card)
{
	const struct pci_wanted wanted = {
		.ids = controllers,
		.region_mask = 1U << CONTROL_REGION | 1U << FLASH_REGION,
	};
	uint64_t begins[PCI_REGIONS];
	const int error = pci_find(devices, &wanted, begins);

	if (error == 0) {
		card->control = begins[CONTROL_REGION];
		card->flash = begins[FLASH_REGION];
	}
	return error;
}

static void unmap(const struct nicintel_registers *registers)
{
	munmap((void *)registers->control, CONTROL_BYTES);
	munmap((void *)registers->flash, NICINTEL_WINDOW_BYTES);
}

static int map_card(const struct nicintel_card *card, const struct log *log,
	struct nicintel_registers *registers)
{
	volatile void *control;
	volatile void *flash;
	int error = pci_map(card->control, CONTROL_BYTES, "nicintel", log, &control);

	if (error != 0)
		return error;
	error = pci_map(card->flash, NICINTEL_WINDOW_BYTES, "nicintel", log, &flash);
	if (error == 0)
		*registers = (struct nicintel_registers){control, flash, unmap};
	else
		munmap((void *)control, CONTROL_BYTES);
	return error;
}

static int nicintel_open(
	char *params, const struct clock *clock, const struct log *log, struct programmer **out)
{
	struct nicintel_registers registers;
	struct nicintel_card card;
	int error;

	(void)clock;
	if (*params != '\0') {
		log_error(log, "nicintel: takes no parameters.\n");
		return -EINVAL;
	}
	error = nicintel_find(PCI_DEVICES, &card);
	if (error != 0) {
		log_error(log,
			"nicintel: found no network card with a controller of Intel's 8255x.\n");
		return error;
	}
	error = map_card(&card, log, &registers);
	return error == 0 ? nicintel_attach(&registers, out) : error;
}

const struct programmer_driver nicintel_driver = {
	.name = "nicintel",
	.usage = "nicintel",
	.open = nicintel_open,
};
