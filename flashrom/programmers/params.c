/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "params.h"
#include "text.h"

static int report_unknown(
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
		return report_unknown(text, programmer, params, log);
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
