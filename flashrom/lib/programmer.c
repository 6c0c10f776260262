/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

/* Returns "NAME:PARAMETERS", as on the command line. The caller frees it. */
static char *join(const char *name, const char *params)
{
	char *spec;

	return asprintf(&spec, "%s:%s", name, params != NULL ? params : "") < 0 ? NULL : spec;
}

static int open_spec(const char *spec, struct flashrom_programmer **out)
{
	struct flashrom_programmer *programmer = calloc(1, sizeof(*programmer));

	if (programmer == NULL)
		return 1;
	if (programmer_open(spec, &system_clock, &caller_log, &programmer->base) != 0) {
		free(programmer);
		return 1;
	}
	*out = programmer;
	return 0;
}

int flashrom_programmer_init(
	struct flashrom_programmer **flashprog, const char *prog_name, const char *prog_params)
{
	char *spec = join(prog_name, prog_params);
	const int status = spec == NULL ? 1 : open_spec(spec, flashprog);

	free(spec);
	return status;
}

int flashrom_programmer_shutdown(struct flashrom_programmer *flashprog)
{
	if (flashprog != NULL)
		programmer_destroy(flashprog->base);
	free(flashprog);
	return 0;
}
