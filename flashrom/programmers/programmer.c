/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "programmer.h"
#include "programmers.h"
#include "text.h"

static int report_unknown_key(
	const char *key, const char *programmer, const struct param *params, const struct log *log)
{
	struct nearest nearest = {.wanted = key};
	const char *near;

	for (const struct param *param = params; param->key != NULL; param++)
		nearest_offer(&nearest, param->key);
	near = nearest_found(&nearest);
	log_error(log, "%s: unknown parameter \"%s\". ", programmer, key);
	if (near != NULL)
		log_error(log, "Did you mean \"%s\"?\n", near);
	else
		log_error(log, "Known ones begin with \"%s\"; see --help.\n", params[0].key);
	return -EINVAL;
}

static const struct param *find(const struct param *params, const char *key)
{
	while (params->key != NULL && strcmp(params->key, key) != 0)
		params++;
	return params->key == NULL ? NULL : params;
}

static int parse_one(
	char *text, const char *programmer, const struct param *params, const struct log *log)
{
	char *equals = strchr(text, '=');
	const struct param *param;

	if (equals != NULL)
		*equals = '\0';
	param = find(params, text);
	if (param == NULL)
		return report_unknown_key(text, programmer, params, log);
	if (equals == NULL || equals[1] == '\0') {
		log_error(log, "%s: parameter \"%s\" needs a value: %s=VALUE.\n", programmer, text,
			text);
		return -EINVAL;
	}
	if (*param->value != NULL) {
		log_error(log, "%s: parameter \"%s\" is given twice.\n", programmer, text);
		return -EINVAL;
	}
	*param->value = equals + 1;
	return 0;
}

int params_parse(
	char *text, const char *programmer, const struct param *params, const struct log *log)
{
	char *rest = NULL;

	for (char *part = strtok_r(text, ",", &rest); part != NULL;
		part = strtok_r(NULL, ",", &rest)) {
		const int error = parse_one(part, programmer, params, log);

		if (error != 0)
			return error;
	}
	return 0;
}

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
