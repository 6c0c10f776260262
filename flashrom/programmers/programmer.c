/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dummy.h"
#include "linux_spi.h"
#include "nicintel.h"
#include "nicintel_spi.h"
#include "programmer.h"
#include "serprog.h"
#include "text.h"

const struct programmer_driver *const programmer_drivers[] = {
	&dummy_driver,
	&linux_spi_driver,
	&nicintel_driver,
	&nicintel_spi_driver,
	&serprog_driver,
	NULL,
};

static bool names(const char *spec, const char *name)
{
	const size_t length = strlen(name);

	return strncmp(spec, name, length) == 0 && (spec[length] == ':' || spec[length] == '\0');
}

static const struct programmer_driver *find_driver(const char *spec)
{
	for (size_t i = 0; programmer_drivers[i] != NULL; i++) {
		if (names(spec, programmer_drivers[i]->name))
			return programmer_drivers[i];
	}
	return NULL;
}

static int report_unknown(const char *spec, const struct log *log)
{
	log_error(log, "Unknown programmer \"%.*s\" (-p). Known ones:", (int)strcspn(spec, ":"),
		spec);
	for (size_t i = 0; programmer_drivers[i] != NULL; i++)
		log_error(log, " %s", programmer_drivers[i]->name);
	log_error(log, "\n");
	return -EINVAL;
}

int programmer_open(
	const char *spec, const struct clock *clock, const struct log *log, struct programmer **out)
{
	const struct programmer_driver *driver = find_driver(spec);
	const char *colon = strchr(spec, ':');
	char *params;
	int error;

	if (driver == NULL)
		return report_unknown(spec, log);
	params = strdup(colon == NULL ? "" : colon + 1);
	error = params == NULL ? -ENOMEM : driver->open(params, clock, log, out);
	free(params);
	if (error == -ENOMEM)
		log_error(log, "Out of memory for programmer %s.\n", driver->name);
	return error;
}

void programmer_destroy(struct programmer *programmer)
{
	if (programmer != NULL)
		programmer->ops->destroy(programmer);
}
